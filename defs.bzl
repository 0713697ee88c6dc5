"""Public macros and rules.

```starlark
load("@cachetree//:defs.bzl", "transformers_test")
load("@transformers//:defs.bzl", "hub")

transformers_test(
    name = "export_test",
    srcs = ["export_test.py"],
    hub = hub,
    deps = ["@cachetree//shim"],
)
```
"""

load("//tests/private:transformers_test.bzl", _transformers_test = "transformers_test")

transformers_test = _transformers_test
