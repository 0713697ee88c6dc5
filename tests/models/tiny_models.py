"""Tiny models with random weights, the same numbers at every run and on every release."""

from __future__ import annotations

from typing import Any

import torch
import transformers
from caches import WINDOW

VOCABULARY = 32
WIDTH = 16

_DECODER = {
    "vocab_size": VOCABULARY,
    "hidden_size": WIDTH,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
}

_MODELS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "llama": ("LlamaConfig", "LlamaForCausalLM", {**_DECODER, "attn_implementation": "sdpa"}),
    "gemma2": (
        "Gemma2Config",
        "Gemma2ForCausalLM",
        {**_DECODER, "head_dim": 4, "sliding_window": WINDOW, "attn_implementation": "eager"},
    ),
    "t5": (
        "T5Config",
        "T5ForConditionalGeneration",
        {"vocab_size": VOCABULARY, "d_model": WIDTH, "d_kv": 4, "d_ff": 32, "num_layers": 1, "num_heads": 4},
    ),
    "mamba": (
        "MambaConfig",
        "MambaForCausalLM",
        {"vocab_size": VOCABULARY, "hidden_size": WIDTH, "state_size": 4, "num_hidden_layers": 1},
    ),
}


def build(family: str, **changes: Any) -> transformers.PreTrainedModel:
    """A model of `family`, in evaluation mode.

    Args:
        family: `llama`, `gemma2` (layer 0 slides over WINDOW tokens, layer 1 sees all), `t5` or `mamba`.
        **changes: Settings of its configuration that are to differ.

    Raises:
        AttributeError: transformers does not have the family: Mamba before 4.39.0, Gemma 2 before 4.42.0.
    """
    config_name, model_name, settings = _MODELS[family]
    config = getattr(transformers, config_name)(**{**settings, **changes})
    torch.manual_seed(0)
    return getattr(transformers, model_name)(config).eval()


def token_ids(batch: int, length: int) -> torch.Tensor:
    """Token numbers of shape (batch, length), without 0, which some models take for padding."""
    generator = torch.Generator().manual_seed(length)
    return torch.randint(1, VOCABULARY, (batch, length), generator=generator)
