"""torch.export with caches as inputs and outputs, on modules without a model."""

import copy
import io
from pathlib import Path
from typing import Any

import caches
import expected
import pytest
import torch
import torch.utils._pytree as pytree
import zygote
from caches import KINDS, DynamicCache, fill, token
from modules import Prefill, Step, step_for
from torch.export import Dim
from transformers.modeling_outputs import BaseModelOutputWithPast

import cachetree

EXPORTABLE = [kind for kind in expected.present() if kind not in expected.NEEDS_ACCELERATOR]


def inputs(kind: str) -> tuple[torch.Tensor, torch.Tensor, Any]:
    """The next token, its place, and a cache of three tokens."""
    return token(3, batch=3 if kind.endswith("batch") else 1), torch.tensor([3]), KINDS[kind]()


def eager(module: torch.nn.Module, *args: Any) -> Any:
    return module(*copy.deepcopy(args))


def assert_same(got: tuple[torch.Tensor, Any], want: tuple[torch.Tensor, Any]) -> None:
    assert torch.allclose(got[0], want[0])
    assert caches.picture(got[1]) == caches.picture(want[1])


def saved_and_loaded(program: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    return torch.export.load(file)


@pytest.mark.parametrize("kind", EXPORTABLE)
def test_a_step_is_exported_saved_and_loaded(kind: str) -> None:
    step = step_for(kind)
    traced = inputs(kind)
    before = caches.picture(traced[2])
    program = torch.export.export(step, traced, strict=False)
    assert caches.picture(traced[2]) == before, "tracing wrote into the user's cache"
    for runnable in (program.module(), saved_and_loaded(program).module()):
        theirs, ours = inputs(kind), inputs(kind)
        assert_same(runnable(*ours), step(*theirs))
        if kind in IN_PLACE:
            written = [leaf.tolist() for leaf in pytree.tree_leaves(ours[2])]
            assert written == [leaf.tolist() for leaf in pytree.tree_leaves(theirs[2])]
        elif kind.startswith("dynamic"):
            assert caches.picture(ours[2]) == before


IN_PLACE = {"static", "static_batch", "sliding_window_cache", "hybrid", "mamba", "linear_attention"}
"""Caches all of whose tensors are buffers: the program writes into the caller's. Lists and ints it cannot."""


@pytest.mark.parametrize("kind", [kind for kind in expected.STRICT if kind in EXPORTABLE])
def test_a_step_is_exported_strictly(kind: str) -> None:
    """Dynamo traces flattening and rebuilding themselves (Samsung/TICO#211)."""
    program = torch.export.export(step_for(kind), inputs(kind), strict=True)
    assert_same(program.module()(*inputs(kind)), step_for(kind)(*inputs(kind)))


def test_graph_inputs_are_named_after_the_layers() -> None:
    program = torch.export.export(Step(), inputs("dynamic"), strict=False)
    assert list(program.graph_signature.user_inputs) == [
        *["x", "position", "cache_keys_0", "cache_values_0", "cache_keys_1", "cache_values_1"]
    ]
    assert len(program.graph_signature.user_outputs) == 5


@pytest.mark.parametrize("strict", [False, True])
def test_length_and_batch_are_dynamic(strict: bool) -> None:
    """The tree of dimensions is made of lists alone (pytorch/pytorch#155862, #142161)."""
    cache = fill(DynamicCache(), 3, batch=2)
    shapes = ({0: Dim.AUTO}, {}, cachetree.dynamic_shapes(cache, batch=Dim.AUTO, length=Dim.AUTO))
    args = (token(3, batch=2), torch.tensor([3]), cache)
    program = torch.export.export(Step(), args, dynamic_shapes=shapes, strict=strict).module()
    for batch, length in ((2, 2), (2, 11), (3, 4), (5, 11)):
        args = (token(3, batch), torch.tensor([length]), fill(DynamicCache(), length, batch=batch))
        want = eager(Step(), *args)
        if batch != 2 and not strict and expected.BATCH_IS_BAKED_IN:
            with pytest.raises(AssertionError, match=r"Guard failed: cache.keys_0.size\(\)\[0\] == 2"):
                program(*args)
            continue
        got = program(*args)
        assert_same(got, want)
        assert got[1].get_seq_length() == length + 1


def test_both_lengths_of_an_encoder_decoder_cache_are_dynamic() -> None:
    if "encoder_decoder" not in EXPORTABLE:
        assert caches.VERSION < (4, 43, 0)
        return
    cls = type(KINDS["encoder_decoder"]())
    args = inputs("encoder_decoder")
    own, other = Dim("own", min=2, max=64), Dim("other", min=2, max=64)
    shapes = ({}, {}, cachetree.dynamic_shapes(args[2], length=own, cross_length=other))
    program = torch.export.export(Step(), args, dynamic_shapes=shapes, strict=False)
    loaded = saved_and_loaded(program).module()
    for lengths in ((2, 9), (6, 3)):
        args = (args[0], args[1], cls(*(fill(DynamicCache(), length) for length in lengths)))
        got = loaded(*args)
        assert_same(got, eager(Step(), *args))
        assert got[1].is_updated == {0: True, 1: True}


def test_the_batch_of_a_static_cache_is_dynamic() -> None:
    if "static_batch" not in EXPORTABLE:
        assert caches.VERSION < (4, 38, 0)
        return
    args = inputs("static_batch")
    shapes = ({0: Dim.AUTO}, {}, cachetree.dynamic_shapes(args[2], batch=Dim.AUTO, length=Dim.AUTO))
    program = torch.export.export(Step(), args, dynamic_shapes=shapes, strict=False).module()
    args = (token(3, batch=2), args[1], caches.filled_static("StaticCache", caches.config(), 3, batch=2))
    want = eager(Step(), *args)
    assert_same(program(*args), want)


@pytest.mark.parametrize("kind", [kind for kind in ("dynamic", "sliding", "static") if kind in EXPORTABLE])
def test_a_program_decodes_step_by_step(kind: str) -> None:
    """What comes out goes in again; the number of tokens seen is no part of the spec."""
    x, position, cache = inputs(kind)
    reference = KINDS[kind]()
    shapes = ({}, {}, cachetree.dynamic_shapes(cache, length=Dim.AUTO))
    program = torch.export.export(Step(), (x, position, cache), dynamic_shapes=shapes, strict=False).module()
    for step in range(3):
        x, position = token(20 + step), torch.tensor([3 + step])
        got, cache = program(x, position, cache)
        want, reference = Step()(x, position, reference)
        assert torch.allclose(got, want)
        assert [t.tolist() for t in caches.tensors(cache)] == [t.tolist() for t in caches.tensors(reference)]


def test_a_program_makes_a_cache() -> None:
    """pytorch/pytorch#148748: the cache is among the outputs only."""
    x = token(3, length=3)
    program = saved_and_loaded(torch.export.export(Prefill(), (x,), strict=False)).module()
    assert_same(program(x), Prefill()(x))


def test_a_program_is_lowered_unflattened_and_traced_again() -> None:
    """Each of them rebuilds caches from leaves that are no tensors of the user's."""
    program = torch.export.export(Step(), inputs("dynamic"), strict=False)
    want = Step()(*inputs("dynamic"))
    lowered = program.run_decompositions()
    for runnable in (
        lowered.module(),
        torch.export.unflatten(program),
        torch.export.export(program.module(), inputs("dynamic"), strict=False).module(),
    ):
        assert_same(runnable(*inputs("dynamic")), want)


def load_elsewhere(path: str) -> list[Any]:
    cachetree.register()
    program = torch.export.load(path)
    got = program.module()(*inputs("dynamic"))
    return [float(got[0]), caches.picture(got[1])]


def test_another_process_loads_the_program(tmp_path: Path) -> None:
    """pytorch/pytorch#140615."""
    torch.export.save(torch.export.export(Step(), inputs("dynamic"), strict=False), tmp_path / "step.pt2")
    want = Step()(*inputs("dynamic"))
    assert zygote.run(load_elsewhere, str(tmp_path / "step.pt2")) == [float(want[0]), caches.picture(want[1])]


def test_a_program_for_other_layers_says_so() -> None:
    """Nothing is baked in silently, also where a cache is a torch.nn.Module (4.44 to 4.49)."""
    program = torch.export.export(Step(), inputs("dynamic"), strict=False).module()
    x, position, _ = inputs("dynamic")
    with pytest.raises(ValueError, match="DynamicCache"):
        program(x, position, fill(DynamicCache(), 3, layers=3))
    other = fill(DynamicCache(), 3, seed=40)
    assert_same(program(x, position, other), eager(Step(), x, position, other))


class WithModelOutput(torch.nn.Module):
    def forward(self, x: torch.Tensor, position: torch.Tensor, cache: Any) -> Any:
        total, cache = Step()(x, position, cache)
        output: Any = BaseModelOutputWithPast
        return output(last_hidden_state=total, past_key_values=cache)


def test_a_model_output_holds_the_cache() -> None:
    """huggingface/transformers#28222. Before 4.38.0 a ModelOutput itself cannot be saved."""
    program = torch.export.export(WithModelOutput(), inputs("dynamic"), strict=False)
    want = Step()(*inputs("dynamic"))
    if expected.MODEL_OUTPUT_CANNOT_BE_SAVED:
        with pytest.raises(NotImplementedError, match="No registered serialization name"):
            saved_and_loaded(program)
    else:
        program = saved_and_loaded(program)
    got = program.module()(*inputs("dynamic"))
    assert type(got).__name__ == "BaseModelOutputWithPast"
    assert_same((got.last_hidden_state, got.past_key_values), want)


zygote.start()
