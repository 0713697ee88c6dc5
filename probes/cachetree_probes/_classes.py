"""The cache and layer classes of the installed release."""

import inspect


def defined_names() -> dict[str, type]:
    """Name to class, for every class that `transformers.cache_utils` itself defines or aliases.

    Looks with `vars`: `getattr(cache_utils, "MambaCache")` of 4.54 and 4.55 makes a new class at
    each access.
    """
    from transformers import cache_utils

    return {
        name: value
        for name, value in vars(cache_utils).items()
        if inspect.isclass(value) and value.__module__ == cache_utils.__name__
    }


def caches() -> dict[str, type]:
    """The cache classes by name, `Cache` first in no particular order."""
    return {name: cls for name, cls in defined_names().items() if name.endswith("Cache")}


def layers() -> dict[str, type]:
    """The classes of a cache's layers by name; none before 4.54."""
    return {name: cls for name, cls in defined_names().items() if "Layer" in name}
