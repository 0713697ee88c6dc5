"""What a cache can do, under each way of registering it: the names the facts use, and their words."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Setting:
    """A way of registering.

    Attributes:
        key: Its name in the facts and in column names.
        title: Whose call it is, for a heading.
        short: The same in a word or two.
        call: What the user calls; empty where nothing is called.
    """

    key: str
    title: str
    short: str
    call: str


@dataclass(frozen=True)
class Capability:
    """Something a user wants to do with a cache.

    Attributes:
        key: Its name in column names.
        title: Four letters or so, for a heading.
        fact: Where the facts of a class and a setting hold the outcome.
        meaning: What a yes says.
        needs: The layer class without which there is nothing to ask; only DynamicCache is asked.
    """

    key: str
    title: str
    fact: tuple[str, str]
    meaning: str
    needs: str = ""


SLIDING = "DynamicSlidingWindowLayer"

SETTINGS = (
    Setting("import", "nothing called", "nothing called", ""),
    Setting("helper", "transformers' helper", "helper", "register_dynamic_cache_export_support()"),
    Setting("exporters", "transformers.exporters", "exporters", "register_cache_pytrees_for_model(model)"),
    Setting("cachetree", "cachetree", "cachetree", "cachetree.register()"),
)

CAPABILITIES = (
    Capability("trip", "trip", ("pytree", "round_trip"), "flattened and built again, it is equal"),
    Capability("spec", "spec", ("pytree", "spec_json"), "its treespec survives JSON"),
    Capability("map", "map", ("pytree", "tree_map"), "any object may stand where a tensor was"),
    Capability("empty", "empty", ("pytree", "empty"), "an empty cache makes the round trip too"),
    Capability("kinds", "kind", ("pytree", "layers_kept"), "sliding layers stay sliding layers", SLIDING),
    Capability(
        "windows", "win", ("pytree", "windows_kept"), "... with their window and count of tokens", SLIDING
    ),
    Capability("export", "exp", ("export_cache", "static"), "torch.export takes and returns it"),
    Capability("dynamic", "dyn", ("export_cache", "dynamic"), "the same with a dynamic length"),
    Capability("save", "save", ("export_cache", "save"), "the program can be saved and loaded"),
    Capability("llama", "llama", ("export_llama", "static"), "torch.export of a tiny Llama with it"),
    Capability("llama-dynamic", "l.dyn", ("export_llama", "dynamic"), "... with a dynamic length"),
    Capability("llama-save", "l.save", ("export_llama", "save"), "... saved and loaded"),
)
