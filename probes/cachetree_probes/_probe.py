"""What a probe and a group of probes are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from cachetree_probes._document import Json
from cachetree_probes._isolated import isolated


@dataclass(frozen=True)
class Probe:
    """One question to the installed release.

    Attributes:
        name: Its key in the document.
        measure: Answers it. Runs in a process of its own, so it may register and import freely.
        timeout: Seconds it may take, with much to spare for a busy machine.
    """

    name: str
    measure: Callable[[], Json]
    timeout: float = 600.0

    def run(self) -> Json:
        """The answer, or the error, as a fact."""
        return isolated(self.measure, self.timeout)

    def failed(self, error: Json) -> Json:
        return error


@dataclass(frozen=True)
class Group:
    """Probes that share a key in the document and what they import.

    Attributes:
        name: The group's key in the document.
        parts: Probes and smaller groups; each is forked from one process in which `warm` has run.
        warm: Does what all of them need: imports, a registration.
    """

    name: str
    parts: tuple[Probe | Group, ...]
    warm: Callable[[], None] = lambda: None

    @property
    def timeout(self) -> float:
        """Seconds after which even the slowest parts must have been stopped."""
        return 60.0 + sum(part.timeout for part in self.parts)

    def run(self) -> Json:
        """The answers by name; None when `warm` finds that the release lacks the thing.

        If `warm` fails, its error is the answer of every probe.
        """
        found = isolated(self._measure, self.timeout)
        is_error = isinstance(found, dict) and set(found) == {"error"}
        return self.failed(found) if is_error else found

    def failed(self, error: Json) -> Json:
        return {part.name: part.failed(error) for part in self.parts}

    def only(self, paths: tuple[str, ...]) -> Group | None:
        """The part of this group that lies on or under the dotted paths; None if nothing does."""
        if any(path == self.name for path in paths):
            return self
        head = self.name + "."
        below = tuple(path.removeprefix(head) for path in paths if path.startswith(head))
        parts = tuple(found for part in self.parts if (found := _only(part, below)))
        return replace(self, parts=parts) if parts else None

    def _measure(self) -> Json:
        self.warm()
        return {part.name: part.run() for part in self.parts}


def _only(part: Probe | Group, paths: tuple[str, ...]) -> Probe | Group | None:
    if isinstance(part, Group):
        return part.only(paths)
    return part if part.name in paths else None
