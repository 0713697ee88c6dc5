"""A Llama with its cache as input under DistributedDataParallel and under torch.compile."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
import torch.distributed as distributed
import torch.utils._pytree as pytree
from same import assert_same
from subjects import Decoder


@pytest.fixture
def one_process(tmp_path: Path) -> Iterator[None]:
    distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    yield
    distributed.destroy_process_group()


@torch.enable_grad()
def _gradients(step: torch.nn.Module, llama: Decoder) -> list[torch.Tensor]:
    llama.model.zero_grad()
    logits, cache = step(*llama.prefill(5))
    loss = logits.sum() + sum((leaf * leaf).sum() for leaf in pytree.tree_leaves(cache))
    loss.backward()
    return [parameter.grad.clone() for parameter in llama.model.parameters() if parameter.grad is not None]


def test_distributed_data_parallel(one_process: None) -> None:
    llama = Decoder("llama")
    wanted = _gradients(llama.step, llama)
    parallel = torch.nn.parallel.DistributedDataParallel(llama.step)
    assert_same(parallel(*llama.decode(5)), llama.step(*llama.decode(5)))
    assert_same(_gradients(parallel, llama), wanted)


def test_compile() -> None:
    llama = Decoder("llama", num_hidden_layers=1)
    compiled = torch.compile(llama.step, backend="eager", fullgraph=True)
    for seen in (5, 6):
        assert_same(compiled(*llama.decode(seen)), llama.step(*llama.decode(seen)))
