"""What is done with an exported Llama: decompositions, unflatten, ONNX."""

from __future__ import annotations

import onnx
import pytest
import torch
from onnx.reference import ReferenceEvaluator
from outcomes import outcome
from same import assert_same
from subjects import Decoder
from masks import without_vmap

@pytest.fixture(scope="module")
def llama() -> Decoder:
    llama = Decoder("llama", num_hidden_layers=1)
    without_vmap(llama.model)
    return llama


@pytest.fixture(scope="module")
def program(llama: Decoder) -> torch.export.ExportedProgram:
    inputs = llama.decode(5)
    return torch.export.export(
        llama.step, inputs, dynamic_shapes=llama.decode_shapes(inputs), strict=False
    )


def test_run_decompositions(llama: Decoder, program: torch.export.ExportedProgram) -> None:
    run = program.run_decompositions().module()
    assert_same(run(*llama.decode(7)), llama.step(*llama.decode(7)))


def test_unflatten(llama: Decoder, program: torch.export.ExportedProgram) -> None:
    run = torch.export.unflatten(program)
    assert_same(run(*llama.decode(7)), llama.step(*llama.decode(7)))


def test_onnx(llama: Decoder, program: torch.export.ExportedProgram) -> None:
    with outcome("llama-onnx", "export"):
        exported = torch.onnx.export(program, dynamo=True, verbose=False)
        print([i.name for i in exported.model_proto.graph.input],[i.name for i in exported.model_proto.graph.output])
        onnx.checker.check_model(exported.model_proto)
        run = ReferenceEvaluator(exported.model_proto)
        import torch.utils._pytree as pytree
        leaves=pytree.tree_leaves(llama.decode(7))
        got = run.run(None, {i.name: l.numpy() for i,l in zip(exported.model_proto.graph.input, leaves)})
        for a,b in zip(got, pytree.tree_leaves(llama.step(*llama.decode(7))), strict=True):
            torch.testing.assert_close(torch.from_numpy(a), b, atol=1e-5, rtol=1e-4)
