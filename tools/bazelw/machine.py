"""A make-believe machine to run a copy of `bazelw` on: nothing is downloaded, built or installed."""

import shutil
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
LAUNCHER = ["bazelw", "tools/bazelw/debian_bazel.sh", "tools/bazelw/debian_root.sh"]
TOOLS = (
    "bash cat cksum cp cut df du find flock grep head ln mkdir mv readlink rm sed sh sha256sum sleep"
    " tar touch tr"
)

BAZEL = """
[ "$1" = --version ] && { echo "bazel VERSION"; exit; }
printf '%s\\n' "$0" "$PWD" "$@"
exit ${FAKE_EXIT:-0}
"""

BWRAP = """
printf '%s\\n' "$@" >$LOG/bwrap
while [ "$1" != -- ]; do
  [ "$1" != --ro-bind-data ] || cat <&"$2" >$LOG/bazelrc
  [ "$1" != --chdir ] || cd "$2"
  shift
done
shift
case $1 in
  openssl) cat ;;
  bazel) shift; exec $LOG/debians_bazel "$@" ;;
esac
"""

MMDEBSTRAP = """
printf '%s\\n' "$@" >>$LOG/mmdebstrap
[ "$1" != --unshare-helper ] || exit 0
touch "$TMPDIR/mmdebstrap.XXXX"
sleep ${FAKE_SECONDS:-0}
[ -z "${FAKE_FAILURE:-}" ] || { echo "E: $FAKE_FAILURE" >&2; exit 1; }
cd $LOG/debian && tar -c .
"""

APT_GET = """
printf '%s ' "$@" >>$LOG/apt-get
case $1 in
  indextargets) cat $LOG/indextargets ;;
  update) [ "$2" != --print-uris ] || cat $LOG/print-uris ;;
  install) mv $LOG/mmdebstrap.deb ${0%/*}/mmdebstrap ;;
esac
"""

Result = subprocess.CompletedProcess[str]


class Machine:
    """A machine with a checkout, a cache folder and a PATH that the test fills."""

    def __init__(self, folder: Path) -> None:
        self.checkout = folder / "check out"
        self.bin = folder / "bin"
        self.log = folder / "log"
        self.cache = folder / "cache"
        self.environment = {
            "PATH": f"{self.bin}:{folder / 'tools'}",
            "HOME": str(folder / "home"),
            "XDG_CACHE_HOME": str(self.cache),
            "TMPDIR": str(folder / "tmp"),
            "LOG": str(self.log),
        }
        for name in ("bin", "log", "tmp", "tools"):
            (folder / name).mkdir()
        for name in TOOLS.split():
            tool = shutil.which(name)
            assert tool, f"the tests need {name} on PATH"
            (folder / "tools" / name).symlink_to(tool)
        for name in LAUNCHER:
            (self.checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / name, self.checkout / name)
        self.change_recipe()  # so that no real tool root of this machine has the same name

    def change_recipe(self) -> None:
        with (self.checkout / "tools/bazelw/debian_root.sh").open("a") as recipe:
            recipe.write(f"# {self.checkout}\n")

    def program(self, name: str, body: str) -> Path:
        path = self.bin / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{body}")
        path.chmod(0o755)
        return path

    def bazel(self, name: str, version: str = "7.7.1") -> Path:
        return self.program(name, BAZEL.replace("VERSION", version))

    def install_debian(self) -> None:
        """Makes it a Debian machine without Bazel; the archive holds a root with Bazel 7.7.1."""
        self.program("apt-get", APT_GET)
        self.program("apt-config", """echo 'Acquire::http::Proxy "http://proxy:3142";'""")
        self.program("bwrap", BWRAP)
        self.program("mmdebstrap", MMDEBSTRAP)
        self.program("newuidmap", "")
        self.program("sudo", 'exec "$@"')
        self.program("unshare", 'shift; exec "$@"')
        shutil.move(self.bazel("debians_bazel"), self.log)
        (self.log / "indextargets").write_text("Debian,Debian http://mirror/debian/\n")
        for name, text in {
            "usr/share/bazel/build-label.txt": "7.7.1\n",
            "etc/bazel/bazelrc": "build --sandbox_debug\ncommon --override_module=a=/b\n",
            "etc/ssl/certs/java/cacerts": "",
            "usr/lib/jvm/java-25-openjdk-amd64/lib/security/cacerts": "",
        }.items():
            path = self.log / "debian" / name
            path.parent.mkdir(parents=True)
            path.write_text(text)

    def start(self, *arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(self.checkout / "bazelw"), *arguments],
            cwd=cwd or self.checkout,
            env=self.environment | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str, cwd: Path | None = None, **environment: str) -> Result:
        process = self.start(*arguments, cwd=cwd, **environment)
        output, errors = process.communicate(timeout=30)
        return Result(process.args, process.returncode, output, errors)

    def roots(self) -> list[str]:
        return sorted(path.name for path in (self.cache / "cachetree").glob("debian-root-*"))

    def built(self) -> int:
        """How many times mmdebstrap was asked for a root."""
        log = self.log / "mmdebstrap"
        return log.read_text().count("--format=tar\n") if log.exists() else 0
