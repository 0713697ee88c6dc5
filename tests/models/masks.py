"""Masks that an exported program can hold."""

from __future__ import annotations

from transformers import PreTrainedModel

_NAME = "sdpa_without_vmap"


def without_vmap(model: PreTrainedModel) -> None:
    """Makes `model` build its masks for sdpa by broadcasting, where its release has two ways.

    4.53 to 4.57 build masks with `torch.vmap`, and what vmap does inside ends up in the program. It runs,
    also after save and load, but decompositions, `torch.export.unflatten` and the ONNX exporter cannot trace
    it again ("Either your tensor may have escaped from inside a function being vmapped"). Those releases
    have a function for it, made for their own exporter; later ones use no vmap, earlier ones other masks.
    """
    try:
        from transformers.integrations.executorch import (
            sdpa_mask_without_vmap,  # pyright: ignore[reportAttributeAccessIssue]
        )
    except ImportError:  # there is one way
        return
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    ALL_MASK_ATTENTION_FUNCTIONS.register(_NAME, sdpa_mask_without_vmap)
    ALL_ATTENTION_FUNCTIONS.register(_NAME, ALL_ATTENTION_FUNCTIONS["sdpa"])
    model.config._attn_implementation = _NAME
