"""Public module extensions: the Python toolchain and the pip hubs.

```starlark
python = use_extension("@cachetree//:extensions.bzl", "python")
use_repo(python, "python_3_11")
register_toolchains("@python_3_11//:all")

hubs = use_extension("@cachetree//:extensions.bzl", "hubs")
hubs.transformers(versions = ["4.49.0", "5.0.0"])
use_repo(hubs, "transformers")
```
"""

load("//python/private:extension.bzl", _python = "python")
load("//requirements/private:extension.bzl", _hubs = "hubs")

hubs = _hubs
python = _python
