"""What is exported: a model's step with its inputs, after any number of tokens."""

from __future__ import annotations

import inspect
from typing import Any

import tiny_models
import torch
from caches import ROOM, Absent, has_one_layer, make_static, mamba_class
from model_steps import CacheStep, DecoderStep, EncoderDecoderStep, StateSpaceStep
from tiny_models import WIDTH, token_ids
from transformers import cache_utils

import cachetree

Inputs = tuple[Any, ...]
DYNAMIC = torch.export.Dim.DYNAMIC


class Subject:
    """A tiny model with a kind of cache."""

    def __init__(self, family: str, step: type[torch.nn.Module], **changes: Any) -> None:
        self.model = tiny_models.build(family, **changes)
        self.step = step(self.model)

    def leave_out_model(self) -> None:
        """From now on the step is one of the cache alone, with the same inputs and outputs."""
        self.step = CacheStep(self.model.config)

    def empty_cache(self, batch: int) -> Any:
        """A cache without tokens."""
        raise NotImplementedError

    def prefill(self, length: int, batch: int = 1) -> Inputs:
        """Inputs for the first `length` tokens."""
        return token_ids(batch, length), torch.arange(length), self.empty_cache(batch)

    def decode(self, seen: int, batch: int = 1) -> Inputs:
        """Inputs for one token more, with a cache that the model has filled with `seen` tokens."""
        *_, cache = self.step(*self.prefill(seen, batch))
        return token_ids(batch, 1), torch.tensor([seen]), cache

    def prefill_shapes(self, inputs: Inputs) -> Any:
        """`dynamic_shapes` of a prefill with any number of tokens."""
        return {1: DYNAMIC}, {0: DYNAMIC}, self.cache_shapes(inputs[-1])

    def decode_shapes(self, inputs: Inputs, **dimensions: Any) -> Any:
        """`dynamic_shapes` of a decode step after any number of tokens."""
        return {}, {}, self.cache_shapes(inputs[-1], length=DYNAMIC, **dimensions)

    def cache_shapes(self, cache: Any, **dimensions: Any) -> Any:
        if isinstance(cache, list):
            return [cachetree.dynamic_shapes(one, **dimensions) for one in cache]
        return cachetree.dynamic_shapes(cache, **dimensions)


class Decoder(Subject):
    """Llama or Gemma 2 with a DynamicCache."""

    def __init__(self, family: str, step: type[DecoderStep] = DecoderStep, **changes: Any) -> None:
        super().__init__(family, step, **changes)

    def empty_cache(self, batch: int) -> Any:
        return cachetree.dynamic_cache([], self.model.config)


class StaticDecoder(Decoder):
    """Llama or Gemma 2 with a StaticCache, or what the release has for the model in its place."""

    def __init__(self, family: str, **changes: Any) -> None:
        super().__init__(family, **changes)
        if isinstance(self.empty_cache(1), list):  # there sdpa attends to slots that are not written yet
            super().__init__(family, **changes, attn_implementation="eager")

    def empty_cache(self, batch: int) -> Any:
        config = self.model.config
        if getattr(config, "sliding_window", None) and _has_hybrid_cache():
            return make_static("HybridCache", config, batch)
        cache = cachetree.static_cache(config, batch, ROOM)
        if not has_one_layer(cache):
            return cache
        return [cachetree.static_cache(config, batch, ROOM) for _ in range(config.num_hidden_layers)]


class EncoderDecoder(Subject):
    """T5 with a DynamicCache for each kind of attention.

    The source is one token longer than what the target had at its prefill.
    """

    def __init__(self, family: str = "t5", **changes: Any) -> None:
        super().__init__(family, EncoderDecoderStep, **changes)

    def empty_cache(self, batch: int) -> Any:
        return cache_utils.EncoderDecoderCache(self.self_cache(batch), cachetree.dynamic_cache([]))

    def self_cache(self, batch: int) -> Any:
        return cachetree.dynamic_cache([])

    def prefill(self, length: int, batch: int = 1) -> Inputs:
        tokens, position, cache = super().prefill(length, batch)
        return tokens, position, _encoded(batch, length + 1), cache

    def decode(self, seen: int, batch: int = 1) -> Inputs:
        tokens, position, cache = super().decode(seen, batch)
        return tokens, position, _encoded(batch, seen + 1), cache

    def prefill_shapes(self, inputs: Inputs) -> Any:
        tokens, position, cache = super().prefill_shapes(inputs)
        return tokens, position, {1: DYNAMIC}, cache

    def decode_shapes(self, inputs: Inputs, **dimensions: Any) -> Any:
        tokens, position, cache = super().decode_shapes(inputs, **dimensions)
        return tokens, position, {1: DYNAMIC}, cache


class StaticEncoderDecoder(EncoderDecoder):
    """T5 with a StaticCache for self-attention."""

    def self_cache(self, batch: int) -> Any:
        return cachetree.static_cache(self.model.config, batch, ROOM)


class StateSpace(Subject):
    """Mamba with its MambaCache, or the DynamicCache that took its place in 5.x."""

    def __init__(self, family: str = "mamba", **changes: Any) -> None:
        super().__init__(family, StateSpaceStep, **changes)
        self.width = self.model.config.conv_kernel

    def empty_cache(self, batch: int) -> Any:
        try:
            cls = mamba_class()
        except Absent:
            return cache_utils.DynamicCache(config=self.model.config)
        names = inspect.signature(cls).parameters
        size = {"max_batch_size" if "max_batch_size" in names else "batch_size": batch}
        return cls(self.model.config, **size, dtype=torch.float32, device="cpu")

    def prefill(self, length: int, batch: int = 1) -> Inputs:
        # Mamba tells a prefill from a decode step by how many positions it is given.
        return token_ids(batch, length), torch.arange(self.width), self.empty_cache(batch)

    def prefill_shapes(self, inputs: Inputs) -> Any:
        return {1: DYNAMIC}, {}, self.cache_shapes(inputs[-1])


def _encoded(batch: int, length: int) -> torch.Tensor:
    return torch.randn(batch, length, WIDTH, generator=torch.Generator().manual_seed(length))


def _has_hybrid_cache() -> bool:
    """Is there one of its own kind? From 4.56.0 on it is a StaticCache by another name, later it is gone."""
    cls = vars(cache_utils).get("HybridCache")
    return cls is not None and not issubclass(cls, cache_utils.StaticCache)
