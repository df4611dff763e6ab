# The copy of the tree in which faults are planted, and its build. Sourced by what lies beside it.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
faults=$root/tests/faults
work=$root/build/faults
tree=$work/tree
build=$tree/build/release
logs=$work/logs
log=$logs/last # What builds and patches say.
jobs=$(nproc 2>/dev/null || echo 2)

files_of() {
  (cd "$1" && find . \( -path ./build -o -path ./.git \) -prune -o -type f -print | LC_ALL=C sort)
}

# Makes the copy equal to the tree, and touches no more, or everything would compile again. A file
# that was there gets a new time: what is built of it may be of a fault that an interrupted run left.
copy_tree() {
  mkdir -p "$tree" "$logs"
  local file
  while read -r file; do
    cmp -s "$root/$file" "$tree/$file" && continue
    mkdir -p "$tree/${file%/*}"
    if [[ -e $tree/$file ]]; then cp "$root/$file" "$tree/$file"; else cp -p "$root/$file" "$tree/$file"; fi
  done < <(files_of "$root")
  while read -r file; do rm -f "$tree/$file"; done < <(comm -13 <(files_of "$root") <(files_of "$tree"))
}

hash_of() { sha256sum | cut -c 1-16; }

# Of what decides verdicts: neither the faults nor what is written about them.
hash_of_tree() {
  (cd "$root" && files_of . | grep -v -e '^./tests/faults/' -e '^./docs/' -e '\.md$' |
    xargs sha256sum | hash_of)
}

# Applies or, with -R, takes back; to the copy alone, also where that lies inside a repository.
apply() {
  (cd "$tree" && GIT_CEILING_DIRECTORIES=$work git apply "$@" 2>>"$log")
}

configure() {
  [[ -e $build/build.ninja ]] && return
  (cd "$tree" && cmake --preset release -DINTERLOCK_TESTS=ON -DINTERLOCK_PACKAGE_TEST=OFF \
    -DINTERLOCK_WERROR=OFF) >"$logs/configure"
}

build_target() { ninja -C "$build" "$1" >>"$log" 2>&1; }
