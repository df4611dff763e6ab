# The copy of the tree in which faults are planted, and its build. Sourced by what lies beside it.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
faults=$root/tests/faults
work=$root/build/faults
tree=$work/tree
build=$tree/build/release
logs=$work/logs
log=$logs/last # What builds and patches say.
jobs=$(nproc 2>/dev/null || echo 2)

# A mutated program may allocate or write without end, and must not take the machine with it.
memory_kib_max=$((12 << 20))
file_blocks_max=$((1 << 20))

source "$root/tests/mirror_tree.sh"

# Makes the copy equal to the tree: an interrupted run may have left a fault in it.
copy_tree() {
  mkdir -p "$logs"
  mirror_tree "$root" "$tree"
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

# Makes `patches` those that the arguments name, which may be patterns; exits if there is none.
find_patches() {
  local name
  patches=()
  for name in "$@"; do
    # shellcheck disable=SC2206
    local -a matches=("$faults"/${name%.patch}.patch)
    [[ -e ${matches[0]} ]] || {
      echo "dev: there is no fault '$name' in tests/faults." >&2
      exit 2
    }
    patches+=("${matches[@]}")
  done
}
