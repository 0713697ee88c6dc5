"""Which kinds of cache this release has, and that each is flattened, named and rebuilt faithfully."""

import json
from collections.abc import Callable
from typing import Any

import caches
import expected
import pytest
import torch
import torch.utils._pytree as pytree
from caches import KINDS

import cachetree

PRESENT = expected.present()
each_kind = pytest.mark.parametrize("kind", PRESENT)


def paths(cache: Any) -> list[str]:
    return [pytree.keystr(path).removeprefix(".") for path, _ in pytree.tree_flatten_with_path(cache)[0]]


def test_the_release_has_the_kinds_it_should_have() -> None:
    assert set(expected.PRESENT) == set(KINDS)
    assert set(PRESENT) == {kind for kind, build in KINDS.items() if can_be_built(build)}


def can_be_built(build: Callable[[], Any]) -> bool:
    try:
        build()
    except caches.Absent:
        return False
    return True


@each_kind
def test_leaves_are_named_by_layer_in_canonical_order(kind: str) -> None:
    assert paths(KINDS[kind]()) == expected.LEAVES[kind]


@each_kind
def test_leaves_are_the_very_tensors_of_the_cache(kind: str) -> None:
    cache = KINDS[kind]()
    leaves = pytree.tree_leaves(cache)
    assert all(isinstance(leaf, torch.Tensor) for leaf in leaves)
    kept = [id(tensor) for tensor in caches.tensors(cache)]
    assert [id(leaf) for leaf in leaves if id(leaf) in kept] == kept
    assert len({id(leaf) for leaf in leaves}) == len(leaves)


@each_kind
def test_a_key_finds_its_leaf(kind: str) -> None:
    cache = KINDS[kind]()
    for path, leaf in pytree.tree_flatten_with_path(cache)[0]:
        assert pytree.key_get(cache, path) is leaf


@each_kind
def test_a_rebuilt_cache_holds_exactly_what_the_original_holds(kind: str) -> None:
    cache = KINDS[kind]()
    leaves, spec = pytree.tree_flatten(cache)
    rebuilt = pytree.tree_unflatten(leaves, spec)
    assert type(rebuilt) is type(cache)
    assert caches.picture(rebuilt) == caches.picture(cache)
    assert all(a is b for a, b in zip(pytree.tree_leaves(rebuilt), leaves, strict=True))


@each_kind
def test_a_rebuilt_cache_shares_nothing_but_the_leaves(kind: str) -> None:
    cache = KINDS[kind]()
    before = caches.picture(cache)
    parts, leaves = mutable_parts(cache), {id(leaf) for leaf in pytree.tree_leaves(cache)}
    shared = parts.keys() & mutable_parts(pytree.tree_map(lambda leaf: leaf, cache)).keys()
    assert shared == leaves
    for leaf in pytree.tree_leaves(pytree.tree_map(torch.clone, cache)):
        leaf.zero_()
    assert caches.picture(cache) == before


def mutable_parts(value: Any) -> dict[int, Any]:
    """Lists, dicts, tensors and objects inside a cache, by identity."""
    if isinstance(value, type) or not (isinstance(value, (list, tuple, dict)) or hasattr(value, "__dict__")):
        return {}
    found = {} if isinstance(value, (tuple, torch.device, torch.dtype)) else {id(value): value}
    if isinstance(value, torch.Tensor):
        return found
    for inner in value if isinstance(value, (list, tuple)) else vars_of(value).values():
        found |= mutable_parts(inner)
    return found


def vars_of(value: Any) -> dict[Any, Any]:
    return value if isinstance(value, dict) else vars(value)


@each_kind
def test_the_spec_survives_json(kind: str) -> None:
    cache = KINDS[kind]()
    leaves, spec = pytree.tree_flatten(cache)
    loaded = pytree.treespec_loads(pytree.treespec_dumps(spec))
    assert loaded == spec
    assert caches.picture(pytree.tree_unflatten(leaves, loaded)) == caches.picture(cache)
    assert json.loads(json.dumps(spec.context)) == dict(spec.context)


@each_kind
def test_two_caches_of_a_kind_share_a_spec(kind: str) -> None:
    one, other = pytree.tree_structure(KINDS[kind]()), pytree.tree_structure(KINDS[kind]())
    assert one == other
    assert hash(one) == hash(other)


FILLERS = [None, 0, "name", 1.5, torch.float32, dict, (), [], {2: "length"}, object()]


@each_kind
def test_what_is_a_leaf_depends_on_the_slot_not_on_what_it_holds(kind: str) -> None:
    children, spec = pytree.tree_flatten(KINDS[kind]())
    for filler in FILLERS:
        filled = pytree.tree_unflatten([filler] * len(children), spec)
        assert one_level(filled) == [filler] * len(children)
        assert pytree.tree_structure(filled, is_leaf=lambda x, filler=filler: x is filler) == spec


def one_level(cache: Any) -> list[Any]:
    """The leaves, without opening containers that were put where tensors belong."""
    return [
        leaf
        for child in pytree.SUPPORTED_NODES[type(cache)].flatten_fn(cache)[0]
        for leaf in (one_level(child) if isinstance(child, caches.cache_utils.Cache) else [child])
    ]


@each_kind
def test_a_map_of_a_map_is_the_cache_again(kind: str) -> None:
    """Slots are emptied and filled again."""
    cache = KINDS[kind]()
    leaves = iter(pytree.tree_leaves(cache))
    emptied = pytree.tree_map(lambda _: None, cache)
    again = pytree.tree_map(lambda _: next(leaves), emptied)
    assert caches.picture(again) == caches.picture(cache)


def test_a_quantized_store_is_refused_by_name() -> None:
    try:
        cache = caches.quantized()
    except caches.Absent:
        assert caches.VERSION < (4, 42, 0)
        return
    cachetree.register_class(type(cache))  # made just now
    with pytest.raises(TypeError, match=r"cannot flatten a \w+Here: .* packed quantized store"):
        pytree.tree_flatten(cache)
