"""When two caches share a spec, and what a context refuses."""

import json
from collections.abc import Callable
from typing import Any

import caches
import expected
import pytest
import torch
import torch.utils._pytree as pytree
from caches import KINDS, DynamicCache, drip, fill

import cachetree

Build = Callable[[], Any]


def windowed(tokens: int) -> Build:
    return lambda: drip(caches.dynamic_unfilled_layers(), tokens)


def static(length: int, batch: int = 1) -> Build:
    return lambda: caches.filled_static("StaticCache", caches.config(), length, batch)


def narrower() -> Any:
    made_for = caches.windowed_config()
    made_for.sliding_window = caches.WINDOW - 1
    return drip(DynamicCache(config=made_for), 7)


def refreshed(*layers: bool) -> Build:
    def build() -> Any:
        cache = KINDS["encoder_decoder"]()
        cache.is_updated = dict(enumerate(layers))
        return cache

    return build


SAME: dict[str, tuple[str, Build, Build]] = {
    "another length": ("dynamic", lambda: fill(DynamicCache(), 2), lambda: fill(DynamicCache(), 9)),
    "another batch": ("dynamic", KINDS["dynamic"], KINDS["dynamic_batch"]),
    "another dtype": (
        "dynamic",
        KINDS["dynamic"],
        lambda: pytree.tree_map(torch.Tensor.double, caches.dynamic()),
    ),
    "more tokens seen": ("sliding", windowed(7), windowed(12)),
    "a full and an overrun window": ("sliding", windowed(3), windowed(7)),
    "with and without a configuration": (
        "sliding",
        lambda: fill(DynamicCache(), 3),
        lambda: fill(DynamicCache(config=caches.config()), 3),
    ),
    "a static buffer filled further": ("static", static(3), static(8)),
    "a static buffer of another batch": ("static", static(3), static(3, batch=3)),
    "another draft": ("draft", lambda: fill(caches.named("DFlashCache")(), 3), KINDS["draft"]),
}

DIFFERENT: dict[str, tuple[str, Build, Build]] = {
    "more layers": ("dynamic", KINDS["dynamic"], lambda: fill(DynamicCache(), 3, layers=3)),
    "a skipped layer": ("dynamic_with_skipped_layer", KINDS["dynamic"], KINDS["dynamic_with_skipped_layer"]),
    "another class": ("dynamic", KINDS["dynamic"], KINDS["dynamic_subclass"]),
    "another kind of layer": ("sliding", lambda: drip(DynamicCache(), 7), windowed(7)),
    "another window": ("sliding", windowed(7), narrower),
    "filled and not": ("sliding", windowed(7), KINDS["dynamic_unfilled_layers"]),
    "cross-attention to refresh": ("encoder_decoder", refreshed(True, True), refreshed(True, False)),
}


def applicable(cases: dict[str, tuple[str, Build, Build]]) -> Any:
    present = [(one, other) for kind, one, other in cases.values() if kind in expected.present()]
    names = [name for name, (kind, *_) in cases.items() if kind in expected.present()]
    return pytest.mark.parametrize(("one", "other"), present, ids=names)


@applicable(SAME)
def test_caches_that_share_a_program_share_a_spec(one: Build, other: Build) -> None:
    specs = pytree.tree_structure(one()), pytree.tree_structure(other())
    assert specs[0] == specs[1]
    assert hash(specs[0]) == hash(specs[1])
    assert pytree.treespec_loads(pytree.treespec_dumps(specs[0])) == specs[1]


@applicable(DIFFERENT)
def test_caches_that_need_another_program_do_not(one: Build, other: Build) -> None:
    assert pytree.tree_structure(one()) != pytree.tree_structure(other())


def test_a_context_is_plain_json() -> None:
    for kind in expected.present():
        context = pytree.tree_structure(KINDS[kind]()).context
        assert json.loads(json.dumps(context)) == dict(context)


def test_a_spec_of_another_registration_is_refused() -> None:
    """Loaded from a file, or kept from before `register()`."""
    dumped = pytree.treespec_dumps(pytree.tree_structure(caches.dynamic()))
    version, schema = json.loads(dumped)
    schema["context"] = json.dumps(["key_cache", "value_cache"])
    with pytest.raises(ValueError, match=r"not written by cachetree .*key_cache"):
        pytree.treespec_loads(json.dumps([version, schema]))
    kept = pytree.TreeSpec(DynamicCache, ["key_cache", "value_cache"], [pytree.treespec_leaf()] * 2)
    with pytest.raises(ValueError, match="made by another registration"):
        pytree.tree_unflatten([1, 2], kept)


def test_a_spec_names_classes_and_runs_no_code_to_find_them() -> None:
    spec = pytree.tree_structure(caches.dynamic_subclass())
    dumped = pytree.treespec_dumps(spec)
    if expected.LAYERED:
        unknown = dumped.replace("transformers.cache_utils.DynamicLayer", "antigravity.Layer")
        with pytest.raises(LookupError, match=r"antigravity.Layer is not known .* Import the module"):
            pytree.tree_unflatten([0] * spec.num_leaves, pytree.treespec_loads(unknown))
    assert cachetree.status(caches.Mine).pytree == "cachetree"


def test_what_cannot_be_carried_is_refused_by_name() -> None:
    cache = caches.dynamic()
    cache.lock = object()
    with pytest.raises(
        TypeError, match=r"DynamicCache: its attribute .lock holds a builtins.object.* leave_out=\('lock',\)"
    ):
        pytree.tree_flatten(cache)


def test_attributes_of_ones_own_are_carried() -> None:
    cache = caches.dynamic_subclass()
    cache.score, cache.names, cache.by_layer = (
        0.5,
        ["a", ("b", None)],
        {1: {"x": float("inf")}, 0: torch.float16},
    )
    cache.mask = caches.numbers(1, 3)
    leaves, spec = pytree.tree_flatten(cache)
    rebuilt = pytree.tree_unflatten(leaves, pytree.treespec_loads(pytree.treespec_dumps(spec)))
    assert leaves[-1] is cache.mask
    assert (rebuilt.score, rebuilt.names, rebuilt.by_layer) == (cache.score, cache.names, cache.by_layer)
    assert rebuilt.names is not cache.names


def test_a_cache_may_pose_as_a_module() -> None:
    """As Zamba's does, which is none but has a module's dictionaries."""
    if not expected.MODULE:
        cache = caches.dynamic()
        cache._buffers, cache._modules = {}, {"x": 1}
        rebuilt = pytree.tree_map(torch.clone, cache)
        assert (rebuilt._buffers, rebuilt._modules) == ({}, {"x": 1})


def test_a_subclass_keeps_its_methods() -> None:
    rebuilt = pytree.tree_map(torch.clone, caches.dynamic_subclass())
    assert rebuilt.twice() == 4


def test_a_later_subclass_stays_a_leaf_until_it_is_registered() -> None:
    cls = type("Later", (DynamicCache,), {})
    cache = fill(cls(), 3)
    cache.engine = object()
    assert pytree.tree_leaves(cache) == [cache]
    assert cachetree.register_class(cls, leave_out=("engine",)) is cls
    assert len(pytree.tree_leaves(cache)) == 4
    rebuilt = pytree.tree_map(torch.clone, cache)
    assert type(rebuilt) is cls
    assert not hasattr(rebuilt, "engine")
    with pytest.raises(TypeError, match="register_class needs a class"):
        cachetree.register_class(cache)


def test_a_kept_layer_is_restored_with_its_own_class() -> None:
    if not expected.LAYERED:
        assert not hasattr(caches.cache_utils, "DynamicLayer")
        return
    cls = type("Loud", (caches.cache_utils.DynamicLayer,), {"volume": lambda layer: layer.keys.sum()})
    cache = caches.dynamic()
    cache.layers[0].__class__ = cls
    cache.layers[0].gain = 3
    rebuilt = pytree.tree_map(torch.clone, cache)
    assert (type(rebuilt.layers[0]), rebuilt.layers[0].gain) == (cls, 3)
    assert rebuilt.layers[0].volume() == cache.layers[0].keys.sum()
