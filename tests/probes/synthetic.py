"""Small made-up facts, in the shape that the probes write."""

import json
from pathlib import Path
from typing import Any

ERROR = {"error": {"type": "ValueError", "message": "made up"}}


def document(version: str, *, registered: bool = False, helper: Any = None) -> dict[str, Any]:
    """Facts of a release; `helper` is what is registered after the helper, as the probes say it."""
    names = ["DynamicCache"] if registered else []
    return {
        "schema": 1,
        "transformers": version,
        "torch": "2.13.0",
        "facts": {
            "classes": {
                "caches": ["Cache", "DynamicCache", "StaticCache"],
                "layers": [],
                "aliases": {},
                "public_check": {"DynamicCache": True, "a class nobody registered": True},
            },
            "layout": {
                "DynamicCache": {"kind": "lists"},
                "StaticCache": {"kind": "lists"},
                "has": {"DynamicLayer": False, "DynamicSlidingWindowLayer": False},
            },
            "registration": {
                "at_import": registries(names),
                "after_executorch_import": registries(names),
                "after_executorch_helper": helper,
                "after_cachetree": registries(["DynamicCache", "StaticCache"]),
            },
            "capabilities": {
                "import": {"DynamicCache": abilities(registered)},
                "helper": helper and {"DynamicCache": abilities(True)},
                "cachetree": {"DynamicCache": abilities(True)},
            },
        },
    }


def abilities(works: bool) -> dict[str, Any]:
    """Everything works, or the class is not registered."""
    if not works:
        refused = {"fails": "ValueError: Unsupported input type"}
        exports = {"static": refused, "dynamic": refused, "save": refused}
        return {"pytree": {"leaf_order": ["cache"]}, "export_cache": exports, "export_llama": exports}
    exports = {"static": True, "dynamic": True, "save": True}
    return {
        "pytree": {
            "leaf_order": ["k0", "k1", "v0", "v1"],
            "round_trip": True,
            "spec_json": True,
            "tree_map": True,
            "empty": True,
        },
        "export_cache": exports,
        "export_llama": exports,
    }


def registries(names: list[str]) -> dict[str, list[str]]:
    return dict.fromkeys(("torch.utils._pytree", "torch.fx._pytree", "optree"), names)


def write(folder: Path, *documents: dict[str, Any]) -> list[Path]:
    """One facts file per document, called as the Bazel rule calls them."""
    files = []
    for facts in documents:
        name = facts["transformers"].replace(".", "_")
        files.append(folder / f"facts.transformers_{name}.json")
        files[-1].write_text(json.dumps(facts), encoding="utf-8")
    return files
