"""Registering and withdrawing, in every order, each order in a process of its own."""

import itertools
import sys
from collections.abc import Iterator
from typing import Any

import caches
import expected
import pytest
import torch
import torch.fx._pytree as fx_pytree
import torch.utils._pytree as pytree
import zygote
from caches import DynamicCache

import cachetree

OURS = ["k0", "v0", "k1", "v1"]
THEIRS = ["k0", "k1", "v0", "v1"]
LEAF = ["?"]


@pytest.fixture(autouse=True, scope="module")
def registered() -> Iterator[None]:
    """Not here."""
    yield


def order(leaves: list[Any], cache: Any) -> list[str]:
    names = dict(zip(map(id, caches.tensors(cache)), OURS, strict=True))
    return [names.get(id(leaf), "?") for leaf in leaves]


def orders() -> dict[str, list[str]]:
    """How each registry flattens a DynamicCache now."""
    cache = caches.fill(DynamicCache(), 3)
    leaves, spec = pytree.tree_flatten(cache)
    found = {"python": order(leaves, cache)}
    try:
        found["fx"] = order(fx_pytree.tree_flatten_spec(cache, spec), cache)
    except IndexError:
        found["fx"] = ["IndexError"]
    if "torch.utils._cxx_pytree" in sys.modules:
        from torch.utils import _cxx_pytree

        found["optree"] = order(_cxx_pytree.tree_leaves(cache), cache)
    return found


def register_keys_first() -> None:
    """Another library, with the same care as most: it does nothing if the class is registered."""
    if DynamicCache in pytree.SUPPORTED_NODES:
        return
    pytree.register_pytree_node(
        DynamicCache,
        lambda cache: (caches.tensors(cache)[::2] + caches.tensors(cache)[1::2], len(cache)),
        lambda leaves, count: caches.dynamic() if len(list(leaves)) == 2 * count else None,
        serialized_type_name="elsewhere.DynamicCache",
    )


def import_cxx() -> None:
    import torch.utils._cxx_pytree  # noqa: F401


ACTIONS = {
    "register": cachetree.register,
    "unregister": cachetree.unregister,
    "elsewhere": register_keys_first,
    "optree": import_cxx,
}


def after(actions: tuple[str, ...]) -> tuple[list[str], dict[str, list[str]]]:
    """What is expected after `actions` by a model of two lines, and what is found."""
    owner = replaced = THEIRS if DynamicCache in pytree.SUPPORTED_NODES else LEAF
    for action in actions:
        ACTIONS[action]()
        if action == "register" and owner is not OURS:
            owner, replaced = OURS, owner
        elif action == "unregister" and owner is OURS:
            owner = replaced
        elif action == "elsewhere" and owner is LEAF:
            owner = THEIRS
    return owner, orders()


@pytest.mark.parametrize(
    "actions",
    [
        *itertools.permutations(ACTIONS),
        ("register", "register", "elsewhere", "register"),
        ("register", "elsewhere", "unregister", "elsewhere"),
        ("optree", "register", "unregister", "register", "unregister"),
        ("elsewhere", "register", "optree", "unregister", "unregister"),
    ],
    ids="-".join,
)
def test_every_order_of_registering(actions: tuple[str, ...]) -> None:
    want, found = zygote.run(after, actions)
    in_fx = ["IndexError"] if want == THEIRS and expected.NATIVE_FX_FAILS else want
    assert found == dict.fromkeys(found, want) | {"fx": in_fx}


def with_the_helper_of_transformers() -> list[list[str]]:
    """transformers' own function, which nobody calls at import (4.56.0 and later)."""
    try:
        from transformers.integrations.executorch import register_dynamic_cache_export_support as helper
    except ImportError:
        return []
    seen = []
    for function in (cachetree.register, helper, cachetree.unregister, helper, cachetree.register, helper):
        function()
        seen.append(orders()["fx"])
    cachetree.unregister()
    return [*seen, orders()["python"]]


def test_the_helper_of_transformers_before_and_after() -> None:
    has_it = expected.Span("4.56.0").holds()
    assert zygote.run(with_the_helper_of_transformers) == (
        [OURS, OURS, LEAF, THEIRS, OURS, OURS, THEIRS] if has_it else []
    )


def registries() -> dict[str, Any]:
    """The registries' entries of every class, as they are."""
    return {
        "nodes": dict(pytree.SUPPORTED_NODES),
        "serialized": dict(pytree.SUPPORTED_SERIALIZED_TYPES),
        "names": dict(pytree.SERIALIZED_TYPE_TO_PYTHON_TYPE),
        "fx": dict(fx_pytree.SUPPORTED_NODES),
        "fx match": dict(fx_pytree.SUPPORTED_NODES_EXACT_MATCH),
        "queue": list(pytree._cxx_pytree_pending_imports),
        "optree": optree_entries(),
    }


def optree_entries() -> dict[Any, Any]:
    optree = sys.modules.get("optree")
    if optree is None:
        return {}
    found = optree.register_pytree_node.get(namespace="torch")
    return {cls: (entry.flatten_func, entry.unflatten_func) for cls, entry in found.items()}


def differences_after_register_and_unregister(first: tuple[str, ...]) -> list[str]:
    for action in first:
        ACTIONS[action]()
    before = registries()
    cachetree.register()
    during = registries()
    cachetree.unregister()
    between = registries()
    with cachetree.registered():
        pass
    assert during["nodes"] != before["nodes"]
    return [name for name, entry in registries().items() if not entry == before[name] == between[name]]


@pytest.mark.parametrize(
    "first", [(), ("elsewhere",), ("optree",), ("elsewhere", "optree"), ("optree", "elsewhere")]
)
def test_unregister_puts_back_exactly_what_was_there(first: tuple[str, ...]) -> None:
    assert zygote.run(differences_after_register_and_unregister, first) == []


def keep_native() -> dict[str, list[str]]:
    register_keys_first()
    cachetree.register(replace_native=False)
    kept = orders()["python"]
    cachetree.register()
    return {"kept": kept, "replaced": orders()["python"]}


def test_replace_native_is_a_choice() -> None:
    assert zygote.run(keep_native) == {"kept": THEIRS, "replaced": OURS}


def nested_scopes() -> list[list[str]]:
    seen = []
    with cachetree.registered():
        seen.append(orders()["python"])
        with cachetree.registered():
            seen.append(orders()["python"])
        seen.append(orders()["python"])
    seen.append(orders()["python"])
    cachetree.register()
    try:
        with cachetree.registered():
            raise KeyError
    except KeyError:
        seen.append(orders()["python"])
    return seen


def test_scopes_nest_and_leave_an_outer_registration_alone() -> None:
    outside = THEIRS if expected.NATIVE else LEAF
    assert zygote.run(nested_scopes) == [OURS, OURS, OURS, outside, OURS]


def stale_fx_spec() -> tuple[list[str], list[str]]:
    cachetree.register()
    fx_pytree.register_pytree_flatten_spec(DynamicCache, lambda cache, spec: caches.tensors(cache)[:1])
    before = orders()["fx"]
    cachetree.register()
    return before, orders()["fx"]


def test_a_stale_flatten_spec_is_replaced() -> None:
    assert zygote.run(stale_fx_spec) == (["k0"], OURS)


def overwritten_by_another() -> dict[str, list[str]]:
    """In Python's registry alone, as libraries do that do not think of the others."""
    cachetree.register()
    pytree._private_register_pytree_node(
        DynamicCache, lambda cache: (caches.tensors(cache)[::-1], None), lambda leaves, _: caches.dynamic()
    )
    cachetree.unregister()
    import_cxx()
    return orders()


def test_what_another_library_registered_over_us_is_left_to_it() -> None:
    assert zygote.run(overwritten_by_another) == {"python": OURS[::-1], "fx": OURS[::-1], "optree": LEAF}


def half_way() -> tuple[bool, bool]:
    """The registry refuses the second class (torch refuses opaque objects, for instance)."""
    real, seen = pytree.register_pytree_node, []

    def refuse_second(cls: type, *args: Any, **kwargs: Any) -> None:
        seen.append(cls)
        if len(seen) == 2:
            raise ValueError("refused")
        real(cls, *args, **kwargs)

    before = registries()
    pytree.register_pytree_node = refuse_second
    try:
        cachetree.register()
    except ValueError:
        return registries() == before, len(seen) == 2
    return False, False


def test_a_failure_leaves_nothing_half_registered() -> None:
    assert zygote.run(half_way) == (True, True)


def statuses() -> list[tuple[Any, ...]]:
    seen = [cachetree.status(DynamicCache)]
    cachetree.register()
    seen.append(cachetree.status(DynamicCache))
    cachetree.unregister()
    import_cxx()
    cachetree.register()
    seen += [cachetree.status(DynamicCache), cachetree.status(int), cachetree.status(dict)]
    return [tuple(status) for status in seen]


def test_status_says_who_registered_what() -> None:
    native = "transformers.cache_utils" if expected.NATIVE else None
    assert zygote.run(statuses) == [
        (native, native, native, None),
        ("cachetree", "cachetree", "cachetree", native),
        ("cachetree", "cachetree", "cachetree", native),
        (None, None, None, None),
        ("torch.utils._pytree", "torch.fx._pytree", None, None),
    ]


def named_registrations() -> list[list[str]]:
    seen = []
    for function in (
        cachetree.register_dynamic_cache,
        cachetree.register_static_cache,
        cachetree.register_encoder_decoder_cache,
    ):
        try:
            function()
        except NotImplementedError as error:
            seen.append([str(error).rpartition(" ")[2]])
        else:
            seen.append(
                sorted(
                    c.__name__ for c in pytree.SUPPORTED_NODES if cachetree.status(c).pytree == "cachetree"
                )
            )
        cachetree.unregister()
    return seen


def test_the_functions_people_search_for_register_one_class_each() -> None:
    static = ["StaticCache"]
    both = ["DynamicCache", "EncoderDecoderCache", "StaticCache"]
    if not expected.any_holds(expected.PRESENT["encoder_decoder"]):
        both = ["EncoderDecoderCache"] if expected.any_holds(expected.PRESENT["static"]) else ["StaticCache"]
    assert zygote.run(named_registrations) == [["DynamicCache"], static, both]


def modules_and_classes() -> list[str]:
    """Attributes of transformers and torch that registering changes."""
    from transformers import cache_utils

    watched = {
        cache_utils.__name__: cache_utils,
        pytree.__name__: pytree,
        fx_pytree.__name__: fx_pytree,
        "torch": torch,
        **{name: cls for name, cls in vars(cache_utils).items() if isinstance(cls, type)},
    }
    before = {name: dict(vars(thing)) for name, thing in watched.items()}
    cachetree.register()
    return [
        f"{name}.{attribute}"
        for name, thing in watched.items()
        for attribute, value in vars(thing).items()
        if before[name].get(attribute, thing) is not value
    ]


def test_nothing_is_monkey_patched() -> None:
    assert zygote.run(modules_and_classes) == []


def registered_classes() -> dict[str, list[str]]:
    cachetree.register()
    from transformers import cache_utils

    caches_here = {
        name
        for name, cls in vars(cache_utils).items()
        if isinstance(cls, type) and cls.__name__ == name and name.endswith("Cache")
    }
    ours = {cls.__name__ for cls in pytree.SUPPORTED_NODES if cachetree.status(cls).pytree == "cachetree"}
    return {"missing": sorted(caches_here - ours), "mamba": sorted(ours & {"MambaCache"})}


def test_every_cache_class_is_registered_mamba_in_either_home() -> None:
    has_mamba = expected.any_holds(expected.PRESENT["mamba"])
    assert zygote.run(registered_classes) == {"missing": [], "mamba": ["MambaCache"] if has_mamba else []}


zygote.start()
