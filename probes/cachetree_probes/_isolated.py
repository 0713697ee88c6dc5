"""Runs a function in a forked child: what it imports, registers or crashes stays there."""

import contextlib
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable

from cachetree_probes._document import Json
from cachetree_probes._errors import Absent, as_fact, error_fact


def isolated(measure: Callable[[], Json], timeout: float) -> Json:
    """The value of `measure()`, computed in a child process.

    Args:
        measure: Returns something that JSON can hold.
        timeout: Seconds after which the child is killed.

    Returns:
        The value; None if `measure` raised `Absent`; `{"error": {"type", "message"}}` if it raised
        anything else, was killed by a signal ("Crash"), or took too long ("Timeout").
    """
    reader, writer = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _answer(measure, writer)
    os.close(writer)
    try:
        answer = _read(reader, time.monotonic() + timeout)
    finally:
        os.close(reader)
    if answer is None:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if answer is None:
        return error_fact("Timeout", f"no answer within {timeout:g} s")
    if not answer:
        return error_fact("Crash", _ending(status))
    return json.loads(answer)


def value_of(measure: Callable[[], Json]) -> Json:
    """`measure()` in this process, with an exception turned into a fact."""
    try:
        return measure()
    except Absent:
        return None
    except Exception as error:
        return as_fact(error)


def _answer(measure: Callable[[], Json], writer: int) -> None:
    """The child's life: measure, write, leave without running the parent's exit handlers."""
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silence, stream)
    with contextlib.suppress(BaseException):
        data = json.dumps(value_of(measure)).encode()
        while data:
            data = data[os.write(writer, data) :]
    os._exit(0)


def _read(reader: int, deadline: float) -> bytes | None:
    """Everything the child writes, or None when the deadline passes first."""
    chunks: list[bytes] = []
    while (left := deadline - time.monotonic()) > 0:
        if select.select([reader], [], [], left)[0]:
            chunk = os.read(reader, 1 << 16)
            if not chunk:
                return b"".join(chunks)
            chunks.append(chunk)
    return None


def _ending(status: int) -> str:
    if os.WIFSIGNALED(status):
        return f"the probe's process was killed by {signal.Signals(os.WTERMSIG(status)).name}"
    return f"the probe's process ended with {os.WEXITSTATUS(status)} and no answer"
