"""What is done with an exported Llama: decompositions, unflatten, ONNX."""

from __future__ import annotations

from typing import Any

import onnx
import pytest
import torch
import torch.utils._pytree as pytree
from masks import without_vmap
from onnx.reference import ReferenceEvaluator
from outcomes import outcome
from same import assert_same
from subjects import Decoder

OWN_MASKS = "llama-unflatten-own-masks"


@pytest.fixture(scope="module")
def llama() -> Decoder:
    llama = Decoder("llama", num_hidden_layers=1)
    without_vmap(llama.model)
    return llama


@pytest.fixture(scope="module")
def program(llama: Decoder) -> torch.export.ExportedProgram:
    return exported(llama)


def exported(llama: Decoder) -> torch.export.ExportedProgram:
    inputs = llama.decode(5)
    shapes = llama.decode_shapes(inputs)
    return torch.export.export(llama.step, inputs, dynamic_shapes=shapes, strict=False)


def check(run: Any, llama: Decoder) -> None:
    assert_same(run(*llama.decode(7)), llama.step(*llama.decode(7)))


def test_run_decompositions(llama: Decoder, program: torch.export.ExportedProgram) -> None:
    check(program.run_decompositions().module(), llama)


def test_unflatten(llama: Decoder, program: torch.export.ExportedProgram) -> None:
    check(torch.export.unflatten(program), llama)


def test_unflatten_with_the_models_own_masks() -> None:
    llama = Decoder("llama", num_hidden_layers=1)
    with outcome(OWN_MASKS, "export"):
        check(torch.export.unflatten(exported(llama)), llama)


def test_onnx(llama: Decoder, program: torch.export.ExportedProgram) -> None:
    converted = torch.onnx.export(program, dynamo=True, verbose=False)
    assert converted is not None
    model = converted.model_proto
    onnx.checker.check_model(model)
    names = [value.name for value in model.graph.input]
    assert names == ["tokens", "position", "cache_keys_0", "cache_values_0"]
    leaves = pytree.tree_leaves(llama.decode(7))
    numbers = ReferenceEvaluator(model).run(None, {n: x.numpy() for n, x in zip(names, leaves, strict=True)})
    wanted = pytree.tree_leaves(llama.step(*llama.decode(7)))
    assert_same([torch.from_numpy(number) for number in numbers], wanted)
