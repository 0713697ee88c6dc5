"""Which Bazel `bazelw` chooses, and what that Bazel gets."""

import subprocess

from machine import Machine


def test_arguments_folder_and_exit_code_are_bazels(machine: Machine) -> None:
    bazel = machine.bazel("bazel")
    folder = machine.checkout / "e2e" / "a b"
    folder.mkdir(parents=True)
    result = machine.run("test", "--test_arg=a b", "", "//...", cwd=folder, FAKE_EXIT="3")
    assert result.stdout.splitlines() == [str(bazel), str(folder), "test", "--test_arg=a b", "", "//..."]
    assert result.stderr == ""
    assert result.returncode == 3


def test_BAZEL_comes_first(machine: Machine) -> None:
    machine.bazel("bazelisk")
    mine = machine.bazel("elsewhere/mine", "4.2.3")
    result = machine.run("--launcher-info", BAZEL=str(mine))
    assert result.stdout == f"runs: {mine}\nwhy: BAZEL is set\n"
    assert machine.run("info", BAZEL=str(mine)).stdout.splitlines()[0] == str(mine)


def test_BAZEL_may_be_a_name_on_PATH(machine: Machine) -> None:
    mine = machine.bazel("bazel-8")
    assert machine.run("info", BAZEL="bazel-8").stdout.splitlines()[0] == str(mine)


def test_BAZEL_that_cannot_be_run(machine: Machine) -> None:
    result = machine.run("info", BAZEL="nowhere")
    assert result.stderr == "bazelw: BAZEL=nowhere cannot be run. Unset it, or point it at a Bazel.\n"
    assert result.returncode == 36


def test_BAZEL_that_is_bazelw(machine: Machine) -> None:
    result = machine.run("info", BAZEL="./bazelw")
    assert result.stderr == "bazelw: BAZEL=./bazelw is bazelw itself. Unset it, or point it at a Bazel.\n"
    assert result.returncode == 36


def test_bazelisk_comes_before_bazel(machine: Machine) -> None:
    machine.bazel("bazel")
    bazelisk = machine.bazel("later/bazelisk")
    path = f"{machine.environment['PATH']}:{machine.bin / 'later'}"
    result = machine.run("--launcher-info", PATH=path)
    assert result.stdout == f"runs: {bazelisk}\nwhy: bazelisk is on PATH\n"


def test_bazels_that_will_not_do_are_passed_over(machine: Machine) -> None:
    old = machine.bazel("bazel", "4.2.3")
    broken = machine.program("2/bazel", "exit 1")
    itself = machine.bin / "3" / "bazel"
    itself.parent.mkdir()
    itself.symlink_to(machine.checkout / "bazelw")
    good = machine.bazel("4/bazel", "9.0.1")
    path = ":".join([machine.environment["PATH"], *(str(machine.bin / n) for n in "234")])
    assert machine.run("--launcher-info", PATH=path).stdout.splitlines() == [
        f"runs: {good}",
        "why: bazel 9.0.1 is on PATH",
        f"passed over: {old} is bazel 4.2.3: Bazel 7 or newer is needed",
        f"passed over: {broken} does not run: `{broken} --version` failed",
        f"passed over: {itself} is bazelw itself",
    ]
    assert machine.run("info", PATH=path).stdout.splitlines()[0] == str(good)


def test_a_bazel_without_a_version_will_do(machine: Machine) -> None:
    bazel = machine.bazel("bazel", "no_version")
    result = machine.run("--launcher-info")
    assert result.stdout == f"runs: {bazel}\nwhy: bazel no_version is on PATH\n"


def test_no_bazel_and_not_debian(machine: Machine) -> None:
    old = machine.bazel("bazel", "6.5.0")
    for argument in ("info", "--launcher-info"):
        result = machine.run(argument)
        assert result.returncode == 36
        assert result.stdout == ""
        assert result.stderr.splitlines() == [
            "bazelw: no usable Bazel was found: no BAZEL, no bazelisk and no bazel on PATH.",
            f"bazelw: passed over: {old} is bazel 6.5.0: Bazel 7 or newer is needed",
            "bazelw: Install Bazelisk, which fetches the Bazel that .bazelversion names:",
            "bazelw: from Homebrew (brew install bazelisk), or a release of bazelbuild/bazelisk on GitHub"
            " put on PATH as 'bazelisk'.",
        ]


def test_a_link_to_bazelw_works(machine: Machine) -> None:
    bazel = machine.bazel("bazel")
    link = machine.bin / "bw"
    link.symlink_to(machine.checkout / "bazelw")
    result = subprocess.run(
        [link, "info"], env=machine.environment, capture_output=True, text=True, check=False
    )
    assert result.stdout.splitlines()[0] == str(bazel)


def test_no_home(machine: Machine) -> None:
    machine.bazel("bazel")
    del machine.environment["HOME"], machine.environment["XDG_CACHE_HOME"]
    assert machine.run("info").returncode == 0
