"""Unit tests of parse_lock: what it reads, and each message for what it cannot read."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")
load("//requirements/private:lock_file.bzl", "lock_version", "normalize", "parse_lock")

_A = "sha256:" + 64 * "a"
_B = "sha256:" + 64 * "b"

def _error(text):
    return parse_lock("locks/x.txt", text).error

def _reads_pip_compile_test_impl(ctx):
    env = unittest.begin(ctx)
    lock = parse_lock("x.txt", """\
# Made by pip-tools
# yanked: broken setup
Typing.Extensions==4.1 \\
    --hash={a} \\
    --hash={b}
    # via
    #   Huggingface-Hub
    #   torch
torch==2.13.0 --hash={b}
    # via -r requirements.in
colorama[x]==0.4.6 ; sys_platform == "win32" \\
    --hash={a}
    # via pytest
""".format(a = _A, b = _B))
    asserts.equals(env, None, lock.error)
    asserts.equals(env, "broken setup", lock.yanked)
    asserts.equals(env, ["typing_extensions", "torch", "colorama"], list(lock.requirements))
    typing = lock.requirements["typing_extensions"]
    asserts.equals(env, "4.1", typing.version)
    asserts.equals(env, [_A, _B], typing.hashes)
    asserts.equals(env, ["huggingface_hub", "torch"], typing.via)
    asserts.equals(env, [], lock.requirements["torch"].via)
    asserts.equals(env, 'sys_platform == "win32"', lock.requirements["colorama"].marker)
    asserts.equals(env, ["pytest"], lock.requirements["colorama"].via)
    return unittest.end(env)

def _names_file_and_line_test_impl(ctx):
    env = unittest.begin(ctx)
    good = "six==1.0 --hash=%s\n" % _A
    asserts.true(env, _error(good + "torch>=2\n").startswith("locks/x.txt:2: not a pinned requirement\n  found:    torch>=2\n"))
    asserts.true(env, _error(good + "\n\n-r other.txt\n").startswith("locks/x.txt:4: not a pinned requirement"))
    asserts.true(env, _error("six==1.*  --hash=%s" % _A).startswith("locks/x.txt:1: not a pinned requirement"))
    asserts.true(env, _error(good + "torch==2.13.0\n").startswith("locks/x.txt:2: torch==2.13.0 has no hash\n"))
    asserts.true(env, _error("six==1.0 --hash=md5:12\n").startswith("locks/x.txt:1: six==1.0 has a hash that is not sha256\n  found:    md5:12\n"))
    asserts.true(env, _error("six==1.0 \\\n").startswith("locks/x.txt:1: the file ends inside a requirement\n"))
    asserts.equals(env, "locks/x.txt:2: six is pinned twice\n  to do:    keep one line", _error(good + "Six==1.1 --hash=%s" % _B))
    asserts.true(env, _error("# nothing\n").startswith("locks/x.txt:1: no requirement\n"))
    return unittest.end(env)

def _names_test_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(env, "typing_extensions", normalize("Typing-.Extensions"))
    asserts.equals(env, "4.51.0", lock_version("transformers_4_51_0.txt"))
    for other in ["transformers_4_51.txt", "transformers_x_1_2.txt", "BUILD.bazel", "tools.txt", "transformers_4_51_0.part"]:
        asserts.equals(env, None, lock_version(other))
    return unittest.end(env)

_reads_pip_compile_test = unittest.make(_reads_pip_compile_test_impl)
_names_file_and_line_test = unittest.make(_names_file_and_line_test_impl)
_names_test = unittest.make(_names_test_impl)

def lock_file_test_suite(name):
    """The tests of lock_file.bzl.

    Args:
        name: the suite.
    """
    unittest.suite(name, _reads_pip_compile_test, _names_file_and_line_test, _names_test)
