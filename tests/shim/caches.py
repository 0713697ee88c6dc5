"""Builds every kind of cache that the installed transformers has, filled with known numbers.

A kind is a function below with `@kind`; `KINDS` has them by name. A builder raises `Absent` where the release
does not have the thing, and `expected.py` says on which releases that is so.
"""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
warnings.filterwarnings("ignore")

import torch  # noqa: E402
import transformers  # noqa: E402
from transformers import cache_utils as _cache_utils  # noqa: E402

cache_utils: Any = _cache_utils
"""Whose classes differ by release, so that a type checker has nothing to say about them."""

DynamicCache = cache_utils.DynamicCache
VERSION = tuple(int(part) for part in transformers.__version__.split(".")[:3])

LAYERS, HEADS, WIDTH = 2, 2, 4
WINDOW, ROOM = 4, 8
"""Tokens in a sliding window, and in the buffer of a static layer."""


class Absent(Exception):
    """This release does not have such a cache."""


KINDS: dict[str, Callable[[], Any]] = {}


def kind(build: Callable[[], Any]) -> Callable[[], Any]:
    KINDS[build.__name__] = build
    return build


def named(name: str) -> Any:
    """A class of cache_utils. vars(): its `__getattr__` invents a MambaCache in 4.54 and 4.55."""
    found = vars(cache_utils).get(name)
    if not isinstance(found, type):
        raise Absent(name)
    return found


def numbers(*shape: int, seed: int = 0) -> torch.Tensor:
    """Different, exactly representable numbers."""
    count = torch.Size(shape).numel()
    return (torch.arange(count, dtype=torch.float32).reshape(shape) + 1) / 16 + seed


def token(seed: int = 0, batch: int = 1, length: int = 1) -> torch.Tensor:
    """Keys or values of `length` tokens: (batch, HEADS, length, WIDTH)."""
    return numbers(batch, HEADS, length, WIDTH, seed=seed)


def feed(cache: Any, layer: int, length: int = 1, *, seed: int = 0, batch: int = 1, start: int = 0) -> Any:
    """`cache.update` with what it wants on any release. Returns its keys and values."""
    keys, values = token(seed, batch, length), token(seed + 100, batch, length)
    if "cache_kwargs" not in inspect.signature(type(cache).update).parameters:
        return cache.update(keys, values, layer)
    extra: dict[str, Any] = {"cache_position": torch.arange(start, start + length), "sliding_window": WINDOW}
    if type(cache).__name__ == "SinkCache":
        remembers_angles = hasattr(cache, "_cos_cache")  # since 4.41; before, it is given the whole table
        angles = numbers(1, length, WIDTH, seed=start) if remembers_angles else numbers(64, WIDTH)
        extra = {"cos": angles.cos(), "sin": angles.sin()}
    return cache.update(keys, values, layer, extra)


def fill(cache: Any, length: int, *, seed: int = 0, batch: int = 1, layers: int = LAYERS) -> Any:
    for layer in range(layers):
        feed(cache, layer, length, seed=seed + 10 * layer, batch=batch)
    return cache


def drip(cache: Any, length: int, *, seed: int = 0, layers: int = LAYERS) -> Any:
    """As `fill`, token by token, as decoding does."""
    for step in range(length):
        for layer in range(layers):
            feed(cache, layer, seed=seed + 10 * layer + step, start=step)
    return cache


_SMALL: dict[str, Any] = {
    "hidden_size": HEADS * 2 * WIDTH,
    "intermediate_size": 32,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS * 2,
    "num_key_value_heads": HEADS,
    "vocab_size": 32,
    "max_position_embeddings": 64,
}


def config(layer_types: list[str] | None = None) -> Any:
    """A tiny Llama's configuration; with `layer_types`, one kind of layer for each."""
    made = transformers.LlamaConfig(**_SMALL)
    if layer_types:
        made.layer_types = layer_types
        made.sliding_window = WINDOW
        made.attention_chunk_size = WINDOW
    return made


def windowed_config() -> Any:
    """Layer 0 slides over WINDOW tokens, layer 1 sees all."""
    if not hasattr(transformers, "Gemma2Config"):
        raise Absent("Gemma2Config")
    return transformers.Gemma2Config(**_SMALL, head_dim=WIDTH, sliding_window=WINDOW)


def make_static(class_name: str, made_for: Any, batch: int = 1) -> Any:
    """A cache with buffers of ROOM tokens, by whichever arguments its constructor takes."""
    cls = named(class_name)
    offered = {"max_batch_size": batch, "device": "cpu", "dtype": torch.float32}
    try:
        return cls(config=made_for, max_cache_len=ROOM, **offered)
    except TypeError as error:
        raise Absent(f"{class_name} cannot be made: {error}") from error


def has_one_layer(cache: Any) -> bool:
    """StaticCache of 4.38 to 4.40 is made for one attention layer."""
    return isinstance(vars(cache).get("key_cache"), torch.Tensor)


def filled_static(class_name: str, made_for: Any, length: int, batch: int = 1) -> Any:
    cache = make_static(class_name, made_for, batch)
    return fill(cache, length, batch=batch, layers=1 if has_one_layer(cache) else LAYERS)


# Dynamic caches


@kind
def dynamic() -> Any:
    return fill(DynamicCache(), 3)


@kind
def dynamic_empty() -> Any:
    return DynamicCache()


@kind
def dynamic_batch() -> Any:
    return fill(DynamicCache(), 3, batch=3)


@kind
def dynamic_with_skipped_layer() -> Any:
    """Layer 0 holds nothing (4.46.0 is the first release that can skip one)."""
    cache = DynamicCache()
    try:
        feed(cache, 1, 3)
    except (IndexError, ValueError) as error:
        raise Absent(str(error)) from error
    if len(cache) < 2 or VERSION < (4, 46, 0):
        raise Absent("layer 1 became layer 0")
    return cache


@kind
def dynamic_subclass() -> Any:
    return fill(Mine(), 3)


class Mine(DynamicCache):
    """A user's own cache with a method of its own."""

    def twice(self) -> int:
        return 2 * len(self)


@kind
def dynamic_unfilled_layers() -> Any:
    """Layers of two kinds, made from a configuration, before the first token."""
    named("DynamicSlidingWindowLayer")
    return DynamicCache(config=windowed_config())


@kind
def dynamic_made_ready() -> Any:
    """Layers initialised ahead of time: placeholders of one axis."""
    cache = dynamic_unfilled_layers()
    cache.early_initialization(1, HEADS, WIDTH, torch.float32, torch.device("cpu"))
    return cache


@kind
def sliding() -> Any:
    """Layer 0 has seen 7 tokens and keeps 3, layer 1 keeps all."""
    return drip(dynamic_unfilled_layers(), 7)


@kind
def sliding_not_full() -> Any:
    return drip(dynamic_unfilled_layers(), 2)


# Static caches


@kind
def static() -> Any:
    return filled_static("StaticCache", config(), 3)


@kind
def static_batch() -> Any:
    return filled_static("StaticCache", config(), 3, batch=3)


@kind
def static_unfilled() -> Any:
    """As it is constructed: with zeros, or with nothing where it is lazy (since 4.56.0)."""
    return make_static("StaticCache", config())


@kind
def static_sliding() -> Any:
    """One full and one sliding layer with buffers, the window overrun."""
    named("DynamicSlidingWindowLayer")
    return drip(make_static("StaticCache", windowed_config()), 6)


@kind
def sliding_window_cache() -> Any:
    made_for = transformers.MistralConfig(**_SMALL, sliding_window=WINDOW)
    return filled_static("SlidingWindowCache", made_for, 3)


@kind
def hybrid() -> Any:
    named("HybridCache")
    return filled_static("HybridCache", windowed_config(), 3)


@kind
def hybrid_chunked() -> Any:
    named("HybridChunkedCache")
    return drip(make_static("HybridChunkedCache", windowed_config()), 6)


@kind
def offloaded_static() -> Any:
    """Its buffers are on the CPU already; where they are pinned, it cannot be made without an accelerator."""
    named("OffloadedStaticCache")
    try:
        return filled_static("OffloadedStaticCache", config(), 3)
    except (AssertionError, RuntimeError) as error:
        raise Absent("needs an accelerator") from error


@kind
def offloaded() -> Any:
    """As on a machine with an accelerator, whose stream is not there."""
    cls: Any = named("OffloadedCache")
    cache = cls.__new__(cls)
    DynamicCache.__init__(cache)
    if "layers" in vars(cache):
        if "offloading" not in vars(cache):
            raise Absent("an offloading processor")
        fill(cache, 3)
        cache.only_non_sliding = True
        cache.prefetch_stream = None
        return cache
    cache.original_device = [torch.device("cpu")] * LAYERS
    cache.prefetch_stream = None
    cache.beam_idx = None
    for layer in range(LAYERS):
        DynamicCache.update(cache, token(10 * layer, length=3), token(10 * layer + 100, length=3), layer)
    return cache


@kind
def offloaded_by_processor() -> Any:
    """4.54 and 4.55: a DynamicCache with a processor that moves its layers."""
    processor: Any = named("OffloadedCacheProcessor")
    cache = fill(DynamicCache(), 3)
    cache.cache_processor = processor.__new__(processor)
    vars(cache.cache_processor).update(
        offload_device=torch.device("cpu"),
        original_device=[torch.device("cpu")] * LAYERS,
        prefetch_stream=None,
        beam_idx=None,
        is_static=False,
    )
    return cache


# Caches of caches, and older ones


@kind
def encoder_decoder() -> Any:
    return named("EncoderDecoderCache")(fill(DynamicCache(), 3), fill(DynamicCache(), 5, seed=50))


@kind
def encoder_decoder_mixed() -> Any:
    """Self-attention slides, cross-attention does not."""
    return named("EncoderDecoderCache")(sliding(), fill(DynamicCache(), 5, seed=50))


@kind
def encoder_decoder_static() -> Any:
    cls = named("EncoderDecoderCache")
    return cls(static(), filled_static("StaticCache", config(), 5))


@kind
def encoder_decoder_empty() -> Any:
    return named("EncoderDecoderCache")(DynamicCache(), DynamicCache())


@kind
def sink() -> Any:
    """Keeps 2 sink tokens and the last of 6; overrun, so that it holds rotations by an int key."""
    cls = named("SinkCache")
    try:
        cache = cls(window_length=6, num_sink_tokens=2)
    except NotImplementedError as error:
        raise Absent(str(error)) from error
    if "layers" in vars(cache):
        raise Absent("a stub")
    return drip(cache, 8)


@kind
def mamba() -> Any:
    cls = mamba_class()
    made_for = transformers.MambaConfig(hidden_size=8, num_hidden_layers=LAYERS, state_size=4, vocab_size=16)
    try:
        cache = cls(made_for, 1, dtype=torch.float32, device="cpu")
    except TypeError:
        cache = cls(made_for, 1, torch.float32, "cpu")
    for name in ("conv_states", "ssm_states"):
        states = getattr(cache, name)
        for layer, state in states.items() if isinstance(states, dict) else enumerate(states):
            state.copy_(numbers(*state.shape, seed=layer))
    return cache


def mamba_class() -> type:
    found = vars(cache_utils).get("MambaCache")
    if found is not None:
        return found
    try:
        from transformers.models.mamba.modeling_mamba import MambaCache  # pyright: ignore[reportAttributeAccessIssue]
    except ImportError as error:
        raise Absent("MambaCache") from error
    return MambaCache


# Layers of other kinds, since 5.x


def _layered(*layers: Any) -> Any:
    cache = DynamicCache()
    cache.layers = list(layers)
    cache.layer_class_to_replicate = None
    return cache


def feed_states(cache: Any, layer: int, seed: int = 0) -> None:
    """A linear-attention layer's convolution and recurrent state."""
    cache.update_conv_state(numbers(1, 6, 4, seed=seed), layer)
    cache.update_recurrent_state(numbers(1, HEADS, 4, 4, seed=seed + 1), layer)


@kind
def linear_attention() -> Any:
    cache = _layered(named("LinearAttentionLayer")(), cache_utils.DynamicLayer())
    feed_states(cache, 0)
    feed(cache, 1, 3)
    return cache


@kind
def linear_attention_unfilled() -> Any:
    return _layered(named("LinearAttentionLayer")(), cache_utils.DynamicLayer())


@kind
def linear_and_full_attention() -> Any:
    cache = _layered(named("LinearAttentionAndFullAttentionLayer")(), cache_utils.DynamicLayer())
    feed_states(cache, 0)
    return fill(cache, 3)


@kind
def linear_and_sliding_attention() -> Any:
    cls = named("LinearAttentionAndSlidingWindowAttentionLayer")
    takes_window = "sliding_window" in inspect.signature(cls).parameters  # not in 5.13
    layer = cls(sliding_window=WINDOW) if takes_window else cls(config(["sliding_attention"] * LAYERS))
    cache = _layered(layer, cache_utils.DynamicLayer())
    feed_states(cache, 0)
    return drip(cache, 6)


@kind
def linear_and_static_attention() -> Any:
    layer = named("LinearAttentionAndStaticFullAttentionLayer")(max_cache_len=ROOM)
    cache = _layered(layer, named("StaticLayer")(max_cache_len=ROOM))
    feed_states(cache, 0)
    return fill(cache, 3)


@kind
def linear_and_static_sliding_attention() -> Any:
    cls = named("LinearAttentionAndStaticSlidingWindowAttentionLayer")
    cache = _layered(cls(max_cache_len=ROOM, sliding_window=WINDOW), named("StaticLayer")(max_cache_len=ROOM))
    feed_states(cache, 0)
    return drip(cache, 6)


@kind
def indexed() -> Any:
    cache = _layered(named("DynamicIndexedLayer")(), cache_utils.DynamicLayer())
    cache.layers[0].update_indexer(numbers(1, 3, 5))
    return fill(cache, 3)


@kind
def static_indexed() -> Any:
    cache = _layered(
        named("StaticIndexedLayer")(max_cache_len=ROOM), named("StaticLayer")(max_cache_len=ROOM)
    )
    cache.layers[0].update_indexer(numbers(1, 3, 5))
    return fill(cache, 3)


@kind
def dummy() -> Any:
    """A layer that shares another's cache holds nothing."""
    empty = named("DummyLayer")()
    cache = _layered(cache_utils.DynamicLayer(), empty)
    feed(cache, 0, 3)
    return cache


@kind
def multi_token_prediction() -> Any:
    return fill(named("MtpCache")(), 3)


@kind
def draft() -> Any:
    cache = fill(named("DFlashCache")(), 3)
    cache.set_previous_accepted_tokens(2)
    return cache


# What must be refused


class CopyingQuantizer:
    """Stands for quanto and HQQ, which are not installed: packing is copying."""

    def _quantize(self, tensor: torch.Tensor, axis: int | None = None) -> torch.Tensor:
        return tensor.clone()

    def _dequantize(self, packed: torch.Tensor) -> torch.Tensor:
        return packed


def quantized() -> Any:
    """A cache most of whose tokens are in a packed store, in whichever way the release has it."""
    if "QuantizedLayer" in vars(cache_utils):
        cls = type("QuantizedHere", (CopyingQuantizer, cache_utils.QuantizedLayer), {})
        return drip(_layered(cls(residual_length=2), cls(residual_length=2)), 5)
    if "QuantizedCacheProcessor" in vars(cache_utils):
        cls = type("ProcessorHere", (CopyingQuantizer, cache_utils.QuantizedCacheProcessor), {})
        cache = fill(DynamicCache(), 3)
        cache.cache_processor = cls.__new__(cls)
        return cache
    cls: Any = type("CacheHere", (CopyingQuantizer, named("QuantizedCache")), {})
    options = cache_utils.QuantizedCacheConfig(residual_length=2)
    return drip(cls(options), 5)


# Looking at caches


def picture(value: Any) -> Any:
    """All that an object holds, as comparable data: two caches are the same if their pictures are."""
    if isinstance(value, torch.Tensor):
        content = None if value.device.type == "meta" else value.detach().tolist()
        return ("tensor", tuple(value.shape), str(value.dtype), str(value.device), content)
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, [picture(item) for item in value])
    if isinstance(value, dict):
        return {key: picture(item) for key, item in value.items()}
    if isinstance(value, (torch.device, torch.dtype)):
        return str(value)
    if hasattr(value, "__dict__") and not isinstance(value, type):
        return (type(value), picture(vars(value)))
    return value


def tensors(cache: Any) -> list[torch.Tensor]:
    """Keys and values of all layers, k0 v0 k1 v1 ..., read off the attributes."""
    if hasattr(cache, "self_attention_cache"):
        return tensors(cache.self_attention_cache) + tensors(cache.cross_attention_cache)
    if "layers" in vars(cache):
        found = [(getattr(x, "keys", None), getattr(x, "values", None)) for x in cache.layers]
    elif has_one_layer(cache):
        found = [(cache.key_cache, cache.value_cache)]
    else:
        found = list(zip(getattr(cache, "key_cache", []), getattr(cache, "value_cache", []), strict=True))
    return [x for pair in found for x in pair if isinstance(x, torch.Tensor) and x.dim() == 4]
