"""vmap, grad, jit.trace, torch.compile, optree, DDP and FSDP's hooks with caches going in and out."""

import tempfile
from typing import Any

import caches
import expected
import pytest
import torch
import torch.fx._pytree as fx_pytree
import torch.utils._pytree as pytree
from caches import KINDS, DynamicCache, fill, token
from modules import Step

import cachetree

POSITION = torch.tensor([3])


def stacked(cache: Any) -> Any:
    """Three caches in one, along a new first axis."""
    return pytree.tree_map(lambda leaf: torch.stack([leaf, leaf + 1, leaf + 2]), cache)


@pytest.mark.parametrize(
    "kind", [k for k in ("dynamic", "sliding", "encoder_decoder") if k in expected.present()]
)
def test_vmap_maps_over_caches(kind: str) -> None:
    """pytorch/pytorch#175521: vmap fills a spec with ints and flattens what it gets."""
    xs = torch.stack([token(i) for i in range(3)])
    totals, mapped = torch.vmap(lambda x, cache: Step()(x, POSITION, cache))(xs, stacked(KINDS[kind]()))
    for i in range(3):
        want, cache = Step()(xs[i], POSITION, pytree.tree_map(lambda leaf, i=i: leaf + i, KINDS[kind]()))
        assert torch.allclose(totals[i], want)
        one = pytree.tree_map(lambda leaf, i=i: leaf[i], mapped)
        assert [t.tolist() for t in caches.tensors(one)] == [t.tolist() for t in caches.tensors(cache)]


def test_in_dims_and_out_dims_may_be_caches() -> None:
    cache = KINDS["dynamic"]()
    for fill_in, x_dim in ((0, 0), (None, 0)):
        dims = pytree.tree_map(lambda _, d=fill_in: d, cache)
        given = stacked(cache) if fill_in == 0 else cache
        xs = torch.stack([token(i) for i in range(3)])
        total = torch.vmap(lambda x, c: Step()(x, POSITION, c)[0], in_dims=(x_dim, dims))(xs, given)
        assert total.shape == (3,)


def test_grad_is_a_cache_of_gradients() -> None:
    def loss(cache: Any) -> torch.Tensor:
        keys, values = caches.tensors(cache)[::2], caches.tensors(cache)[1::2]
        return torch.stack([2 * k.sum() + 3 * v.sum() for k, v in zip(keys, values, strict=True)]).sum()

    gradients = torch.func.grad(loss)(KINDS["dynamic"]())
    assert type(gradients) is DynamicCache
    assert [float(t.mean()) for t in caches.tensors(gradients)] == [2.0, 3.0, 2.0, 3.0]


def test_gradients_flow_through_a_rebuilt_cache() -> None:
    """huggingface/huggingface-llama-recipes#33: a prompt's cache, copied to be used again."""
    start = token(1, length=3).requires_grad_()
    cache = DynamicCache()
    cache.update(start * 2, start * 3, 0)
    copied = pytree.tree_map(lambda leaf: leaf.detach().clone(), cache)
    caches.feed(copied, 0)
    assert (cache.get_seq_length(), copied.get_seq_length()) == (3, 4)
    assert not caches.tensors(copied)[0].requires_grad
    rebuilt = pytree.tree_map(lambda leaf: leaf, cache)
    torch.stack([t.sum() for t in caches.tensors(rebuilt)]).sum().backward()
    assert start.grad is not None
    assert torch.equal(start.grad, torch.full_like(start, 5.0))


def test_jit_trace_takes_the_leaves() -> None:
    leaves, spec = pytree.tree_flatten(KINDS["dynamic"]())

    def flat(x: torch.Tensor, *given: torch.Tensor) -> tuple[torch.Tensor, ...]:
        total, cache = Step()(x, POSITION, pytree.tree_unflatten(list(given), spec))
        return total, *pytree.tree_leaves(cache)

    traced: Any = torch.jit.trace(flat, (token(3), *leaves), check_trace=False)
    other = pytree.tree_leaves(fill(DynamicCache(), 3, seed=30))
    got, want = traced(token(3), *other), flat(token(3), *other)
    assert all(torch.equal(a, b) for a, b in zip(got, want, strict=True))


def test_make_fx_traces_with_symbolic_sizes() -> None:
    """Caches are rebuilt before the tracer knows their sizes: a count must not be a size nobody traces."""
    from torch.fx.experimental.proxy_tensor import make_fx

    graph = make_fx(Step(), tracing_mode="symbolic")(token(3), POSITION, KINDS["dynamic"]())
    got, want = (f(token(3), POSITION, fill(DynamicCache(), 3, seed=30)) for f in (graph, Step()))
    assert torch.equal(got[0], want[0])
    assert caches.picture(got[1]) == caches.picture(want[1])


def test_compile_passes_caches_through() -> None:
    def doubled(x: torch.Tensor, cache: Any) -> Any:
        return x + 1, pytree.tree_map(lambda leaf: leaf * 2, cache)

    compiled = torch.compile(doubled, backend="eager", fullgraph=True)
    for length in (3, 5):
        cache = fill(DynamicCache(), length)
        got, want = compiled(token(1), cache)[1], doubled(token(1), cache)[1]
        assert caches.picture(got) == caches.picture(want)


def test_fx_optree_and_python_agree() -> None:
    import torch.utils._cxx_pytree as cxx

    for kind in expected.present():
        cache = KINDS[kind]()
        leaves, spec = pytree.tree_flatten((cache,))
        for flat in (fx_pytree.tree_flatten_spec((cache,), spec), cxx.tree_leaves(cache)):
            assert [id(leaf) for leaf in flat] == [id(leaf) for leaf in leaves]
        assert caches.picture(cxx.tree_map(lambda leaf: leaf, cache)) == caches.picture(cache)
        cxx_spec = cxx.tree_structure(cache)
        assert cxx_spec == cxx.tree_structure(KINDS[kind]())
        assert cxx.treespec_loads(cxx.treespec_dumps(cxx_spec)) == cxx_spec


def test_a_cache_is_flattened_by_a_spec_only_if_it_fits() -> None:
    spec = pytree.tree_structure(KINDS["dynamic"]())
    with pytest.raises(ValueError, match="with other layers than the one given"):
        fx_pytree.tree_flatten_spec(fill(DynamicCache(), 3, layers=1), spec)
    fits = fx_pytree.SUPPORTED_NODES_EXACT_MATCH[DynamicCache]
    assert fits is not None
    assert [fits(fill(DynamicCache(), 3, layers=n), spec) for n in (1, 2)] == [False, True]


class Growing(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(caches.WIDTH, caches.WIDTH)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, Any]:
        cache = DynamicCache()
        for layer in range(caches.LAYERS):
            x = self.linear(x)
            cache.update(x, x + 1, layer)
        return x, cache


def test_ddp_returns_the_cache() -> None:
    """huggingface/transformers#36373: DDP takes the outputs apart and puts them together again."""
    import torch.distributed as dist

    with tempfile.TemporaryDirectory() as folder:
        dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=0, world_size=1)
        try:
            module = Growing()
            wrapped = torch.nn.parallel.DistributedDataParallel(module, find_unused_parameters=True)
            x = token(1, length=3)
            (h, cache), (want_h, want) = wrapped(x), module(x)
            assert torch.equal(h, want_h)
            assert caches.picture(cache) == caches.picture(want)
            torch.stack([t.sum() for t in caches.tensors(cache)]).sum().backward()
            assert module.linear.weight.grad is not None
        finally:
            dist.destroy_process_group()


def tensors_fsdp_waits_for(monkeypatch: pytest.MonkeyPatch) -> int:
    """What FSDP's reshard hook of a frozen layer finds in the layer's inputs."""
    from torch.distributed.fsdp import _runtime_utils

    fsdp: Any = _runtime_utils

    class Frozen:
        flat_param = torch.nn.Parameter(torch.zeros(1), requires_grad=False)

    found: list[int] = []
    monkeypatch.setattr(fsdp, "register_multi_grad_hook", lambda tensors, _: found.append(len(tensors)))
    h = token(1).requires_grad_()
    cache = DynamicCache()
    for layer in range(caches.LAYERS):
        cache.update(h * 2, h * 3, layer)
    fsdp._register_post_backward_reshard_only_hook(None, Frozen(), (h + 1,), {"past_key_values": cache})
    return found[0]


def test_outside_the_scope_fsdp_sees_what_it_saw_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """huggingface/transformers#39795: with a registered cache it waits for every earlier layer's tensors."""
    assert tensors_fsdp_waits_for(monkeypatch) == 5
    cachetree.unregister()
    try:
        assert tensors_fsdp_waits_for(monkeypatch) == (5 if expected.NATIVE else 1)
    finally:
        cachetree.register()
