#!/usr/bin/env bash
# The worked commit of docs/extending.md: puts toys.patch, which is beside this file, on a copy of the
# tree, and compiles the sources that the patch touches. With INTERLOCK_TEST_ALL, as `./dev prove` has it,
# builds the command line, and asks for what the patch adds: a check, a strategy, a kernel.
# Usage: try.sh FOLDER, which keeps the copy and its build, so that only what changed is built again.
set -euo pipefail
shopt -s inherit_errexit

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$1
tree=$work/tree
next=$work/next
log=$work/log
jobs=$(nproc 2>/dev/null || echo 2)

fail() {
  echo "try.sh: $*" >&2
  exit 1
}

# The patched tree as it is to be, and then the same in the copy.
source "$root/tests/mirror_tree.sh"
rm -rf "$next"
mkdir -p "$next"
cp -r "$root"/{CMakeLists.txt,encoder,simulator,backends,capture,fuzz,bindings,corpus,tests} "$next"
(cd "$next" && GIT_CEILING_DIRECTORIES=$work git apply "$root/tests/extending/toys.patch") ||
  fail "toys.patch does not apply. Make the toys again, by the steps of docs/extending.md."
mirror_tree "$next" "$tree"

compiler=$(command -v clang++ || command -v g++)
if [[ -z ${INTERLOCK_TEST_ALL:-} ]]; then
  # What compiled, and has no file or folder that changed since, compiles. No source has a file of tests/.
  compiled=$work/compiled
  used=("$tree"/{encoder,simulator,backends,capture,fuzz,bindings} "$root"/tests/extending/{toys.patch,try.sh} "$compiler")
  if [[ -e $compiled && -z $(find "${used[@]}" -newer "$compiled" -print -quit) ]]; then
    echo "The toys compiled, and nothing has changed since."
    exit 0
  fi
  rm -f "$compiled"
  touch "$work/begun"
  # A build of all is minutes of work; that the tree still is what the patch was made for is told by
  # these: its declarations, lists and names. Those of a folder at once, as the build compiles them
  # (interlock_compile_together in CMakeLists.txt): headers are most of it.
  mapfile -t sources < <(sed -n 's|^+++ b/\(.*\.cc\)$|\1|p' "$root/tests/extending/toys.patch" | grep -v '^tests/')
  ((${#sources[@]} > 0)) || fail "toys.patch has no sources."
  mapfile -t folders < <(printf '%s\n' "${sources[@]%%/*}" | sort -u)
  for folder in "${folders[@]}"; do
    printf '%s\n' "${sources[@]}" | sed -n "s|^$folder/.*|#include \"&\"|p" >"$work/$folder.cc"
  done
  (cd "$tree" && printf '%s\0' "${folders[@]/%/.cc}" |
    xargs -0 -n 1 -P "$jobs" sh -c 'exec "$0" -std=c++20 -fsyntax-only -w -I. "../$1"' "$compiler") ||
    fail "the toys do not compile."
  mv "$work/begun" "$compiled"
  echo "The toys compile: ${#sources[@]} sources."
  exit 0
fi

# clang compiles without optimizing in half of the time. A compiler that does not optimize warns of
# paths that are none.
{
  cmake -S "$tree" -B "$work/build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" \
    -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG='-O0 -g0' -DINTERLOCK_WERROR=OFF -DINTERLOCK_BATCH_SIZE=64 \
    -DINTERLOCK_TESTS=OFF -DINTERLOCK_VULKAN=OFF -DINTERLOCK_CUDA=OFF -DINTERLOCK_CAPTURE=OFF &&
    cmake --build "$work/build" --parallel "$jobs" --target interlock
} >"$log" 2>&1 || {
  tail -n 30 "$log"
  fail "the tree with the toys does not build."
}
interlock=$work/build/fuzz/cli/interlock

# expect_line TEXT COMMAND...: a line of the output has that text.
expect_line() {
  local text=$1 output
  shift
  output=$("$@") || true
  grep -qF -- "$text" <<<"$output" || fail "'$*' does not say '$text' but: $output"
}

seeds=$tree/corpus/seeds
"$interlock" check "$seeds/idle.ilk" >/dev/null || fail "idle.ilk does not hold."
"$interlock" check "$seeds/idle.fixed.ilk" >/dev/null || fail "idle.fixed.ilk does not hold."
expect_line 'idle: look (dispatch 1) reads m[0:4] and writes nothing.' \
  "$interlock" check "$seeds/idle.ilk"
expect_line 'Fix: remove look (dispatch 1).' "$interlock" check "$seeds/idle.ilk"
expect_line '"kind":"idle"' "$interlock" check --format=json "$seeds/idle.ilk"

expect_line 'each dispatch once as late as it may run' "$interlock" list strategies
expect_line '2 schedules tried; 1 differ' \
  "$interlock" explore --strategy=last "$root/tests/extending/unordered.ilk"
expect_line 'Each dispatch came as late as it may.' \
  "$interlock" explore --strategy=last "$root/tests/extending/unordered.ilk"

# x * x has the bits of mul with x twice.
expect_line 'y = x * x' "$interlock" list kernels
squared=$("$interlock" run "$root/tests/extending/square.ilk") || fail "square.ilk does not run."
product=$("$interlock" run <(sed 's/square reads x/mul reads x x/' "$root/tests/extending/square.ilk"))
grep -q '^  y ' <<<"$squared" && diff <(grep '^  y ' <<<"$squared") <(grep '^  y ' <<<"$product") ||
  fail "square has other bits than mul: $squared"
echo "The toys work."
