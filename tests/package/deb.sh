#!/usr/bin/env bash
# Makes the .deb, unpacks it where nothing else is, moves it, and uses what is in it from there:
# deb.sh BUILD SOURCE
set -euo pipefail
shopt -s inherit_errexit
build=$1 source=$2
work=$build/package/deb

fail() {
  echo "deb.sh: $*" >&2
  exit 1
}

if ! command -v dpkg-deb >/dev/null; then
  echo "Skipped: there is no dpkg-deb here."
  exit 77
fi
rm -rf "$work"
mkdir -p "$work/made"
cpack -G DEB --config "$build/CPackConfig.cmake" -B "$work/made" >"$work/log" 2>&1 ||
  { cat "$work/log" >&2; fail "cpack fails."; }
packages=("$work/made"/*.deb)
((${#packages[@]} == 1)) && [[ -e ${packages[0]} ]] || fail "there is not one package: ${packages[*]}"
package=${packages[0]}
[[ ${package##*/} == interlock_*_$(dpkg --print-architecture).deb ]] || fail "its name is ${package##*/}."

# A clean root, and then another place for it.
dpkg-deb -x "$package" "$work/unpacked"
mv "$work/unpacked" "$work/elsewhere"
usr=$work/elsewhere/usr
bug=$source/corpus/bugs/mlx-3630.ilk
dpkg-deb --field "$package" Depends | grep -qx 'libc6 (>= [0-9.]*)' || fail "it depends on more than libc6."
dpkg-deb --info "$package" triggers | grep -q ldconfig || fail "the loader is not told of the library."

# Nothing says where it was built.
if grep -rlF -e "$build" -e "$source/" "$work/elsewhere" --exclude=*.a | grep .; then
  fail "these have a path of this machine in them."
fi

run() { env -i PATH=/usr/bin:/bin HOME=/nonexistent "$@"; }
run "$usr/bin/interlock" check "$bug" >/dev/null || fail "the program does not check."
version=$(run "$usr/bin/interlock" version)
[[ $version == "interlock $(dpkg-deb --field "$package" Version)" ]] || fail "it says it is $version."

# C, by pkg-config from where the file now is.
sed 's#"bindings/c/interlock.h"#<interlock/interlock.h>#' "$source/docs/examples/check.c" >"$work/check.c"
pc=$(find "$usr" -name interlock.pc)
lib=$(dirname "$(find "$usr" -name 'libinterlock.so.?')")
grep -qxF "Version: ${version#interlock }" "$pc" || fail "interlock.pc has another version."
if command -v pkg-config >/dev/null; then
  flags=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --define-prefix --cflags --libs interlock)
else
  flags="-I$usr/include -L$lib -linterlock" # What it says, resolved by hand.
fi
# shellcheck disable=SC2086
cc -std=c99 -pedantic -Wall -Werror -o "$work/check" "$work/check.c" $flags
run LD_LIBRARY_PATH="$lib" "$work/check" >"$work/check.out" && fail "check.c finds nothing."
grep -qxF 'RAW of make and add in a[0:1024]' "$work/check.out" || fail "check.c says: $(cat "$work/check.out")"

# Python, which finds the library beside the package.
if command -v python3 >/dev/null; then
  says=$(run PYTHONPATH="$usr/lib/python3/dist-packages" PYTHONDONTWRITEBYTECODE=1 python3 -c '
import importlib.util, interlock, sys
print(len(interlock.check(interlock.read(sys.argv[1])).findings), interlock.version(),
      importlib.util.find_spec("interlock.torch") is not None)' "$bug")
  [[ $says == "1 ${version#interlock } True" ]] || fail "Python says: $says"
fi

# dpkg itself, in a root of its own without libc6: it installs, knows the package, and takes all of it
# away again. For files of root it wants to be root, or to be taken for it.
as_root=()
if ((EUID != 0)); then as_root=(unshare --map-root-user); fi
if "${as_root[@]}" true 2>/dev/null; then
  root=$work/root
  mkdir -p "$root/var/lib/dpkg"/{info,triggers,updates}
  touch "$root/var/lib/dpkg/status" "$root/var/lib/dpkg/available"
  dpkg_in_root() { "${as_root[@]}" dpkg --root="$root" --force-depends --log=/dev/null "$@" >>"$work/log" 2>&1; }
  dpkg_in_root --install "$package" || { cat "$work/log" >&2; fail "dpkg does not install it."; }
  [[ $(dpkg-query --admindir="$root/var/lib/dpkg" -W -f='${db:Status-Status}' interlock) == installed ]] ||
    fail "it is not installed."
  run "$root/usr/bin/interlock" check "$bug" >/dev/null || fail "what dpkg installed does not check."
  dpkg_in_root --purge interlock || { cat "$work/log" >&2; fail "dpkg does not remove it."; }
  left=$(find "$root" -path "$root/var/lib/dpkg" -prune -o -type f -print)
  [[ -z $left ]] || fail "it leaves $left."
else
  echo "Not installed by dpkg: neither root nor a user namespace is to be had."
fi

for file in share/man/man1/interlock.1 share/bash-completion/completions/interlock \
  share/zsh/vendor-completions/_interlock share/doc/interlock/LICENSE share/doc/interlock/CHANGELOG.md \
  share/doc/interlock/docs/format.md include/interlock/encoder/recorder.h; do
  [[ -s $usr/$file ]] || fail "it lacks $file."
done
[[ -z $(find "$usr" -name '*cuda-targets*') ]] || fail "CUDA is a component of its own."
echo "$(stat -c %s "$package") bytes; the program, C and Python work from $work/elsewhere."
