"""What the attributes of transformers' caches mean, by name: the only table of knowledge in the shim.

Names, not releases: an attribute is looked at when an object has it. Every other attribute is carried by
what it holds (see `_encode`), so a new release needs a line here only for a name with a special meaning.
"""

from __future__ import annotations

KEYS = frozenset({"keys", "key_cache"})
VALUES = frozenset({"values", "value_cache"})
STATES = frozenset({"conv_states", "ssm_states", "recurrent_states"})
INDEXED = frozenset({"indexer_keys"})

SLOTS = KEYS | VALUES | STATES | INDEXED
"""Attributes that hold the tensors of the layers: a leaf, whatever they hold, unless they are still empty."""

CHILDREN = ("self_attention_cache", "cross_attention_cache")
"""Caches inside an EncoderDecoderCache: nodes of their own in the tree."""

COUNTERS = {"cumulative_length": "keys", "indexer_cumulative_length": "indexer_keys"}
"""0-dimensional tensors that a static layer adds to in place (a leaf from 5.4.0 on; an int before), and whose
tokens they count: while that is not allocated, they are zero and no leaf."""

SEEN = frozenset(
    {
        "seen_tokens",  # 4.36 to 4.38
        "_seen_tokens",  # 4.39 to 4.53
        "cumulative_length",  # int of sliding and chunked layers; a list of ints in HybridChunkedCache
        "cumulative_length_int",  # static sliding layers since 5.4.0
        "seqlen_offset",  # MambaCache of 4.39 to 4.43
        "_previous_number_of_accepted_tokens",  # DFlashCache
    }
)
"""Python numbers that change at every step: carried, but no part of a context's equality."""

GROWTH = frozenset(
    {
        "layer_class_to_replicate",  # since 4.56.0
        "layer_classes",  # these three: 4.54 and 4.55
        "layer_init_kwargs",
        "num_hidden_layers",
    }
)
"""How a cache makes layers that it does not have yet: carried, but no part of a context's equality either."""

FOLLOWERS = {
    "dtype": "dtype",
    "_dtype": "dtype",
    "indexer_dtype": "dtype",
    "device": "device",
    "indexer_device": "device",
    "batch_size": "batch",
    "max_batch_size": "batch",
    "num_heads": "heads",
    "num_key_value_heads": "heads",
    "head_dim": "width",
    "k_head_dim": "width",
    "v_head_dim": "width",
    **dict.fromkeys(SEEN, "length"),
}
"""Attributes that repeat what a leaf knows, and which property of the leaf they repeat."""

_KV_AXES = {"batch": -4, "heads": -3, "length": -2, "width": -1}
AXES = {
    **dict.fromkeys(KEYS | VALUES, _KV_AXES),  # (batch, heads, length, width)
    **{slot: {"batch": -3} for slot in STATES},  # (batch, channels, kernel or state)
    "recurrent_states": {"batch": 0},  # (batch, ...), of any rank
    **{slot: {"batch": -3, "length": -2, "width": -1} for slot in INDEXED},  # (batch, length, width)
}
"""Where a leaf of a slot has its sizes, counted from the end: vmap and stacking add axes in front."""

DERIVED = {"_sliding_window_tensor": "sliding_window"}
"""Tensors that repeat a number kept beside them (since 5.0.0): rebuilt, never leaves."""

FLAGS = frozenset({"is_sliding", "is_sliding_list"})
"""Tensors that Python branches on (HybridCache of 4.42 to 4.50): context, never leaves."""

MODULE_MACHINERY = frozenset({"training", "_buffers", "_modules", "_parameters"})
"""What `torch.nn.Module` keeps and the shim looks at, on releases whose caches are modules (4.44 to 4.49)."""
