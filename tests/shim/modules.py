"""Modules without a model: what a step of decoding does to a cache, for any kind of cache and any release."""

from __future__ import annotations

import inspect
from typing import Any

import caches
import torch


def update(
    cache: Any, x: torch.Tensor, layer: int, position: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Appends `x` (keys) and `x + 1` (values) to a layer."""
    if "cache_kwargs" not in inspect.signature(type(cache).update).parameters:
        return cache.update(x, x + 1, layer)
    extra = {
        "cache_position": position,
        "sliding_window": caches.WINDOW,
        "cos": x[0, :1, :, :],
        "sin": x[0, :1, :, :],
    }
    return cache.update(x, x + 1, layer, extra)


class Step(torch.nn.Module):
    """Appends `x` to every layer that takes keys; returns a number made of all of them, and the cache.

    Args:
        x: (batch, heads, new tokens, width).
        position: (new tokens), where they go in a static buffer.
        cache: Any cache of keys and values.
    """

    def forward(self, x: torch.Tensor, position: torch.Tensor, cache: Any) -> tuple[torch.Tensor, Any]:
        total = x.sum() * 0
        grown = getattr(cache, "self_attention_cache", cache)
        for layer in range(1 if caches.has_one_layer(grown) else caches.LAYERS):
            if takes_keys(grown, layer):
                keys, values = update(grown, x, layer, position)
                total = total + keys.sum() + 2 * values.sum()
        if grown is not cache:
            total = total + sum(tensor.sum() for tensor in caches.tensors(cache.cross_attention_cache))
        return total, cache


class StateStep(torch.nn.Module):
    """As `Step` for Mamba and linear attention: adds to the states of layer 0."""

    def forward(self, x: torch.Tensor, position: torch.Tensor, cache: Any) -> tuple[torch.Tensor, Any]:
        total = x.sum()
        if hasattr(cache, "layers"):
            total = total + cache.update_conv_state(torch.ones(1, 6, 1) * total, 0).sum()
            total = total + cache.update_recurrent_state(torch.ones(1, caches.HEADS, 4, 4) * total, 0).sum()
        else:
            for states in (cache.conv_states, cache.ssm_states):
                states[0].add_(total)
                total = total + states[1].sum()
        return total, cache


def takes_keys(cache: Any, layer: int) -> bool:
    if not hasattr(cache, "layers") or layer >= len(cache.layers):
        return True
    return hasattr(cache.layers[layer], "get_seq_length")


def step_for(kind: str) -> torch.nn.Module:
    return StateStep() if kind == "mamba" or kind == "linear_attention" else Step()


class Prefill(torch.nn.Module):
    """Makes a cache and fills it: nothing goes in, a cache comes out."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, Any]:
        cache = caches.DynamicCache()
        for layer in range(caches.LAYERS):
            cache.update(x + layer, x - layer, layer)
        return x.sum(), cache
