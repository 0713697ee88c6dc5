"""Builds and reads caches in the same way on every release."""

import contextlib
import inspect
from collections.abc import Iterator
from typing import Any

from cachetree_probes import _classes
from cachetree_probes._errors import Absent

LAYERS, HEADS, WIDTH = 2, 2, 4
MAX_LENGTH = 8
WINDOW = 4

KINDS = (
    "DynamicCache",
    "StaticCache",
    "EncoderDecoderCache",
    "SlidingWindowCache",
    "HybridCache",
)
"""The classes whose behaviour is measured, where a release has them."""


def import_configs() -> None:
    """Imports what the builders below need, once for all the probes that are forked afterwards."""
    for kind in ("Llama", "Gemma2"):
        with contextlib.suppress(Absent):
            config(kind)


def cache_class(name: str) -> Any:
    """The class called `name` in `transformers.cache_utils`.

    Raises:
        Absent: The release does not define it.
    """
    cls = _classes.caches().get(name)
    if cls is None:
        raise Absent
    return cls


def config(kind: str = "Llama", **more: Any) -> Any:
    """The configuration of a tiny model.

    Raises:
        Absent: The release does not have this kind of model.
    """
    import transformers

    cls = getattr(transformers, f"{kind}Config", None)
    if cls is None:
        raise Absent
    return cls(
        hidden_size=4 * WIDTH,
        intermediate_size=32,
        num_hidden_layers=LAYERS,
        num_attention_heads=4,
        num_key_value_heads=HEADS,
        vocab_size=32,
        max_position_embeddings=64,
        **more,
    )


def windowed_config() -> Any:
    """A tiny Gemma2, whose layers slide and see everything in turn."""
    return config("Gemma2", head_dim=WIDTH, sliding_window=WINDOW)


def states(layer: int, slot: int, length: int, seed: float = 1.0) -> Any:
    """A tensor (1, HEADS, length, WIDTH) unlike any other's; slot 0 is keys, 1 values."""
    import torch

    count = HEADS * length * WIDTH
    first = seed + 2 * layer + slot
    return torch.sin(first * torch.arange(1, count + 1)).reshape(1, HEADS, length, WIDTH)


def new(kind: str) -> Any:
    """A cache of this class that has seen nothing.

    Raises:
        Absent: The release does not have the class.
    """
    cls = cache_class(kind)
    if kind == "DynamicCache":
        return cls()
    if kind == "EncoderDecoderCache":
        return cls(new("DynamicCache"), new("DynamicCache"))
    has_window = kind in ("SlidingWindowCache", "HybridCache")
    return fixed(cls, windowed_config() if has_window else config())


def fixed(cls: Any, for_config: Any) -> Any:
    """A cache of a class that is told its size, whatever this release calls the arguments."""
    import torch

    offered = {
        "config": for_config,
        "max_batch_size": 1,
        "batch_size": 1,
        "max_cache_len": MAX_LENGTH,
        "device": "cpu",
        "dtype": torch.float32,
    }
    wanted = inspect.signature(cls.__init__).parameters
    if "max_cache_len" not in wanted:  # 4.54 and 4.55 take (*args, **kwargs), and hand them on
        wanted = offered
    if "max_batch_size" in wanted:
        offered = {name: value for name, value in offered.items() if name != "batch_size"}
    return cls(**{name: value for name, value in offered.items() if name in wanted})


def filled(kind: str, length: int = 3, seed: float = 1.0, layers: int = LAYERS) -> Any:
    """A cache of this class that has seen `length` tokens in each layer."""
    cache = new(kind)
    if kind == "EncoderDecoderCache":
        fill(cache.self_attention_cache, length, seed)
        fill(cache.cross_attention_cache, length + 2, seed + 0.5)
        cache.is_updated = dict.fromkeys(range(LAYERS), True)
    else:
        fill(cache, length, seed, layers)
    return cache


def sliding(length: int = 6, seed: float = 1.0) -> Any:
    """A DynamicCache whose layer 0 slides over WINDOW tokens and whose layer 1 sees everything.

    Raises:
        Absent: The release has no sliding dynamic layers.
    """
    if "DynamicSlidingWindowLayer" not in _classes.layers():
        raise Absent
    cache = cache_class("DynamicCache")(config=windowed_config())
    fill(cache, length, seed)
    return cache


def fill(cache: Any, length: int, seed: float, layers: int = LAYERS) -> None:
    """Shows `length` tokens to each layer that the cache has."""
    for layer in range(layer_count(cache, layers)):
        update(cache, states(layer, 0, length, seed), states(layer, 1, length, seed), layer)


def update(cache: Any, keys: Any, values: Any, layer: int, start: int = 0) -> Any:
    """`cache.update`, with the positions that static caches want before 5.x."""
    import torch

    if "cache_kwargs" not in inspect.signature(cache.update).parameters:
        return cache.update(keys, values, layer)
    position = torch.arange(keys.shape[2]) + start
    return cache.update(keys, values, layer, {"cache_position": position, "sliding_window": WINDOW})


def layer_count(cache: Any, layers: int = LAYERS) -> int:
    """One for the StaticCache of 4.38 to 4.40, which serves a single layer; else `layers`."""
    import torch

    return 1 if isinstance(getattr(cache, "key_cache", None), torch.Tensor) else layers


def pairs(cache: Any) -> list[tuple[str, Any, Any]]:
    """A prefix and the (keys, values) of each layer, in any layout; the layers of cross attention last."""
    if hasattr(cache, "self_attention_cache"):
        cross = [("cross " + name, k, v) for name, k, v in pairs(cache.cross_attention_cache)]
        return pairs(cache.self_attention_cache) + cross
    if hasattr(cache, "layers"):
        return [("", layer.keys, layer.values) for layer in cache.layers]
    if not isinstance(cache.key_cache, list):
        return [("", cache.key_cache, cache.value_cache)]
    return [("", k, v) for k, v in zip(cache.key_cache, cache.value_cache, strict=True)]


def named_tensors(cache: Any) -> Iterator[tuple[str, Any]]:
    """("k0", keys of layer 0), ("v0", its values), and so on; "cross k0" for cross attention."""
    counts: dict[str, int] = {}
    for prefix, keys, values in pairs(cache):
        index = counts.setdefault(prefix, 0)
        counts[prefix] += 1
        yield f"{prefix}k{index}", keys
        yield f"{prefix}v{index}", values


def slot_names(cache: Any, leaves: list[Any]) -> list[str]:
    """What each leaf is: "k0" and so on, the name of another tensor of a layer, or "?"."""
    names = {
        id(value): f"{name}{index}"
        for index, layer in enumerate(getattr(cache, "layers", []))
        for name, value in vars(layer).items()
    }
    names.update({id(tensor): name for name, tensor in named_tensors(cache)})
    return [names.get(id(leaf), "?") for leaf in leaves]


def difference(got: Any, expected: Any) -> str | None:
    """How two caches differ in what they hold, in words; None if they do not."""
    import torch

    if type(got) is not type(expected):
        return f"a {type(got).__name__} came back"
    mine, theirs = dict(named_tensors(got)), dict(named_tensors(expected))
    if list(mine) != list(theirs):
        return f"{len(mine) // 2} layers came back, not {len(theirs) // 2}"
    for name, tensor in theirs.items():
        other = mine[name]
        if not isinstance(tensor, torch.Tensor):
            continue
        if type(other) is not type(tensor):
            return f"{name} came back as {type(other).__name__}"
        if other.shape != tensor.shape:
            return f"{name} has shape {list(other.shape)}, not {list(tensor.shape)}"
        if not torch.allclose(other, tensor, atol=1e-5):
            return f"{name} has other numbers"
    return None


def llama() -> Any:
    """A tiny Llama with the same weights everywhere, ready to run."""
    import torch
    from transformers import LlamaForCausalLM

    torch.manual_seed(0)
    return LlamaForCausalLM(config()).eval()
