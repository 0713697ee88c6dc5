"""The public functions. torch and transformers are imported when one is called, not before."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from cachetree._status import Status

if TYPE_CHECKING:
    import torch
    from transformers import PretrainedConfig
    from transformers.cache_utils import DynamicCache, StaticCache


def register(*, replace_native: bool = True) -> None:
    """Makes every cache class of the installed transformers a pytree node.

    In `torch.utils._pytree`, in `torch.fx._pytree`, and in the registry of optree, whether
    `torch.utils._cxx_pytree` was imported before or will be later. Subclasses of a cache that are defined by
    now are registered too (the registries go by the exact class); for one that is defined later call
    `register()` again or `register_class()`. Calling it again is harmless.

    Args:
        replace_native: Replace what transformers itself registered (it does at import in 4.50 to 4.55, keys
            before values), so that all releases behave the same. False leaves such a class as it is.
    """
    from cachetree import _register

    _register.register_all(replace_native)


def unregister() -> None:
    """Withdraws all that cachetree registered and puts back what was there before.

    A class that another library has registered in the meantime, over cachetree, is left to that library.
    """
    from cachetree import _register

    _register.withdraw_all()


def registered(*, replace_native: bool = True) -> AbstractContextManager[None]:
    """Registers within a `with` block, and on leaving it withdraws what the block added.

    Outside the block a cache is what it was. That matters to FSDP, whose hooks wait for every tensor that
    they find in a module's inputs, those of a registered cache included (huggingface/transformers#39795).
    """
    from cachetree import _register

    return _register.registered(replace_native)


def register_class(cls: type, *, leave_out: Iterable[str] = (), replace_native: bool = True) -> type:
    """Registers one cache class: your own, defined after `register()`, or one with attributes of its own.

    Attributes that hold tensors become leaves after those of the layers; plain data (numbers, strings, lists,
    dicts, dtypes, devices, classes) is carried in the context. Anything else must be named in `leave_out`.

    Args:
        cls: The class. Its instances keep their state in `__dict__`.
        leave_out: Attributes that a rebuilt cache need not have.
        replace_native: Replace another registration of `cls`.

    Returns:
        `cls`, so that it can be used as a decorator.

    Raises:
        TypeError: `cls` is no class.
    """
    from cachetree import _register

    _register.register_class(cls, leave_out, replace_native)
    return cls


def register_dynamic_cache() -> None:
    """Registers DynamicCache alone. See `register`."""
    _register_by_name("DynamicCache")


def register_static_cache() -> None:
    """Registers StaticCache alone. See `register`.

    Raises:
        NotImplementedError: transformers has no StaticCache (before 4.38.0).
    """
    _register_by_name("StaticCache")


def register_encoder_decoder_cache() -> None:
    """Registers EncoderDecoderCache and the DynamicCache and StaticCache it is made of. See `register`.

    Raises:
        NotImplementedError: transformers has no EncoderDecoderCache (before 4.43.0).
    """
    _register_by_name("DynamicCache", "StaticCache", "EncoderDecoderCache")


def _register_by_name(*names: str) -> None:
    from transformers import __version__, cache_utils

    from cachetree import _register

    missing = [name for name in names if name not in vars(cache_utils)]
    if missing:
        raise NotImplementedError(f"transformers {__version__} has no {missing[0]}")
    _register.register_classes([vars(cache_utils)[name] for name in names])


def status(cls: type) -> Status:
    """Who registered `cls` in each registry, and whom cachetree replaced.

    Args:
        cls: A cache class, or any other.
    """
    from cachetree import _register

    return _register.status(cls)


def pairs(cache: Any) -> list[tuple[torch.Tensor | None, torch.Tensor | None]]:
    """Keys and values of each layer, on any release, registered or not.

    Args:
        cache: Any cache. Of an EncoderDecoderCache: the layers of self-attention, then of cross-attention.

    Returns:
        For each layer `(keys, values)`, of shape (batch, heads, length, head size) each; of a static layer
        the whole buffer. `(None, None)` for a layer that holds none: unfilled, skipped, linear attention.
    """
    from cachetree import _build

    return _build.pairs(cache)


def dynamic_cache(
    pairs: Iterable[tuple[torch.Tensor | None, torch.Tensor | None]],
    config: PretrainedConfig | None = None,
) -> DynamicCache:
    """A DynamicCache that holds `pairs`.

    Args:
        pairs: `(keys, values)` of each layer, (batch, heads, length, head size); `(None, None)` skips one.
        config: The model's configuration. Releases since 4.56.0 take the kind of each layer from it (sliding
            or full attention); earlier ones know one kind only and do not look at it.
    """
    from cachetree import _build

    return _build.dynamic_cache(list(pairs), config)


def static_cache(
    config: PretrainedConfig,
    batch_size: int,
    max_cache_len: int,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
) -> StaticCache:
    """A StaticCache with its buffers allocated and empty, ready to be an input of `torch.export`.

    The constructor had at least five signatures, and allocates nothing from 4.56.0 on; this is one for all.

    Args:
        config: The model's configuration: number of layers and heads, head size.
        batch_size: Sequences in a batch.
        max_cache_len: Tokens that fit.
        dtype: Of keys and values. float32 by default.
        device: Of keys and values. The CPU by default.

    Returns:
        Buffers of shape (batch, key/value heads, max_cache_len, head size) for each layer (4.38 to 4.40: for
        the one layer that such a cache serves).

    Raises:
        NotImplementedError: transformers has no StaticCache (before 4.38.0).
    """
    from cachetree import _build

    return _build.static_cache(config, batch_size, max_cache_len, dtype, device)


def dynamic_shapes(
    cache: Any,
    *,
    batch: Any = None,
    length: Any = None,
    cross_length: Any = None,
) -> list[Any]:
    """The tree that `torch.export.export(dynamic_shapes=...)` wants for a cache: lists of `{axis: dim}`.

    Args:
        cache: The cache that is given to `torch.export.export`.
        batch: Dimension of the batch axis: a `torch.export.Dim`, `Dim.AUTO`, `Dim.DYNAMIC`, a name, or None.
        length: Dimension of the length of layers that grow. Buffers of static layers and full sliding windows
            have a fixed length.
        cross_length: Of an EncoderDecoderCache: the same for cross-attention. `length` by default.

    Returns:
        One dict per leaf, in leaf order; for an EncoderDecoderCache one list for each of its two caches.
    """
    from cachetree import _shapes

    return _shapes.dynamic_shapes(cache, batch, length, cross_length)
