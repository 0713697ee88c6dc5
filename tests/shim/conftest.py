"""All tests here run with cachetree registered, unless a file overrides the fixture."""

from collections.abc import Iterator

import cachetree
import pytest


@pytest.fixture(autouse=True, scope="module")
def registered() -> Iterator[None]:
    with cachetree.registered():
        yield
