"""One step of a model as a module with the same signature on every release, cache in and cache out.

A step is a prefill (several tokens into an empty cache) or a decode step (one token more). What a release's
model needs beside that to be exported is here and nowhere else:

- positions are given (`position_ids`, and `cache_position` where the model takes it), so that no model
  counts the tokens of the cache, which for a StaticCache is a number in a tensor;
- a decode step over sliding layers (since 4.56.0) gets its masks: the model would make them from the layers'
  count of tokens seen, a Python number that a program keeps from its example. It then exports without a
  complaint and gives wrong numbers after any other number of tokens;
- models that return the old tuples get them turned into a cache again (Llama of 4.38 to 4.40), and those that
  take nothing else get them (T5 of 4.42 to 4.47);
- a StaticCache of 4.38 to 4.40 serves one layer, where the model looks for it as an attribute.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import cachetree
import torch
from transformers import PreTrainedModel, cache_utils


class DecoderStep(torch.nn.Module):
    """A decoder-only model: `(tokens, position, cache)` to `(logits, cache)`.

    Shapes: tokens (batch, new), position (new,), logits (batch, new, vocabulary). `cache` may be a list with a
    StaticCache for each layer.
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
                **_masks_of_windows(cache, position),
            )
        if isinstance(cache, list):
            return output.logits, cache
        returned = output.past_key_values
        return output.logits, cachetree.dynamic_cache(returned) if isinstance(returned, tuple) else returned


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
            returned = cache_utils.EncoderDecoderCache.from_legacy_cache(returned)
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


def _takes_caches(model: PreTrainedModel) -> bool:
    """The flag went away when every model took caches."""
    return getattr(model, "_supports_cache_class", True)


@contextmanager
def _attached(model: PreTrainedModel, caches: Any) -> Iterator[None]:
    """Puts one cache per layer where attention looks for it, if there is one per layer."""
    attentions = [layer.self_attn for layer in model.model.layers] if isinstance(caches, list) else []
    for attention, cache in zip(attentions, caches, strict=False):
        attention.past_key_value = cache
    try:
        yield
    finally:
        for attention in attentions:
            del attention.past_key_value
