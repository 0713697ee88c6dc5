"""Reading and making caches without knowing their layout."""

from __future__ import annotations

import inspect
from typing import Any

import torch

Pair = tuple["torch.Tensor | None", "torch.Tensor | None"]


def pairs(cache: Any) -> list[Pair]:
    if hasattr(cache, "self_attention_cache"):
        return pairs(cache.self_attention_cache) + pairs(cache.cross_attention_cache)
    if "layers" in vars(cache):
        return [_pair(getattr(x, "keys", None), getattr(x, "values", None)) for x in cache.layers]
    if not hasattr(cache, "key_cache"):
        return []
    if isinstance(cache.key_cache, torch.Tensor):  # StaticCache of 4.38 to 4.40 serves one layer
        return [(cache.key_cache, cache.value_cache)]
    return [_pair(k, v) for k, v in zip(cache.key_cache, cache.value_cache, strict=True)]


def _pair(keys: Any, values: Any) -> Pair:
    filled = isinstance(keys, torch.Tensor) and keys.dim() == 4
    return (keys, values) if filled else (None, None)


def dynamic_cache(pairs: list[Pair], config: Any) -> Any:
    from transformers.cache_utils import DynamicCache

    takes_config = "config" in inspect.signature(DynamicCache).parameters
    cache = DynamicCache(config=config) if takes_config and config is not None else DynamicCache()
    for layer, (keys, values) in enumerate(pairs):
        if keys is not None and values is not None:
            cache.update(keys, values, layer)
        else:
            _skip_layer(cache, layer)
    return cache


def _skip_layer(cache: Any, layer: int) -> None:
    """A place without tensors, so that the next layer gets its own index (4.36 to 4.45 cannot skip)."""
    if "key_cache" in vars(cache) and len(cache.key_cache) == layer:
        cache.key_cache.append([])
        cache.value_cache.append([])


def static_cache(config: Any, batch_size: int, max_cache_len: int, dtype: Any, device: Any) -> Any:
    from transformers import __version__, cache_utils

    cls = vars(cache_utils).get("StaticCache")
    if cls is None:
        raise NotImplementedError(f"transformers {__version__} has no StaticCache")
    dtype = dtype or torch.float32
    device = torch.device(device or "cpu")
    offered = {
        "config": config,
        "max_cache_len": max_cache_len,
        "dtype": dtype,
        "device": device,
        "batch_size": batch_size,
        "max_batch_size": batch_size,
    }
    cache = cls(**_accepted(cls, offered))
    if hasattr(cache, "early_initialization"):
        _allocate(cache, config, batch_size, dtype, device)
    return cache


def _accepted(cls: type, offered: dict[str, Any]) -> dict[str, Any]:
    """The arguments that the constructor names, or all but aliases if it takes any (4.54, 4.55)."""
    parameters = inspect.signature(cls).parameters
    if "config" not in parameters:
        return {name: value for name, value in offered.items() if name != "batch_size"}
    accepted = {name: value for name, value in offered.items() if name in parameters}
    if "max_batch_size" in accepted:
        accepted.pop("batch_size", None)
    return accepted


def _allocate(cache: Any, config: Any, batch_size: int, dtype: Any, device: Any) -> None:
    """Layers are lazy since 4.56.0; torch.export needs their buffers before it traces."""
    text = config.get_text_config(decoder=True)
    heads = getattr(text, "num_key_value_heads", None) or text.num_attention_heads
    width = getattr(text, "head_dim", None) or text.hidden_size // text.num_attention_heads
    sizes = (
        {"k_head_dim": width, "v_head_dim": width}
        if "k_head_dim" in inspect.signature(cache.early_initialization).parameters
        else {"head_dim": width}
    )
    cache.early_initialization(batch_size=batch_size, num_heads=heads, dtype=dtype, device=device, **sizes)
