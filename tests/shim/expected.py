"""What differs from release to release, as data: each line says from when to when, and why.

A test that looks something up here fails when the release does what the line says it does not.
"""

from __future__ import annotations

from typing import NamedTuple

from caches import VERSION


class Span(NamedTuple):
    """Releases from `first` on, up to and with `last`."""

    first: str = "4.36.0"
    last: str = "99"
    why: str = ""

    def holds(self) -> bool:
        return _parse(self.first) <= VERSION and (_parse(self.last) >= VERSION or self.last == "99")


def _parse(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def any_holds(spans: tuple[Span, ...]) -> bool:
    return any(span.holds() for span in spans)


ALWAYS = (Span(),)
SLIDING_LAYERS = (Span("4.56.0", why="DynamicSlidingWindowLayer came"),)
LINEAR_LAYERS = (Span("5.5.0", why="LinearAttentionLayer came"),)

PRESENT: dict[str, tuple[Span, ...]] = {
    "dynamic": ALWAYS,
    "dynamic_empty": ALWAYS,
    "dynamic_batch": ALWAYS,
    "dynamic_with_skipped_layer": (Span("4.46.0", why="update() fills the layers before with placeholders"),),
    "dynamic_subclass": ALWAYS,
    "dynamic_unfilled_layers": SLIDING_LAYERS,
    "dynamic_made_ready": SLIDING_LAYERS,
    "sliding": SLIDING_LAYERS,
    "sliding_not_full": SLIDING_LAYERS,
    "static": (Span("4.38.0", why="StaticCache came"),),
    "static_batch": (Span("4.38.0"),),
    "static_unfilled": (Span("4.38.0"),),
    "static_sliding": SLIDING_LAYERS,
    "sliding_window_cache": (
        Span("4.42.0", "4.43.4"),
        Span("4.46.0", "4.57.6", "its constructor could not be called in 4.44.0 to 4.45.2"),
        Span("5.5.1", why="absent from 5.0.0 on, an alias of StaticCache since"),
    ),
    "hybrid": (Span("4.42.0", "4.57.6"),),
    "hybrid_chunked": (Span("4.51.0", "4.57.6"),),
    "offloaded_static": (),
    "offloaded": (Span("4.44.0", "4.53.3"), Span("4.56.0", "4.57.6", "a processor did it in between")),
    "offloaded_by_processor": (Span("4.54.0", "4.55.4"),),
    "encoder_decoder": (Span("4.43.0", why="EncoderDecoderCache came"),),
    "encoder_decoder_mixed": SLIDING_LAYERS,
    "encoder_decoder_static": (Span("4.43.0"),),
    "encoder_decoder_empty": (Span("4.43.0"),),
    "sink": (Span("4.36.0", "4.52.4", "then a stub, and gone"),),
    "mamba": (Span("4.39.0", "5.4.0", "then Mamba uses a DynamicCache of linear-attention layers"),),
    "linear_attention": LINEAR_LAYERS,
    "linear_attention_unfilled": LINEAR_LAYERS,
    "linear_and_full_attention": LINEAR_LAYERS,
    "linear_and_sliding_attention": (Span("5.13.0"),),
    "linear_and_static_attention": (Span("5.14.0"),),
    "linear_and_static_sliding_attention": (Span("5.14.0"),),
    "indexed": (Span("5.11.0"),),
    "static_indexed": (Span("5.11.0"),),
    "dummy": (Span("5.23.0"),),
    "multi_token_prediction": (Span("5.14.0"),),
    "draft": (Span("5.15.0"),),
}
"""Which kinds of cache (see `caches.py`) a release has."""


def present() -> list[str]:
    """The kinds that this release has, without building any."""
    return [kind for kind, spans in PRESENT.items() if any_holds(spans)]


COUNTED = Span("5.4.0", why="StaticLayer.cumulative_length is a tensor that is added to in place").holds()
ONE_STATIC_LAYER = Span("4.38.0", "4.40.2", "StaticCache is made for one attention layer").holds()
MODULE = Span("4.44.0", "4.49.0", "Cache is a torch.nn.Module").holds()
LAYERED = Span("4.54.0", why="a cache is a list of layer objects").holds()
NATIVE = Span("4.50.0", "4.55.4", "transformers registers DynamicCache at import").holds()
NATIVE_FX_FAILS = Span(
    "4.50.0", "4.52.4", "its flatten spec is wrong: huggingface/transformers#37880"
).holds()

_PAIRS = ["keys_0", "values_0", "keys_1", "values_1"]
_COUNTERS = ["cumulative_length_0", "cumulative_length_1"] if COUNTED else []
_STATIC = ["keys_0", "values_0"] if ONE_STATIC_LAYER else _PAIRS + _COUNTERS
_STATES = ["conv_states_0", "recurrent_states_0"]
_LINEAR_AND = [*_PAIRS[:2], *_STATES, *_PAIRS[2:]]


def _both(self_attention: list[str], cross_attention: list[str]) -> list[str]:
    return [f"self_attention_cache.{name}" for name in self_attention] + [
        f"cross_attention_cache.{name}" for name in cross_attention
    ]


LEAVES: dict[str, list[str]] = {
    "dynamic": _PAIRS,
    "dynamic_empty": [],
    "dynamic_batch": _PAIRS,
    "dynamic_with_skipped_layer": _PAIRS[2:],
    "dynamic_subclass": _PAIRS,
    "dynamic_unfilled_layers": [],
    "dynamic_made_ready": [],
    "sliding": _PAIRS,
    "sliding_not_full": _PAIRS,
    "static": _STATIC,
    "static_batch": _STATIC,
    "static_unfilled": [] if Span("4.56.0", why="lazy").holds() else _STATIC,
    "static_sliding": _STATIC,
    "sliding_window_cache": _STATIC,
    "hybrid": _STATIC,
    "hybrid_chunked": _STATIC,
    "offloaded": _PAIRS,
    "offloaded_by_processor": _PAIRS,
    "encoder_decoder": _both(_PAIRS, _PAIRS),
    "encoder_decoder_mixed": _both(_PAIRS, _PAIRS),
    "encoder_decoder_static": _both(_STATIC, _STATIC),
    "encoder_decoder_empty": [],
    "sink": [
        *_PAIRS,
        *(
            ["cos_sin_cache_1_0", "cos_sin_cache_1_1"]
            if Span("4.36.0", "4.40.2").holds()
            else [f"cos_sin_rerotation_cache_1_{i}" for i in (0, 1)] + ["_cos_cache", "_sin_cache"]
        ),
    ],
    "mamba": (
        ["conv_states_0", "ssm_states_0"]
        if Span("4.43.0", "4.48.3", "all layers in one tensor").holds()
        else ["conv_states_0", "ssm_states_0", "conv_states_1", "ssm_states_1"]
    ),
    "linear_attention": [*_STATES, *_PAIRS[2:]],
    "linear_attention_unfilled": [],
    "linear_and_full_attention": _LINEAR_AND,
    "linear_and_sliding_attention": _LINEAR_AND,
    "linear_and_static_attention": _LINEAR_AND + _COUNTERS,
    "linear_and_static_sliding_attention": _LINEAR_AND + _COUNTERS,
    "indexed": ["keys_0", "values_0", "indexer_keys_0", "keys_1", "values_1"],
    "static_indexed": [
        *["keys_0", "values_0", "indexer_keys_0", "keys_1", "values_1"],
        *["cumulative_length_0", "indexer_cumulative_length_0", "cumulative_length_1"],
    ],
    "dummy": _PAIRS[:2],
    "multi_token_prediction": _PAIRS,
    "draft": _PAIRS,
}
"""The key paths of the leaves of each kind, in order."""

NEEDS_ACCELERATOR = {
    kind
    for kind in ("offloaded", "offloaded_by_processor")
    if Span("4.36.0", "4.55.4", "update() waits for a stream").holds()
}
"""Caches that cannot be updated without an accelerator, and so not be exported here either."""

MODEL_OUTPUT_CANNOT_BE_SAVED = Span(
    "4.36.0", "4.37.2", "ModelOutput is registered without a serialized name"
).holds()

STRICT = ["dynamic", "sliding", "static", "hybrid", "sliding_window_cache", "encoder_decoder"]
"""Strict export costs a second each; these have all that Dynamo meets in the others."""

BATCH_IS_BAKED_IN = Span(
    "4.45.0", "4.50.3", "update() asks for `len(self.key_cache[layer_idx])`, a Python int"
).holds()
"""By non-strict export; Dynamo keeps such a length symbolic."""
