"""Unit tests of releases.bzl: names, order, closures, and what is refused."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")
load(
    "//requirements/private:releases.bzl",
    "check_hub",
    "check_release",
    "closures",
    "hub_name",
    "release_key",
    "requirement_line",
    "wheel_name",
)

def _requirement(name = "six", version = "1.17.0", hashes = ["sha256:a", "sha256:b"], marker = "", via = []):
    return struct(name = name, version = version, hashes = hashes, marker = marker, via = via)

def _order_test_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(env, ["4.9.0", "4.51.0", "5.2.0", "5.10.0"], sorted(["5.10.0", "4.51.0", "5.2.0", "4.9.0"], key = release_key))
    asserts.equals(env, "transformers_4_51_0", hub_name("4.51.0"))
    return unittest.end(env)

def _wheel_name_test_impl(ctx):
    env = unittest.begin(ctx)
    name = wheel_name(_requirement())
    asserts.true(env, name.startswith("whl_six_1_17_0_"))
    asserts.equals(env, name, wheel_name(_requirement(via = ["torch"])))
    for other in [_requirement(version = "1.17.1"), _requirement(hashes = ["sha256:a"]), _requirement(marker = "x")]:
        asserts.true(env, name != wheel_name(other))
    asserts.equals(env, "six==1.17.0 --hash=sha256:a --hash=sha256:b", requirement_line(_requirement()))
    asserts.equals(env, "six==1.17.0 ; x --hash=sha256:a", requirement_line(_requirement(hashes = ["sha256:a"], marker = "x")))
    return unittest.end(env)

def _closures_test_impl(ctx):
    env = unittest.begin(ctx)
    requirements = {
        "a": _requirement("a"),
        "b": _requirement("b", via = ["a", "c"]),
        "c": _requirement("c", via = ["b"]),
        "d": _requirement("d", via = ["not_in_the_lock"]),
    }
    asserts.equals(env, {"a": ["a", "b", "c"], "b": ["b", "c"], "c": ["b", "c"], "d": ["d"]}, closures(requirements))
    return unittest.end(env)

def _refusals_test_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(env, None, check_hub("transformers", [("4.51.0", "//:a"), ("4.52.0", "//:b")]))
    asserts.equals(
        env,
        "two locks for transformers 4.51.0: //:a and //:b.\n  to do:    keep one",
        check_hub("transformers", [("4.51.0", "//:a"), ("4.51.0", "//:b")]),
    )
    asserts.equals(
        env,
        "the hub transformers is empty: there is no lock.\n  to do:    bazel run //requirements:lock -- VERSION",
        check_hub("transformers", []),
    )
    lock = struct(requirements = {"transformers": _requirement("transformers", "4.51.0")})
    asserts.equals(env, None, check_release("//:x", "4.51.0", lock))
    asserts.true(env, check_release("//:x", "4.51.1", lock).startswith("//:x pins transformers==4.51.0.\n  expected: transformers==4.51.1"))
    asserts.true(env, check_release("//:x", "4.51.1", struct(requirements = {})).startswith("//:x pins no transformers.\n"))
    return unittest.end(env)

_order_test = unittest.make(_order_test_impl)
_wheel_name_test = unittest.make(_wheel_name_test_impl)
_closures_test = unittest.make(_closures_test_impl)
_refusals_test = unittest.make(_refusals_test_impl)

def releases_test_suite(name):
    """The tests of releases.bzl.

    Args:
        name: the suite.
    """
    unittest.suite(name, _order_test, _wheel_name_test, _closures_test, _refusals_test)
