"""A model that takes and returns a cache is exported, saved, loaded and called."""

import io

import torch
from transformers.cache_utils import DynamicCache

import cachetree


class Step(torch.nn.Module):
    """Appends `x` to every layer of the cache."""

    def forward(self, x: torch.Tensor, cache: DynamicCache) -> DynamicCache:
        for layer in range(2):
            cache.update(x, x, layer)
        return cache


def filled(length: int) -> DynamicCache:
    return cachetree.dynamic_cache([(torch.ones(1, 2, length, 4), torch.ones(1, 2, length, 4))] * 2)


def test_export_with_a_cache() -> None:
    cachetree.register()
    x = torch.zeros(1, 2, 1, 4)
    shapes = cachetree.dynamic_shapes(filled(3), length=torch.export.Dim.DYNAMIC)
    program = torch.export.export(Step(), (x, filled(3)), dynamic_shapes=({}, shapes))
    program.example_inputs = None  # else torch pickles the cache beside the program
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    cache = torch.export.load(file).module()(x, filled(7))
    assert isinstance(cache, DynamicCache)
    assert [tuple(keys.shape) for keys, _ in cachetree.pairs(cache)] == [(1, 2, 8, 4)] * 2
