"""pairs, dynamic_cache, static_cache and dynamic_shapes: the same on every release."""

from typing import Any

import caches
import expected
import pytest
import torch
import torch.utils._pytree as pytree
from caches import HEADS, KINDS, ROOM, WIDTH, DynamicCache, fill
from torch.export import Dim

import cachetree


@pytest.mark.parametrize("kind", expected.present())
def test_pairs_are_the_keys_and_values_of_all_layers(kind: str) -> None:
    cache = KINDS[kind]()
    found = cachetree.pairs(cache)
    assert [id(t) for pair in found for t in pair if t is not None] == [id(t) for t in caches.tensors(cache)]
    assert all((keys is None) == (values is None) for keys, values in found)


def test_pairs_keep_the_place_of_a_layer_that_holds_none() -> None:
    if "dynamic_with_skipped_layer" in expected.present():
        found = cachetree.pairs(KINDS["dynamic_with_skipped_layer"]())
        assert found[0] == (None, None)
        assert found[1][0] is not None


def test_a_dynamic_cache_is_made_from_pairs() -> None:
    given = cachetree.pairs(fill(DynamicCache(), 3))
    cache = cachetree.dynamic_cache(given)
    assert caches.picture(cache) == caches.picture(fill(DynamicCache(), 3))
    assert pytree.tree_structure(cachetree.dynamic_cache(given, caches.config())) == pytree.tree_structure(
        cache
    )
    assert len(cachetree.dynamic_cache([])) == 0


def test_a_dynamic_cache_takes_the_kinds_of_its_layers_from_the_configuration() -> None:
    given = [(caches.token(1, length=7), caches.token(2, length=7))] * 2
    made_for = caches.config(["sliding_attention", "full_attention"])
    kept = [t.shape[2] for t in caches.tensors(cachetree.dynamic_cache(given, made_for))]
    slides = "sliding" in expected.present()
    assert kept == ([3, 3, 7, 7] if slides else [7, 7, 7, 7])


def test_a_skipped_layer_keeps_its_place() -> None:
    pair = (caches.token(1, length=3), caches.token(2, length=3))
    cache = cachetree.dynamic_cache([(None, None), pair])
    assert cachetree.pairs(cache)[0] == (None, None)
    assert [t.tolist() for t in pytree.tree_leaves(cache)] == [t.tolist() for t in pair]
    assert caches.picture(pytree.tree_map(lambda t: t, cache)) == caches.picture(cache)


@pytest.mark.parametrize("dtype", [None, torch.bfloat16])
def test_a_static_cache_is_allocated_and_empty(dtype: torch.dtype | None) -> None:
    if "static" not in expected.present():
        with pytest.raises(NotImplementedError, match=r"transformers 4\.3[67]\.\d has no StaticCache"):
            cachetree.static_cache(caches.config(), 3, ROOM)
        return
    cache = cachetree.static_cache(caches.config(), 3, ROOM, dtype, "cpu")
    shapes = [(3, HEADS, ROOM, WIDTH)] * len(caches.tensors(cache))
    assert [tuple(t.shape) for t in caches.tensors(cache)] == shapes
    assert len(shapes) == (2 if expected.ONE_STATIC_LAYER else 4)
    assert {t.dtype for t in caches.tensors(cache)} == {dtype or torch.float32}
    assert int(cache.get_seq_length()) == 0
    if dtype is None:
        caches.feed(cache, 0, 2, batch=3)
        assert int(cache.get_seq_length()) == 2


def test_a_static_cache_of_sliding_layers_has_their_buffers() -> None:
    if "static_sliding" in expected.present():
        cache = cachetree.static_cache(caches.windowed_config(), 1, ROOM)
        assert [t.shape[2] for t in caches.tensors(cache)] == [4, 4, 8, 8]


GROWING = {0: "b", 2: "n"}
FIXED = {0: "b"}
STATE = {0: "b"}

SHAPES: dict[str, list[Any]] = {
    "dynamic": [GROWING] * 4,
    "dynamic_empty": [],
    "sliding": [FIXED, FIXED, GROWING, GROWING],
    "sliding_not_full": [GROWING] * 4,
    "static": [FIXED] * 2 if expected.ONE_STATIC_LAYER else [FIXED] * 4 + [{}] * (2 * expected.COUNTED),
    "hybrid": [FIXED] * 4,
    "encoder_decoder": [[GROWING] * 4, [{0: "b", 2: "m"}] * 4],
    "linear_attention": [STATE, STATE, GROWING, GROWING],
    "indexed": [GROWING, GROWING, {0: "b", 1: "n"}, GROWING, GROWING],
}


@pytest.mark.parametrize("kind", [kind for kind in SHAPES if kind in expected.present()])
def test_the_tree_of_dimensions_has_the_form_of_the_cache(kind: str) -> None:
    cache = KINDS[kind]()
    assert cachetree.dynamic_shapes(cache, batch="b", length="n", cross_length="m") == SHAPES[kind]
    nothing = cachetree.dynamic_shapes(cache)
    assert pytree.tree_leaves(nothing) == []
    assert len(pytree.tree_leaves(nothing, is_leaf=lambda x: isinstance(x, dict))) == len(
        pytree.tree_leaves(cache)
    )


def test_one_length_serves_both_caches_of_an_encoder_decoder_cache() -> None:
    if "encoder_decoder" in expected.present():
        shapes = cachetree.dynamic_shapes(KINDS["encoder_decoder"](), length=Dim.AUTO)
        assert shapes == [[{2: Dim.AUTO}] * 4] * 2
