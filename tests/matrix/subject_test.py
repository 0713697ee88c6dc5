"""What transformers_test_tests.bzl makes targets of."""


def test_one() -> None:
    assert True
