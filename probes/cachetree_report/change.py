"""One change, and how much it matters."""

from dataclasses import dataclass
from enum import IntEnum


class Weight(IntEnum):
    """How much a change matters to someone who exports a model with a cache."""

    REGISTRATION = 0
    ABILITY = 1
    LEAVES = 2
    LAYOUT = 3
    CLASSES = 4
    CALLS = 5
    DETAIL = 6


@dataclass(frozen=True)
class Change:
    """One difference between two releases.

    Attributes:
        weight: What kind it is; the most important kinds come first.
        of: The classes that it is about, or another short subject.
        what: What changed, as the rest of the sentence.
        means: What it means for someone who exports; empty if that is plain.
    """

    weight: Weight
    of: str
    what: str
    means: str = ""

    @property
    def sentence(self) -> str:
        """Subject and change in a line."""
        return f"{self.of}: {self.what}"
