"""The answer of `cachetree.status`."""

from __future__ import annotations

from typing import NamedTuple


class Status(NamedTuple):
    """Who registered a class, as the module whose function flattens it; None where nobody did.

    `"cachetree"` is this library. transformers' own registration shows as `"transformers.cache_utils"` (4.50
    to 4.55) or `"transformers.integrations.executorch"`.
    """

    pytree: str | None
    """In `torch.utils._pytree`, which decides for `torch.export`, `vmap`, `tree_map` ..."""
    fx: str | None
    """In `torch.fx._pytree`, which flattens the arguments of an exported program."""
    optree: str | None
    """In optree's registry (namespace `torch`), or in the queue for it."""
    replaced: str | None
    """Whom cachetree replaced in `torch.utils._pytree`; `unregister()` puts it back."""
