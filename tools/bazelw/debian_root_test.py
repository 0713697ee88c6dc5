"""How the tool root with Debian's Bazel is built, and what Bazel finds inside."""

import os
import shutil
import signal
import time
from pathlib import Path

import pytest
from machine import Machine


def test_launcher_info_builds_nothing(debian: Machine) -> None:
    result = debian.run("--launcher-info")
    runs, why, root = result.stdout.splitlines()
    assert runs == f"runs: {debian.checkout}/tools/bazelw/debian_bazel.sh"
    assert why == (
        "why: no usable Bazel on PATH, and this machine has apt-get: Debian's Bazel in a private tool root"
    )
    assert root.startswith(f"tool root: {debian.cache}/cachetree/debian-root-")
    assert root.endswith(" (not built yet: about 2 minutes and 1 GB at the first call)")
    assert not debian.cache.exists()

    debian.run("info")
    assert debian.run("--launcher-info").stdout.splitlines()[2].endswith(" (built)")


def test_tool_root_is_built_once(debian: Machine) -> None:
    first = debian.run("test", "a b", FAKE_EXIT="3")
    assert first.returncode == 3
    bazel = [str(debian.log / "debians_bazel"), str(debian.checkout), "test", "a b"]
    assert first.stdout.splitlines() == bazel
    assert "bazelw: building a private tool root" in first.stderr

    second = debian.run("test", "a b")
    assert (second.returncode, second.stdout.splitlines(), second.stderr) == (0, bazel, "")
    assert debian.built() == 1


def test_tool_root_holds_the_hosts_settings(debian: Machine) -> None:
    debian.run("info")
    (name,) = debian.roots()
    root = debian.cache / "cachetree" / name
    for path in ("etc/pip.conf", "etc/xdg/pip", "etc/ssl/certs", "etc/resolv.conf"):
        assert os.readlink(root / path) == f"/host/{path}"
    cacerts = "usr/lib/jvm/java-25-openjdk-amd64/lib/security/cacerts"
    assert os.readlink(root / cacerts) == "/etc/truststore.p12"
    assert (root / "etc/bazel/bazelrc").read_text() == "common --override_module=a=/b\n"
    assert (root / "usr/share/bazel/version/build-data.properties").read_text() == "build.label=7.7.1\n"


def test_bazel_gets_the_debian_config_in_every_workspace(debian: Machine, tmp_path: Path) -> None:
    debian.run("info", cwd=tmp_path)
    assert (debian.log / "bazelrc").read_text().splitlines()[1:] == [
        "startup --host_jvm_args=-Xbootclasspath/a:/usr/share/bazel/version",
        f'import "{debian.checkout}/tools/debian.bazelrc"',
        f"common:debian --registry=file://{debian.checkout}/tools/registry".replace(
            "check out", "check%20out"
        ),
        "common --config=debian",
    ]
    arguments = (debian.log / "bwrap").read_text()
    assert "--bind\n/tmp\n/tmp\n" in arguments
    assert "--ro-bind\n/etc\n/host/etc\n" in arguments
    assert f"--chdir\n{tmp_path}\n" in arguments


def test_changed_recipe_gives_a_new_root(debian: Machine) -> None:
    debian.run("info")
    old = debian.roots()
    debian.change_recipe()
    debian.run("info")
    assert debian.built() == 2
    assert len(debian.roots()) == len(old) == 1
    assert debian.roots() != old


def test_killed_half_way(debian: Machine) -> None:
    builder = debian.start("info", FAKE_SECONDS="60")
    while not debian.built():
        time.sleep(0.01)
    os.killpg(builder.pid, signal.SIGKILL)
    builder.communicate()
    assert [name for name in debian.roots() if name.endswith(".part")] != []

    assert debian.run("info").returncode == 0
    assert debian.built() == 2
    assert [name for name in debian.roots() if name.endswith(".part")] == []


def test_two_builders(debian: Machine) -> None:
    first = debian.start("info", FAKE_SECONDS="0.5")
    while not debian.built():
        time.sleep(0.01)
    second = debian.run("info")
    first.communicate()
    assert (first.returncode, second.returncode) == (0, 0)
    assert second.stderr == "bazelw: another bazelw is building the tool root; waiting for it\n"
    assert debian.built() == 1


def test_failed_build(debian: Machine) -> None:
    result = debian.run("info", FAKE_FAILURE="the archive is closed")
    assert result.returncode == 36
    assert "E: the archive is closed\n" in result.stderr
    assert result.stderr.endswith(
        "bazelw: the tool root was not built: see the messages above. Nothing was left half done.\n"
        "bazelw: Or install Bazelisk and put it on PATH as 'bazelisk': bazelw prefers it.\n"
    )
    assert debian.roots() == []


@pytest.mark.parametrize(
    ("indextargets", "uris", "mirror"),
    [
        (
            "Debian,Debian-Security http://a/debian-security/\nDebian,Debian http://b/debian/\n",
            "'http://c/debian/dists/stable/InRelease' c 0\n",
            "http://b/debian/",
        ),
        (
            "",
            "'http://a/packages/dists/b/InRelease' a 0\n'https://b/x/debian/dists/c/InRelease' b 0\n",
            "https://b/x/debian/",
        ),
    ],
    ids=["by_name", "before_any_apt_update"],
)
def test_mirror_is_the_one_apt_uses(debian: Machine, indextargets: str, uris: str, mirror: str) -> None:
    (debian.log / "indextargets").write_text(indextargets)
    (debian.log / "print-uris").write_text(uris)
    debian.run("info")
    arguments = (debian.log / "mmdebstrap").read_text()
    assert f"deb {mirror} testing main\n" in arguments
    assert '--aptopt=Acquire::http::Proxy "http://proxy:3142";\n' in arguments


def test_apt_without_a_debian_archive(debian: Machine) -> None:
    (debian.log / "indextargets").write_text("Ubuntu,Ubuntu http://a/ubuntu/\n")
    (debian.log / "print-uris").write_text("'http://a/ubuntu/dists/noble/InRelease' a 0\n")
    result = debian.run("info")
    assert result.returncode == 36
    assert "apt's sources on this machine name no Debian archive to take Bazel from.\n" in result.stderr
    assert debian.built() == 0


def test_missing_tools_are_installed_with_a_message(debian: Machine) -> None:
    shutil.move(debian.bin / "mmdebstrap", debian.log / "mmdebstrap.deb")
    result = debian.run("info")
    assert result.returncode == 0
    assert (
        "bazelw: installing mmdebstrap on this machine, the only change outside the cache:" in result.stderr
    )
    assert "install -y --no-install-recommends mmdebstrap" in (debian.log / "apt-get").read_text()
    assert result.stdout.splitlines()[0] == str(debian.log / "debians_bazel")


def test_no_right_to_make_namespaces(debian: Machine) -> None:
    debian.program("bwrap", "exit 1")
    result = debian.run("info")
    assert result.returncode == 36
    assert "bazelw: bubblewrap cannot make a namespace here" in result.stderr


def test_disk_full(debian: Machine) -> None:
    debian.program("df", "echo Avail; echo 812M")
    result = debian.run("info")
    assert result.returncode == 36
    needed = (
        f"bazelw: {debian.cache}/cachetree has 812 MB free; the tool root needs 3000 MB while it is built.\n"
    )
    assert needed in result.stderr


def test_cache_that_cannot_be_written(debian: Machine) -> None:
    debian.cache.write_text("a file")
    result = debian.run("info")
    assert result.returncode == 36
    assert f"bazelw: cannot write below {debian.cache}/cachetree. Set XDG_CACHE_HOME to" in result.stderr
