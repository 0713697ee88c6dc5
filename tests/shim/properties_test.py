"""Properties that hold for every cache, tried on random ones."""

from typing import Any

import caches
import expected
import torch
import torch.utils._pytree as pytree
from caches import HEADS, WIDTH, DynamicCache
from hypothesis import given, settings
from hypothesis import strategies as st

DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.float16]

quick = settings(max_examples=30, deadline=None, derandomize=True, database=None)


@st.composite
def dynamic_caches(draw: st.DrawFn) -> Any:
    """DynamicCaches of any number of layers, lengths, batch and dtype, some layers empty."""
    batch, dtype = draw(st.integers(1, 3)), draw(st.sampled_from(DTYPES))
    lengths = draw(st.lists(st.integers(0, 4), max_size=4))
    if any(expected.any_holds(expected.PRESENT[kind]) for kind in ("sliding",)):
        cache = DynamicCache(config=mixed(draw(st.lists(st.booleans(), min_size=4, max_size=4))))
    else:
        cache = DynamicCache()
    for layer, length in enumerate(lengths):
        if length or not expected.LAYERED:
            tokens = torch.rand(batch, HEADS, max(length, 1), WIDTH).to(dtype)
            cache.update(tokens, tokens + 1, layer)
    return cache


def mixed(slides: list[bool]) -> Any:
    made = caches.config(["sliding_attention" if slide else "full_attention" for slide in slides])
    made.num_hidden_layers = len(slides)
    return made


@st.composite
def any_cache(draw: st.DrawFn) -> Any:
    if draw(st.booleans()):
        return draw(dynamic_caches())
    return caches.KINDS[draw(st.sampled_from(expected.present()))]()


@quick
@given(any_cache())
def test_flatten_unflatten_flatten_is_flatten(cache: Any) -> None:
    leaves, spec = pytree.tree_flatten(cache)
    again, same = pytree.tree_flatten(pytree.tree_unflatten(leaves, spec))
    assert same == spec
    assert all(a is b for a, b in zip(again, leaves, strict=True))


@quick
@given(any_cache())
def test_mapping_identity_changes_nothing(cache: Any) -> None:
    before = caches.picture(cache)
    assert caches.picture(pytree.tree_map(lambda leaf: leaf, cache)) == before
    assert caches.picture(cache) == before


@quick
@given(any_cache())
def test_specs_survive_json(cache: Any) -> None:
    leaves, spec = pytree.tree_flatten(cache)
    loaded = pytree.treespec_loads(pytree.treespec_dumps(spec))
    assert loaded == spec
    assert caches.picture(pytree.tree_unflatten(leaves, loaded)) == caches.picture(cache)


@quick
@given(dynamic_caches(), st.integers(1, 3), st.sampled_from(DTYPES))
def test_length_batch_and_dtype_are_no_part_of_the_spec(cache: Any, times: int, dtype: torch.dtype) -> None:
    other = pytree.tree_map(lambda leaf: leaf.repeat(times, 1, 1, 1).to(dtype), cache)
    longer = pytree.tree_map(lambda leaf: torch.cat([leaf, leaf], dim=-2), cache)
    assert pytree.tree_structure(other) == pytree.tree_structure(cache) == pytree.tree_structure(longer)


@quick
@given(any_cache(), st.one_of(st.none(), st.integers(), st.text(), st.floats(), st.just(torch.float32)))
def test_any_leaf_can_be_put_in_and_taken_out(cache: Any, filler: Any) -> None:
    leaves, spec = pytree.tree_flatten(cache)
    again, same = pytree.tree_flatten(pytree.tree_unflatten([filler] * len(leaves), spec))
    assert same == spec
    assert all(leaf is filler for leaf in again)


@quick
@given(st.data())
def test_mixed_fillers_keep_their_places(data: st.DataObject) -> None:
    leaves, spec = pytree.tree_flatten(data.draw(any_cache()))
    mixed_in = [data.draw(st.sampled_from([leaf, None, 0, "x"])) for leaf in leaves]
    again, same = pytree.tree_flatten(pytree.tree_unflatten(mixed_in, spec))
    assert same == spec
    assert all(a is b for a, b in zip(again, mixed_in, strict=True))
