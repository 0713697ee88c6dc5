"""One step of a model as a module with the same signature on every release, cache in and cache out.

A step is a prefill (several tokens into an empty cache) or a decode step (one token more). What a release's
model needs beside that to be exported is here and nowhere else:

- positions are given (`position_ids`, and `cache_position` where the model takes it), so that no model
  counts the tokens of the cache, which for a StaticCache is a number in a tensor;
- a decode step over sliding layers gets its masks: from 4.57 to 5.13 the model makes them from the layers'
  count of tokens seen, a Python number that a program keeps from its example. It then exports without a
  complaint and gives wrong numbers after any other number of tokens;
- models that return the old tuples get them turned into a cache again (Llama of 4.38 to 4.40), and those
  that take nothing else get them (T5 before 4.46.0);
- a StaticCache of 4.38 to 4.40 serves one layer, which looks for it in an attribute; beside a DynamicCache
  the models of that time get a mask of ones, or 4.39 makes one as long as a tensor says.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from caches import WIDTH, WINDOW
from transformers import PreTrainedModel, cache_utils

import cachetree


class DecoderStep(torch.nn.Module):
    """A decoder-only model: `(tokens, position, cache)` to `(logits, cache)`.

    Shapes: tokens (batch, new), position (new,), logits (batch, new, vocabulary). `cache` may be a list with
    a StaticCache for each layer.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: torch.Tensor, position: torch.Tensor, cache: Any) -> tuple[torch.Tensor, Any]:
        with _attached(self.model, cache):
            output = self.model(
                input_ids=tokens,
                position_ids=position[None],
                past_key_values=cache if not isinstance(cache, list) else cache[0],
                use_cache=True,
                **_cache_position(self.model, position),
                **self.masks(tokens, position, cache),
            )
        if isinstance(cache, list):
            return output.logits, cache
        returned = output.past_key_values
        return output.logits, cachetree.dynamic_cache(returned) if isinstance(returned, tuple) else returned

    def masks(self, tokens: torch.Tensor, position: torch.Tensor, cache: Any) -> dict[str, Any]:
        """Arguments that keep the model from making masks that a program cannot hold."""
        if _has_cache_per_layer(self.model) and not isinstance(cache, list):
            batch, new = tokens.shape
            return {"attention_mask": tokens.new_ones(batch, cache.get_seq_length() + new)}
        return _masks_of_windows(cache, position)


class OwnMasksStep(DecoderStep):
    """The same, and the model makes all masks itself."""

    def masks(self, tokens: torch.Tensor, position: torch.Tensor, cache: Any) -> dict[str, Any]:
        return {}


class EncoderDecoderStep(torch.nn.Module):
    """The decoder of an encoder-decoder model: `(tokens, position, encoded, cache)` to `(logits, cache)`.

    Shapes as for `DecoderStep`; encoded (batch, source length, width) is what the encoder returned.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, tokens: torch.Tensor, position: torch.Tensor, encoded: torch.Tensor, cache: Any
    ) -> tuple[torch.Tensor, Any]:
        output = self.model(
            decoder_input_ids=tokens,
            encoder_outputs=(encoded,),
            past_key_values=cache if _takes_caches(self.model) else cache.to_legacy_cache() or None,
            use_cache=True,
            **_cache_position(self.model, position),
        )
        returned = output.past_key_values
        if isinstance(returned, tuple):
            cls: Any = cache_utils.EncoderDecoderCache
            returned = cls.from_legacy_cache(returned)
        return output.logits, returned


class StateSpaceStep(torch.nn.Module):
    """A model that keeps states of a fixed size: `(tokens, position, cache)` to `(logits, cache)`."""

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: torch.Tensor, position: torch.Tensor, cache: Any) -> tuple[torch.Tensor, Any]:
        output = self.model(
            input_ids=tokens, cache_params=cache, use_cache=True, **_cache_position(self.model, position)
        )
        return output.logits, output.cache_params


class CacheStep(torch.nn.Module):
    """The cache of a model without the model: `(tokens, position, ..., cache)` to `(a number, cache)`.

    Each layer gets keys and values made of the tokens, each state is changed by them.
    """

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.heads = getattr(config, "num_key_value_heads", None) or getattr(config, "num_attention_heads", 0)
        self.layers = config.num_hidden_layers

    def forward(
        self, tokens: torch.Tensor, position: torch.Tensor, encoded: Any, cache: Any = None
    ) -> tuple[torch.Tensor, Any]:
        cache = encoded if cache is None else cache  # a decoder's cache is the third argument, not the fourth
        total = tokens.sum().float()
        for part in _parts(cache):
            for layer in range(self.layers):
                total = total + self._change(part, layer, tokens, position)
        return total, cache

    def _change(self, cache: Any, layer: int, tokens: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        if self.heads:
            states = tokens.float()[:, None, :, None].expand(-1, self.heads, -1, WIDTH)
            keys, values = _update(cache, layer, states, states + 1, position)
            return keys.sum() + 2 * values.sum()
        if hasattr(cache, "conv_states"):
            return cache.conv_states[layer].add_(tokens.sum()).sum()
        return cache.update_conv_state(tokens.float().sum().expand(1, 6, 4).contiguous(), layer).sum()


def _update(cache: Any, layer: int, keys: torch.Tensor, values: torch.Tensor, position: torch.Tensor) -> Any:
    """`cache.update` with what it wants on any release."""
    if "cache_kwargs" not in inspect.signature(type(cache).update).parameters:
        return cache.update(keys, values, layer)
    return cache.update(keys, values, layer, {"cache_position": position, "sliding_window": WINDOW})


def _parts(cache: Any) -> list[Any]:
    """The caches of which one is made: those of an encoder-decoder cache, those of a list, or itself."""
    if isinstance(cache, list):
        return cache
    children = [getattr(cache, name, None) for name in ("self_attention_cache", "cross_attention_cache")]
    return [child for child in children if child is not None] or [cache]


def _cache_position(model: PreTrainedModel, position: torch.Tensor) -> dict[str, torch.Tensor]:
    takes_it = "cache_position" in inspect.signature(model.forward).parameters
    return {"cache_position": position} if takes_it else {}


def _masks_of_windows(cache: Any, position: torch.Tensor) -> dict[str, Any]:
    """One token more sees all that a window has kept, and in a buffer what was written so far."""
    layers = getattr(cache, "layers", [])
    if position.shape[0] > 1 or not any(getattr(layer, "is_sliding", False) for layer in layers):
        return {}
    buffers = [layer for layer in layers if "max_cache_len" in vars(layer) and not layer.is_sliding]
    written = _written(buffers[0].keys, position) if buffers else None
    return {"attention_mask": {"sliding_attention": None, "full_attention": written}}


def _written(keys: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
    """A mask to be added, (1, 1, 1, room): nothing up to `position`, minus infinity after it."""
    slots = torch.arange(keys.shape[-2])
    return torch.where(slots <= position, 0.0, torch.finfo(torch.float32).min)[None, None, None]


def _has_cache_per_layer(model: PreTrainedModel) -> bool:
    """Is the model's StaticCache one for each layer (4.38 to 4.40)?"""
    return hasattr(model, "_setup_cache")


def _takes_caches(model: PreTrainedModel) -> bool:
    """The flag went away when every model took caches."""
    return getattr(model, "_supports_cache_class", True)


@contextmanager
def _attached(model: PreTrainedModel, caches: Any) -> Iterator[None]:
    """Puts one cache per layer where attention looks for it, if there is one per layer."""
    served = list(zip(model.model.layers, caches, strict=True)) if isinstance(caches, list) else []
    for layer, cache in served:
        layer.self_attn.past_key_value = cache
    try:
        yield
    finally:
        for layer, _ in served:
            del layer.self_attn.past_key_value
