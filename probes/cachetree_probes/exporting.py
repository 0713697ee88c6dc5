"""What `torch.export` makes of a module that takes a cache and returns it."""

import copy
import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cachetree_probes import _caches
from cachetree_probes._attempt import Wrong, attempt
from cachetree_probes._document import Json
from cachetree_probes._errors import Absent
from cachetree_probes.behaviour import is_registered

KINDS = ("DynamicCache", "StaticCache")
MODULES = ("cache", "llama")


@dataclass(frozen=True)
class Case:
    """A module with inputs to trace it, and others to try it on.

    Attributes:
        module: Takes a tensor and a cache, returns (a tensor, the cache).
        traced: Inputs to export with.
        tried: Inputs of the same sizes, with other numbers.
        resized: Inputs of another length.
        dynamic: Which dimension of the first input is dynamic; None if only the cache's length is.
    """

    module: Any
    traced: tuple[Any, Any]
    tried: tuple[Any, Any]
    resized: tuple[Any, Any]
    dynamic: int | None


def measure_if_registered(kind: str, module: str) -> Json:
    """`measure`, where something has registered the class.

    Raises:
        Absent: The class is not registered, or the release does not have it.
    """
    if not is_registered(_caches.cache_class(kind)):
        raise Absent
    return measure(kind, module)


def measure(kind: str, module: str) -> Json:
    """Exports with static and with dynamic length, runs, saves and loads.

    A DynamicCache is exported for any number of cached tokens, a StaticCache for any number of new
    ones: its own size never changes.

    Raises:
        Absent: The release does not have the class.
    """
    case = _case(kind, module)
    _expected(case, case.resized)  # what does not run without export says nothing about export
    program: list[Any] = []
    static = attempt(lambda: program.append(_static(case)))
    return {
        "static": static,
        "dynamic": attempt(lambda: _dynamic(case)),
        "save": attempt(lambda: _save(case, program[0])) if program else static,
    }


def _static(case: Case) -> Any:
    program = _export(case, None)
    _compare(case, program.module(), case.tried)
    return program


def _dynamic(case: Case) -> None:
    import torch

    first = {} if case.dynamic is None else {case.dynamic: torch.export.Dim.DYNAMIC}
    cache = _length_shapes(case.traced[1]) if case.dynamic is None else _no_shapes(case.traced[1])
    program = _export(case, (first, cache))
    _compare(case, program.module(), case.tried)
    _compare(case, program.module(), case.resized)


def _save(case: Case, program: Any) -> None:
    import torch

    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    _compare(case, torch.export.load(file).module(), case.tried)


def _export(case: Case, dynamic_shapes: Any) -> Any:
    import torch

    inputs = copy.deepcopy(case.traced)
    return torch.export.export(case.module, inputs, dynamic_shapes=dynamic_shapes, strict=False)


def _expected(case: Case, inputs: tuple[Any, Any]) -> tuple[Any, Any]:
    import torch

    with torch.no_grad():
        return case.module(*copy.deepcopy(inputs))


def _compare(case: Case, exported: Callable[..., Any], inputs: tuple[Any, Any]) -> None:
    """The program gives what the module gives, for inputs that it was not traced with."""
    import torch

    number, cache = exported(*copy.deepcopy(inputs))
    right_number, right_cache = _expected(case, inputs)
    if found := _caches.difference(cache, right_cache):
        raise Wrong(f"exported, but the returned cache is wrong: {found}")
    if type(number) is not type(right_number):
        raise Wrong(f"exported, but it gives a {type(number).__name__}")
    if not torch.allclose(number, right_number, atol=1e-4):
        raise Wrong("exported, but it gives other numbers than the module")


def _length_shapes(node: Any) -> Any:
    """`dynamic_shapes` for a registered cache, with the length (dim 2) of every tensor dynamic."""
    import torch

    return _shapes(node, lambda _: {2: torch.export.Dim.DYNAMIC})


def _no_shapes(node: Any) -> Any:
    return _shapes(node, lambda _: {})


def _shapes(node: Any, of_tensor: Callable[[Any], Any]) -> Any:
    """The tree that `torch.export` wants: the registered children, one level at a time."""
    import torch
    from torch.utils import _pytree

    if isinstance(node, torch.Tensor):
        return of_tensor(node)
    if isinstance(node, dict):
        return {key: _shapes(value, of_tensor) for key, value in node.items()}
    if isinstance(node, (list, tuple)):
        return type(node)(_shapes(child, of_tensor) for child in node)
    registered = _pytree.SUPPORTED_NODES.get(type(node))
    if registered is None:
        return None
    return _shapes(list(registered.flatten_fn(node)[0]), of_tensor)


def _case(kind: str, module: str) -> Case:
    is_static = kind == "StaticCache"
    size = 2 if is_static else 1
    first = _first_input(module)
    if module == "llama":
        built = _model_module(_caches.llama(), is_static)
    else:
        built = _cache_module(_caches.layer_count(_caches.new(kind)))
    return Case(
        built,
        (first(size, 1), _caches.filled(kind, 3, 1.0)),
        (first(size, 2), _caches.filled(kind, 3, 2.0)),
        (first(size + is_static, 3), _caches.filled(kind, 3 if is_static else 5, 3.0)),
        (1 if module == "llama" else 2) if is_static else None,
    )


def _first_input(module: str) -> Callable[[int, int], Any]:
    import torch

    if module == "llama":
        return lambda size, seed: torch.arange(size).reshape(1, size) + seed
    return lambda size, seed: _caches.states(9, 0, size, float(seed))


def _cache_module(layers: int) -> Any:
    """Appends its input to every layer; no model around it."""
    import torch

    class AppendToCache(torch.nn.Module):
        def forward(self, x: Any, cache: Any) -> Any:
            total = torch.zeros(())
            for layer in range(layers):
                keys, values = _caches.update(cache, x, x + 1, layer, 3)
                total = total + keys.sum() + 2 * values.sum()
            return total, cache

    return AppendToCache()


def _model_module(model: Any, is_static: bool) -> Any:
    """One step of a tiny Llama that continues the cache."""
    import torch

    class Step(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, tokens: Any, cache: Any) -> Any:
            more = {}
            if is_static:
                more["cache_position"] = torch.arange(tokens.shape[1]) + 3
            # The cache is changed in place; 4.38 to 4.41 return it as tuples.
            return self.model(tokens, past_key_values=cache, use_cache=True, **more).logits, cache

    return Step().eval()
