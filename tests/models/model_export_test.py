"""torch.export of a prefill step and a decode step of tiny models, their cache among inputs and outputs."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import pytest
import torch
from model_steps import OwnMasksStep
from outcomes import outcome
from same import assert_same
from subjects import (
    DYNAMIC,
    Decoder,
    EncoderDecoder,
    Inputs,
    StateSpace,
    StaticDecoder,
    StaticEncoderDecoder,
    Subject,
)


class Case(NamedTuple):
    """A step that is traced after `traced` tokens and run after each of `others`."""

    subject: Callable[[], Subject]
    step: str
    traced: int
    others: tuple[int, ...]
    dynamic: bool = True
    strict: bool = False
    batches: tuple[int, int] = (1, 1)
    """Sequences in the traced batch and in the others."""
    saved: bool = False
    """Is it saved and loaded too?"""
    strict_alone: bool = False
    """Is the cache alone exported strictly? (`update` too asks for the batch size on 4.46 to 4.50.)"""

    def inputs(self, subject: Subject, length: int, batch: int = 1) -> Inputs:
        return subject.decode(length, batch) if self.step == "decode" else subject.prefill(length, batch)

    def shapes(self, subject: Subject, inputs: Inputs) -> Any:
        if not self.dynamic:
            return None
        if self.step == "prefill":
            return subject.prefill_shapes(inputs)
        if self.batches == (1, 1):
            return subject.decode_shapes(inputs)
        _, *rest = subject.decode_shapes(inputs, batch=DYNAMIC)
        return {0: DYNAMIC}, *rest


LLAMA = partial(Decoder, "llama")
STATIC_LLAMA = partial(StaticDecoder, "llama")
ONE_LAYER = partial(LLAMA, num_hidden_layers=1)
STATIC_ONE_LAYER = partial(STATIC_LLAMA, num_hidden_layers=1)
WITHOUT_SDPA = partial(ONE_LAYER, attn_implementation="eager")
GEMMA2 = partial(Decoder, "gemma2")
STATIC_GEMMA2 = partial(StaticDecoder, "gemma2")

CASES = {
    "llama-dynamic-prefill": Case(ONE_LAYER, "prefill", 5, (3, 7)),
    "llama-dynamic-prefill-eager": Case(WITHOUT_SDPA, "prefill", 5, (3, 7)),
    "llama-dynamic-decode": Case(LLAMA, "decode", 5, (3, 7), saved=True),
    "llama-dynamic-decode-fixed": Case(ONE_LAYER, "decode", 5, (5,), dynamic=False),
    "llama-dynamic-decode-batch": Case(ONE_LAYER, "decode", 5, (3,), batches=(2, 3), strict_alone=True),
    "llama-dynamic-decode-batch-strict": Case(ONE_LAYER, "decode", 5, (3,), batches=(2, 3), strict=True),
    "llama-static-prefill": Case(STATIC_ONE_LAYER, "prefill", 5, (3, 7)),
    "llama-static-decode": Case(STATIC_LLAMA, "decode", 5, (3, 6), saved=True),
    "llama-static-decode-strict": Case(STATIC_ONE_LAYER, "decode", 5, (3, 6), strict=True),
    "gemma2-dynamic-prefill": Case(GEMMA2, "prefill", 5, (6, 7)),
    "gemma2-dynamic-decode": Case(GEMMA2, "decode", 5, (6, 7), saved=True),
    "gemma2-dynamic-decode-own-masks": Case(partial(GEMMA2, step=OwnMasksStep), "decode", 5, (6,)),
    "gemma2-static-prefill": Case(STATIC_GEMMA2, "prefill", 5, (6, 7)),
    "gemma2-static-decode": Case(STATIC_GEMMA2, "decode", 5, (6,)),
    "t5-dynamic-prefill": Case(EncoderDecoder, "prefill", 5, (3, 7)),
    "t5-dynamic-decode": Case(EncoderDecoder, "decode", 5, (3, 7), saved=True),
    "t5-static-prefill": Case(StaticEncoderDecoder, "prefill", 5, (3, 7)),
    "t5-static-decode": Case(StaticEncoderDecoder, "decode", 5, (3, 6)),
    "mamba-states-prefill": Case(StateSpace, "prefill", 5, (5,), dynamic=False),
    "mamba-states-prefill-dynamic": Case(StateSpace, "prefill", 5, (7,)),
    "mamba-states-decode": Case(StateSpace, "decode", 5, (3, 7), saved=True),
}


@pytest.mark.parametrize("name", CASES)
def test_export(name: str) -> None:
    case = CASES[name]
    with outcome(name, "absent") as absent:
        subject = case.subject()
        subject.empty_cache(1)
    if absent:
        return
    with outcome(name, "eager") as unable:
        subject.step(*case.inputs(subject, case.traced))
    if unable:
        check_without_model(case, subject)
        return
    with outcome(name, "export") as refused:
        check(case, subject)
    if refused:
        check_without_model(case, subject)


def check_without_model(case: Case, subject: Subject) -> None:
    subject.leave_out_model()
    check(case._replace(strict=case.strict or case.strict_alone), subject)


def check(case: Case, subject: Subject) -> None:
    """The exported step and its saved copy give what eager gives, also from the cache they gave before."""
    traced_batch, batch = case.batches
    inputs = case.inputs(subject, case.traced, traced_batch)
    shapes = case.shapes(subject, inputs)
    program = torch.export.export(subject.step, inputs, dynamic_shapes=shapes, strict=case.strict)
    run = program.module()
    steps = [partial(case.inputs, subject, length, batch) for length in case.others]
    for fresh in steps:
        got, wanted = run(*fresh()), subject.step(*fresh())
        assert_same(got, wanted)
        if case.step == "decode" and case.dynamic:
            assert_same(run(*following(fresh(), got)), subject.step(*following(fresh(), wanted)))
    if case.saved:
        assert_same(saved_and_loaded(program).module()(*steps[0]()), subject.step(*steps[0]()))


def following(inputs: Inputs, outputs: Any) -> Inputs:
    """Inputs of the step after, with the cache that came back."""
    tokens, position, *between, _ = inputs
    return tokens, position + 1, *between, outputs[1]


def saved_and_loaded(program: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    return torch.export.load(file)
