"""Measures what the installed transformers does with its KV caches.

    >>> import cachetree_probes
    >>> document = cachetree_probes.collect()
    >>> document["facts"]["registration"]["at_import"]["torch.utils._pytree"]
    ['DynamicCache']

`python -m cachetree_probes` prints the same document as JSON, in any environment that has torch and
transformers. Importing this package imports neither of them.
"""

from cachetree_probes._collect import collect as collect
from cachetree_probes._collect import group_names as group_names
from cachetree_probes._document import SCHEMA_VERSION as SCHEMA_VERSION
from cachetree_probes._document import dumps as dumps

__all__ = ["SCHEMA_VERSION", "collect", "dumps", "group_names"]
