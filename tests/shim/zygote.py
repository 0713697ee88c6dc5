"""Runs functions in processes that have imported torch and transformers, and nothing that a test did since.

Registries are global to a process, so each test of them wants one of its own; importing torch takes seconds,
a fork milliseconds. A test file calls `start()` at its end: the parent of all is forked while pytest
collects, when the file's functions are known and nothing has run yet.
"""

from __future__ import annotations

import multiprocessing
import os
import traceback
from collections.abc import Callable
from typing import Any

import transformers.cache_utils  # noqa: F401

from cachetree._classes import load_mamba

_connection: Any


class Failed(AssertionError):
    """The function raised; the text is its traceback."""


def run(function: Callable[..., Any], *args: Any) -> Any:
    """`function(*args)` in a fresh process. Function, arguments and result must be picklable.

    Raises:
        Failed: The function raised, or its process died.
    """
    _connection.send((function, args))
    fine, result = _connection.recv()
    if not fine:
        raise Failed(result)
    return result


def _serve(connection: Any) -> None:
    while True:
        try:
            function, args = connection.recv()
        except EOFError:
            os._exit(0)
        connection.send(_in_child(function, args))


def _in_child(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[bool, Any]:
    here, there = multiprocessing.Pipe()
    child = os.fork()
    if child == 0:
        try:
            there.send((True, function(*args)))
        except BaseException:
            there.send((False, traceback.format_exc()))
        os._exit(0)
    there.close()
    try:
        return here.recv()
    except EOFError:
        return False, f"the process of {function.__name__}{args} died"
    finally:
        os.waitpid(child, 0)


def start() -> None:
    """Forks the process whose children `run` uses."""
    global _connection
    load_mamba()  # `register` would, and it takes a second
    here, there = multiprocessing.Pipe()
    if os.fork() == 0:
        here.close()
        _serve(there)
    there.close()
    _connection = here
