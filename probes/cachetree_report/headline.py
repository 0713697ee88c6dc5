"""The report's sentence, and its line on the public table: both derived from the facts."""

from collections.abc import Sequence

from cachetree_report.cells import State, look
from cachetree_report.columns import classes_of, registered
from cachetree_report.releases import Release, in_words


def headline(cls: str, releases: Sequence[Release]) -> str:
    """Where the reader has to register `cls`, in words."""
    measured = [one for one in releases if one.document and cls in classes_of(one.document["facts"])]
    versions = [release.version for release in measured]
    answers = [registered("at_import")(release.document["facts"], cls) for release in measured]
    by_transformers = [answer.state is State.YES for answer in answers]
    by_you = [answer.state is State.NO for answer in answers]
    if not any(by_transformers) and not any(by_you):
        return f"No release here says whether {cls} is registered."
    if not any(by_transformers):
        return f"Register {cls} yourself: transformers does it at import on no release."
    if not any(by_you):
        return f"transformers registers {cls} itself {in_words(versions, by_transformers)}."
    return (
        f"Register {cls} yourself {in_words(versions, by_you)}."
        f" transformers does it at import {in_words(versions, by_transformers)}."
    )


def on_the_public_table(releases: Sequence[Release]) -> str | None:
    """Why the public table's check says yes everywhere, if the facts say that it does."""
    said = [
        look(release.document["facts"], "classes", "public_check") for release in releases if release.document
    ]
    if not said or not all(isinstance(one, dict) and one and all(one.values()) for one in said):
        return None
    return (
        "The public table (TICO issue 417) asked `_get_node_type(DynamicCache) is not None`."
        " That function takes an instance and answers with its type; of a class it answers"
        " `type`. So it says yes on every release, and of a class nobody registered too."
    )
