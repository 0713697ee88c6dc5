"""A rebuilt cache behaves as the original: the same calls give the same results and leave the same state."""

import copy
from collections.abc import Callable
from typing import Any

import caches
import expected
import pytest
import torch
import torch.utils._pytree as pytree
from caches import HEADS, KINDS, LAYERS, WIDTH

Call = Callable[[Any], Any]


def feed_each_layer(cache: Any, length: int) -> Any:
    start = int(cache.get_seq_length())
    return [caches.feed(cache, layer, length, seed=70, start=start) for layer in range(len(cache))]


def feed_mamba(cache: Any) -> Any:
    position = torch.arange(1)
    if hasattr(cache, "update_ssm_state"):
        cache.update_ssm_state(0, caches.numbers(*cache.ssm_states[0].shape, seed=9))
        return cache.update_conv_state(
            1, caches.numbers(*cache.conv_states[0].shape, seed=8)[..., -1:], position
        )
    cache.seqlen_offset += 1
    return cache.conv_states[0].mul_(2)


CALLS: dict[str, Call] = {
    "length": lambda c: [c.get_seq_length(i) for i in range(LAYERS)],
    "len": len,
    "indexing": lambda c: c[0],
    "iteration": list,
    "legacy form": lambda c: c.to_legacy_cache(),
    "tokens seen, 4.36 to 4.40": lambda c: c.seen_tokens,
    "tokens seen, 4.39 to 4.53": lambda c: c._seen_tokens,
    "maximum": lambda c: c.get_max_cache_shape(),
    "maximum since 5.x": lambda c: c.get_max_length(),
    "usable length": lambda c: c.get_usable_length(1),
    "mask sizes, tensor": lambda c: [c.get_mask_sizes(torch.arange(1), i) for i in range(LAYERS)],
    "mask sizes, int": lambda c: [c.get_mask_sizes(1, i) for i in range(LAYERS)],
    "which slide": lambda c: [bool(x) for x in c.is_sliding],
    "previous state": lambda c: c.has_previous_state(0),
    "update": lambda c: feed_each_layer(c, 1),
    "update states": lambda c: caches.feed_states(c, 0, seed=5),
    "update indexer": lambda c: c.update_indexer(caches.numbers(1, 1, 5, seed=7), 0),
    "update mamba": feed_mamba,
    "grow by a layer": lambda c: c.update(caches.token(1), caches.token(2), len(c)),
    "reorder": lambda c: c.reorder_cache(torch.tensor([0])),
    "crop": lambda c: c.crop(-1),
    "update after crop": lambda c: feed_each_layer(c, 2),
    "repeat": lambda c: c.batch_repeat_interleave(2),
    "select": lambda c: c.batch_select_indices(torch.tensor([1, 0])),
    "split": lambda c: c.batch_split(2, 1),
    "convert": lambda c: c.to(torch.float64),
    "reset": lambda c: c.reset(),
    "update after reset": lambda c: feed_each_layer(c, 1),
}


def outcome(cache: Any, call: Call) -> tuple[str, Any]:
    """What a call gives, or the type of what it raises, and the state it leaves."""
    try:
        result = call(cache)
    except Exception as error:
        result = type(error)
    return caches.picture(None if result is cache else result), caches.picture(cache)


@pytest.mark.parametrize("kind", expected.present())
def test_calls_do_the_same_to_the_original_and_to_the_rebuilt(kind: str) -> None:
    original = KINDS[kind]()
    rebuilt = pytree.tree_map(torch.clone, original)
    copied = copy.deepcopy(rebuilt)
    for name, call in CALLS.items():
        want = outcome(original, call)
        assert outcome(rebuilt, call) == want, name
        assert outcome(copied, call) == want, f"{name}, of a deep copy"


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
@pytest.mark.parametrize("kind", expected.present())
def test_dtype_and_device_of_the_layers_follow_the_leaves(kind: str, dtype: torch.dtype) -> None:
    """huggingface/peft#2189. The layers' own attributes are what `update` allocates by."""
    if kind == "sink" or "indexed" in kind or "linear" in kind:
        return  # checked as `keys.dtype` below for the others; these mix dtypes on purpose
    moved = pytree.tree_map(
        lambda t: t.to("meta", dtype) if t.is_floating_point() else t.to("meta"), KINDS[kind]()
    )
    for part in [moved, *getattr(moved, "layers", [])]:
        keys = getattr(part, "keys", None)
        if isinstance(keys, torch.Tensor) and keys.numel():
            assert (keys.dtype, keys.device.type) == (dtype, "meta")
            assert getattr(part, "dtype", dtype) == dtype
            assert torch.device(getattr(part, "device", "meta")).type == "meta"


def test_sizes_of_a_static_cache_follow_the_leaves() -> None:
    if "static_batch" not in expected.present():
        assert caches.VERSION < (4, 38, 0)
        return
    halves = pytree.tree_map(lambda t: t[:1] if t.dim() == 4 else t, KINDS["static_batch"]())
    for part in [halves, *getattr(halves, "layers", [])]:
        sizes = {
            name: getattr(part, name) for name in ("batch_size", "max_batch_size") if hasattr(part, name)
        }
        assert set(sizes.values()) <= {1}
    heads_kept = (HEADS, WIDTH)
    assert {tuple(t.shape[1::2]) for t in caches.tensors(halves)} == {heads_kept}


def test_a_micro_batch_is_a_cache_of_its_own() -> None:
    """huggingface/transformers#41754: pipeline stages split a batch leaf by leaf and join it again."""
    whole = KINDS["dynamic_batch"]()
    leaves, spec = pytree.tree_flatten(whole)
    parts = [pytree.tree_unflatten([leaf[i : i + 1] for leaf in leaves], spec) for i in range(3)]
    for part in parts:
        caches.feed(part, 0)
    assert [part.get_seq_length() for part in parts] == [4, 4, 4]
    assert whole.get_seq_length() == 3
    joined = pytree.tree_map(lambda *t: torch.cat(t), *parts)
    assert caches.tensors(joined)[0].shape == (3, HEADS, 4, WIDTH)
    assert joined.get_seq_length() == 4
