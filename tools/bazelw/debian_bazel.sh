#!/usr/bin/env bash
# Runs Debian's Bazel inside its private tool root, which debian_root.sh builds when it is not there.
# Everything of the host but its system folders (/usr, /etc, ...) is visible inside under the same path.
set -euo pipefail

here=${BASH_SOURCE[0]%/*}
tools=${here%/*}
cache=${XDG_CACHE_HOME:-~/.cache}/cachetree
read -r digest _ < <(sha256sum "$here/debian_root.sh")
root=$cache/debian-root-${digest:0:12}

# Bubblewrap's arguments for the inside: the root, with the host's folders over it.
namespace() {
  args=(--bind "$root" / --dev-bind /dev /dev)
  local path
  for path in /*; do
    case $path in
      /bin | /dev | /etc | /lib | /lib32 | /lib64 | /libx32 | /lost+found | /sbin | /usr) ;;
      *) [[ ! -d $path ]] || args+=(--bind "$path" "$path") ;;
    esac
  done
  # Links in the root's /etc point here, so that a changed pip.conf or certificate is seen at once.
  args+=(--ro-bind /etc /host/etc)
  # Where a Python 3.11 may be in the host's /usr; the root itself has another one.
  for path in /usr/local /usr/bin/python3.11 /usr/lib/python3.11 /usr/lib/python3 /usr/share/python-wheels; do
    [[ ! -e $path ]] || args+=(--ro-bind "$path" "$path")
  done
}

# Remakes Java's truststore when the host's CA certificates are not those it was made from.
refresh_truststore() {
  local bundle=/etc/ssl/certs/ca-certificates.crt store=$root/etc/truststore.p12
  [[ -e $bundle && ($bundle -nt $store || $bundle -ot $store) ]] || return 0
  bwrap "${args[@]}" -- openssl pkcs12 -export -nokeys -jdktrust anyExtendedKeyUsage \
    -keypbe NONE -certpbe NONE -nomac -passout pass: -in /dev/stdin <"$bundle" >"$store.$$"
  touch -r "$bundle" "$store.$$"
  mv "$store.$$" "$store"
}

if [[ ${1:-} == --launcher-info ]]; then
  built="not built yet: about 2 minutes and 1 GB at the first call"
  [[ ! -d $root ]] || built="built"
  printf 'tool root: %s (%s)\n' "$root" "$built"
  exit 0
fi

[[ -d $root ]] || "$here/debian_root.sh" "$root"
namespace
refresh_truststore
exec bwrap "${args[@]}" --ro-bind-data 3 /etc/bazel.bazelrc --chdir "$PWD" -- bazel "$@" 3<<EOT
# Debian's Bazel does not know its version, and rules that ask would take it for the newest.
startup --host_jvm_args=-Xbootclasspath/a:/usr/share/bazel/version
import "$tools/debian.bazelrc"
common:debian --registry=file://${tools// /%20}/registry
common --config=debian
EOT
