#!/usr/bin/env bash
# Builds the private tool root at $1: a small Debian testing with its Bazel in it.
# This file is the recipe. Its digest is part of the root's name, so a changed recipe gives a new root.
set -euo pipefail
umask 022

root=$1
part=$root.part
# mmdebstrap's place, one for each cache: a home folder may be closed to the users it works as.
scratch=${TMPDIR:-/var/tmp}/cachetree-$(cksum <<<"$UID ${root%/*}" | cut -d " " -f 1)
megabytes=3000 # needed while building, in either place

say() { printf 'bazelw: %s\n' "$@" >&2; }
die() {
  say "$@" "Or install Bazelisk and put it on PATH as 'bazelisk': bazelw prefers it."
  exit 36
}

# The lock is held until this process and its children are gone, so a half-built root has no owner.
lock() {
  mkdir -p "${root%/*}" || die "cannot write below ${root%/*}. Set XDG_CACHE_HOME to a folder that can be written."
  exec 9>"${root%/*}/debian-root.lock"
  flock -n 9 || {
    say "another bazelw is building the tool root; waiting for it"
    flock 9
  }
}

install_tools() {
  local packages=() as_root=()
  type -P mmdebstrap >/dev/null || packages+=(mmdebstrap)
  type -P bwrap >/dev/null || packages+=(bubblewrap)
  ((UID == 0)) || type -P newuidmap >/dev/null || packages+=(uidmap)
  ((${#packages[@]})) || return 0
  local install="apt-get install -y --no-install-recommends ${packages[*]}"
  if ((UID)); then
    as_root=(sudo)
    type -P sudo >/dev/null || die "missing on this machine: ${packages[*]}. As root, run: $install"
  fi
  say "installing ${packages[*]} on this machine, the only change outside the cache: ${as_root[*]} $install"
  # shellcheck disable=SC2086 # $install is words, of our own making
  { "${as_root[@]}" apt-get update -q && "${as_root[@]}" $install; } >&2 ||
    die "that failed. As root, run: apt-get update && $install"
}

check_namespaces() {
  bwrap --bind / / -- true || die "bubblewrap cannot make a namespace here (a container without the right to?)."
}

check_space() {
  local folder free
  for folder in "${root%/*}" "${scratch%/*}"; do
    free=$(df --output=avail -BM "$folder" | tr -dc 0-9)
    ((free >= megabytes)) || die "$folder has $free MB free; the tool root needs $megabytes MB while it is built."
  done
}

# The archive that the host's apt takes Debian from: by its name, which is known after an `apt-get update`, or by its address.
debian_mirror() {
  # shellcheck disable=SC2016 # apt's own placeholders
  apt-get indextargets --format '$(ORIGIN),$(LABEL) $(REPO_URI)' | sed -n 's/^Debian,Debian //p' | head -n 1 | grep . ||
    apt-get update --print-uris | sed -En "s,^'(.*/debian/)dists/.*,\1,p" | head -n 1 | grep .
}

# Whether some process, such as a Bazel server, lives in the tool root $1.
in_use() { grep -qsF "/${1##*/} " /proc/[0-9]*/mountinfo; }

# What an earlier builder left behind, if it was killed, and what this one leaves behind when it fails.
remove_leftovers() {
  rm -rf --one-file-system "$part"
  # An ordinary user's mmdebstrap works as that user's subordinate users.
  ((UID == 0)) || [[ ! -d $scratch ]] || mmdebstrap --unshare-helper find "$scratch" -mindepth 2 -delete
  rm -rf --one-file-system "$scratch"
}

bootstrap() {
  local mirror=$1 options private=()
  # What mmdebstrap mounts as root vanishes with it, even when it is killed.
  ((UID)) || private=(unshare --mount)
  # Proxies, credentials and the like hold for the root's apt as well.
  options=$(apt-config dump | grep -E '^(Acquire|Dir::Etc::netrc)' | grep -v '::IndexTargets')
  mkdir -m 755 "$scratch" "$part"
  # Through tar, so that all files are the user's own and can be removed with rm.
  TMPDIR=$scratch "${private[@]}" mmdebstrap --variant=apt --format=tar \
    --include=bazel-bootstrap,ca-certificates,locales,openssl,tzdata \
    --aptopt="$options" --aptopt='APT::Install-Recommends "false"' \
    --dpkgopt=force-unsafe-io --dpkgopt='path-exclude=/usr/lib/jvm/*/jmods/*' \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
    testing - "deb $mirror testing main" |
    tar --extract --directory="$part" --no-same-owner --exclude='./dev/*' ||
    die "the tool root was not built: see the messages above. Nothing was left half done."
}

# Lets the host's settings hold inside, where debian_bazel.sh binds its /etc to /host/etc.
adapt() {
  local name cacerts
  mkdir -p "$part/host/etc" "$part/etc/xdg"
  cp "$part/etc/ssl/certs/java/cacerts" "$part/etc/truststore.p12"
  rm -r "$part/etc/ssl/certs"
  for name in group hostname hosts localtime passwd pip.conf resolv.conf ssl/certs xdg/pip; do
    ln -sfn "/host/etc/$name" "$part/etc/$name"
  done
  for cacerts in "$part"/usr/lib/jvm/java-*-openjdk-*/lib/security/cacerts; do
    ln -sfn /etc/truststore.p12 "$cacerts"
  done
  # Debian's defaults, but an option that does nothing and a flood of words when an action fails.
  sed -i -e '/host_javabase/d' -e '/sandbox_debug/d' "$part/etc/bazel/bazelrc"
  # What Bazel's version is read from; upstream has this file in Bazel's own jar.
  mkdir "$part/usr/share/bazel/version"
  echo "build.label=$(<"$part/usr/share/bazel/build-label.txt")" >"$part/usr/share/bazel/version/build-data.properties"
  touch "$part/etc/bazel.bazelrc"
  # The library of a Python in /usr/local is found; Bazel's server wants this locale for names beyond ASCII.
  bwrap --bind "$part" / --dev-bind /dev /dev --ro-bind /usr/local /usr/local -- \
    sh -c 'ldconfig && localedef -i en_US -f ISO-8859-1 en_US.ISO-8859-1'
}

remove_old_roots() {
  local old
  for old in "${root%/*}"/debian-root-*; do
    [[ $old == "$root" ]] || in_use "$old" || rm -rf --one-file-system "$old"
  done
}

main() {
  lock
  [[ ! -d $root ]] || return 0 # built while waiting for the lock
  say "building a private tool root with Debian's Bazel: about 2 minutes and 1 GB, once" "in $root"
  install_tools
  check_namespaces
  remove_leftovers
  trap remove_leftovers EXIT
  check_space
  local mirror
  mirror=$(debian_mirror) || die "apt's sources on this machine name no Debian archive to take Bazel from."
  bootstrap "$mirror"
  adapt
  mv "$part" "$root"
  remove_old_roots
  say "the tool root is ready after $SECONDS s, $(du -sm "$root" | cut -f1) MB"
}

main
