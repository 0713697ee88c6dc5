"""transformers' key/value caches as PyTorch pytrees, on every transformers release since 4.36.0.

    import cachetree

    cachetree.register()

Importing this package imports neither torch nor transformers, and registers nothing.
"""

from cachetree._api import dynamic_cache as dynamic_cache
from cachetree._api import dynamic_shapes as dynamic_shapes
from cachetree._api import pairs as pairs
from cachetree._api import register as register
from cachetree._api import register_class as register_class
from cachetree._api import register_dynamic_cache as register_dynamic_cache
from cachetree._api import register_encoder_decoder_cache as register_encoder_decoder_cache
from cachetree._api import register_static_cache as register_static_cache
from cachetree._api import registered as registered
from cachetree._api import static_cache as static_cache
from cachetree._api import status as status
from cachetree._api import unregister as unregister
from cachetree._status import Status as Status

__version__ = "0.1.0"

__all__ = [
    "Status",
    "__version__",
    "dynamic_cache",
    "dynamic_shapes",
    "pairs",
    "register",
    "register_class",
    "register_dynamic_cache",
    "register_encoder_decoder_cache",
    "register_static_cache",
    "registered",
    "static_cache",
    "status",
    "unregister",
]
