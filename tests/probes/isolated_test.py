"""A probe never takes the run down with it. Needs neither torch nor transformers."""

import os
import signal
import time

import pytest

from cachetree_probes._errors import Absent, first_line
from cachetree_probes._isolated import isolated
from cachetree_probes._probe import Group, Probe


def fail(error):
    raise error


def test_a_value_comes_back_and_nothing_stays_behind():
    seen = []
    assert isolated(lambda: seen.append(1) or {"a": [1, None]}, 10) == {"a": [1, None]}
    assert seen == []


def test_a_long_value_comes_back_whole():
    assert isolated(lambda: "x" * 300_000, 10) == "x" * 300_000


def test_absent_is_none():
    assert isolated(lambda: fail(Absent()), 10) is None


def test_an_exception_is_its_type_and_first_line():
    assert isolated(lambda: fail(ValueError("\n one\ntwo")), 10) == {
        "error": {"type": "ValueError", "message": "one"}
    }


def test_a_crash_names_the_signal():
    assert isolated(lambda: os.kill(os.getpid(), signal.SIGKILL), 10) == {
        "error": {"type": "Crash", "message": "the probe's process was killed by SIGKILL"}
    }


def test_an_early_exit_is_a_crash():
    assert isolated(lambda: os._exit(3), 10) == {
        "error": {"type": "Crash", "message": "the probe's process ended with 3 and no answer"}
    }


def test_a_hanging_probe_is_stopped():
    assert isolated(lambda: time.sleep(60), 0.2) == {
        "error": {"type": "Timeout", "message": "no answer within 0.2 s"}
    }


def test_what_json_cannot_hold_is_a_crash_not_a_hang():
    assert isolated(object, 10)["error"]["type"] == "Crash"


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("", ""),
        ("<object at 0x7f00aabbccdd>", "<object at 0x…>"),
        ("in /usr/lib/x/site-packages/torch/a.py", "in …/site-packages/torch/a.py"),
        ("x" * 400, "x" * 159 + "…"),
    ],
)
def test_messages_are_the_same_on_every_machine(message, line):
    assert first_line(message) == line


def group(warm=lambda: None):
    inner = Group("a", (Probe("x", lambda: 1), Probe("y", lambda: fail(KeyError("k")))))
    return Group("g", (inner, Probe("b", lambda: 2)), warm)


def test_a_group_nests_its_probes_and_records_failures():
    failed = {"error": {"type": "KeyError", "message": "'k'"}}
    assert group().run() == {"a": {"x": 1, "y": failed}, "b": 2}


def test_a_group_that_cannot_warm_up_says_so_for_every_probe():
    error = {"error": {"type": "ImportError", "message": "x"}}
    assert group(lambda: fail(ImportError("x"))).run() == {"a": {"x": error, "y": error}, "b": error}


def test_a_group_that_the_release_lacks_is_none():
    assert group(lambda: fail(Absent())).run() is None


@pytest.mark.parametrize(
    ("paths", "found"),
    [
        (("g",), {"a": {"x": 1}, "b": 2}),
        (("g.a",), {"a": {"x": 1}}),
        (("g.a.x",), {"a": {"x": 1}}),
        (("g.b", "g.a"), {"a": {"x": 1}, "b": 2}),
        (("g.c",), None),
        (("ga",), None),
    ],
)
def test_parts_of_a_group_can_be_asked_for(paths, found):
    whole = Group("g", (Group("a", (Probe("x", lambda: 1),)), Probe("b", lambda: 2)))
    part = whole.only(paths)
    assert (part and part.run()) == found
