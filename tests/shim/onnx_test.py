"""torch.onnx's dynamo exporter, with onnx's own reference implementation to run what it gives."""

from typing import Any

import expected
import numpy as np
import pytest
import torch
import torch.utils._pytree as pytree
from caches import KINDS, DynamicCache, fill, token
from modules import Step
from torch.export import Dim

import cachetree


@pytest.mark.parametrize("kind", [kind for kind in ("dynamic", "static") if kind in expected.present()])
def test_a_step_becomes_an_onnx_model(kind: str) -> None:
    from onnx.reference import ReferenceEvaluator

    cache = KINDS[kind]()
    x, position = token(3), torch.tensor([3])
    shapes = ({}, {}, cachetree.dynamic_shapes(cache, length=Dim.DYNAMIC))
    program = torch.onnx.export(
        Step(), (x, position, cache), dynamo=True, dynamic_shapes=shapes, verbose=False
    )
    assert program is not None
    names = [value.name for value in program.model_proto.graph.input]
    assert [name.removeprefix("cache_") for name in names if name.startswith("cache")] == expected.LEAVES[
        kind
    ]
    if kind == "static":
        return  # runs as well, but its inputs differ by release
    other = fill(DynamicCache(), 6, seed=30)
    arrays = {
        "x": x,
        "position": position,
        **dict(zip(names[2:] if "position" in names else names[1:], leaves_of(other), strict=True)),
    }
    feeds = {name: arrays[name].numpy() for name in names}
    got: Any = ReferenceEvaluator(program.model_proto).run(None, feeds)
    want = Step()(x, position, other)
    np.testing.assert_allclose(got[0], want[0].numpy(), rtol=1e-5)
    for array, leaf in zip(got[1:], leaves_of(want[1]), strict=True):
        np.testing.assert_array_equal(array, leaf.numpy())


def leaves_of(cache: DynamicCache) -> list[torch.Tensor]:
    return pytree.tree_leaves(cache)
