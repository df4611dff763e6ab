#!/usr/bin/env bash
# Runs the tests that say of how many programs a claim holds, each with all of these, and keeps what
# they say in docs/proof.txt. What has passed is kept in build/prove, and is not run again while the
# sources stay the same: a run that was stopped goes on where it was. Called by `./dev prove` after
# the build `release`.
# Usage: prove.sh JOBS
set -euo pipefail
root=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)
source "$root/tests/mirror_tree.sh"
cd "$root"
work=build/prove
jobs=$1

# Prints the names of tests that try more programs here than in `./dev test`, or say how many they
# tried: `Suite.Test`. A function beside them that does so does it for all tests of its file.
tests_with_counts() {
  find tests -name code -prune -o -name '*.cc' -exec awk '
    function print_all(i) { for (i = 1; i <= count; ++i) if (all || counts[i]) print names[i] }
    FNR == 1 { print_all(); count = all = inside = 0 }
    /^(TEST|TEST_F|TEST_P|TYPED_TEST)\(/ {
      split($0, part, /[(,)] */)
      names[++count] = part[2] "." part[3]; counts[count] = 0; inside = 1
    }
    /^}/ { inside = 0 }
    /(proof_count|print_proof|share_count|tries_all|ShareOfChoices choice)\(/ { if (inside) counts[count] = 1; else all = 1 }
    END { print_all() }' {} + | LC_ALL=C sort -u
}

# Prints what ctest calls them, and which are scripts that do more here.
selected_tests() {
  local pattern
  pattern=$(tests_with_counts | sed 's/\./\\./' | paste -sd '|')
  ctest --test-dir build/release -N | sed -n 's/^ *Test *#[0-9]*: //p' |
    grep -E "^release\.(([^/]*/)?($pattern)(/.*)?|package\.consume|extending\.toys)\$"
}

mkdir -p "$work"
hash=$(hash_of_sources .)
passed=$work/$hash.passed # the names of tests
said=$work/$hash.said     # what they said
touch "$passed" "$said"
mapfile -t names < <(selected_tests)
if ((${#names[@]} == 0)); then
  echo "dev: no test says how many programs it tries." >&2
  exit 1
fi

prove_one() {
  local name=$1 log status=0
  log=$(mktemp "$work/log.XXXXXX")
  INTERLOCK_TEST_ALL=1 ctest --test-dir build/release --no-tests=error --verbose \
    --tests-regex "^${name//./\\.}\$" >"$log" 2>&1 || status=$?
  if ((status == 0)); then
    echo "passed $name"
    # Of both files a line at a time is appended, which processes beside each other may do.
    sed -n 's/^[0-9]*: \(proved on .*\)$/\1/p' "$log" >>"$said"
    echo "$name" >>"$passed"
  else
    tail -n 50 "$log" >&2
    echo "dev: $name fails; $log has everything." >&2
    return 1
  fi
  rm "$log"
}

export -f prove_one
export work passed said
mapfile -t left < <(printf '%s\n' "${names[@]}" | grep -vxFf "$passed" || true)
echo "dev: ${#names[@]} tests with counts, of which ${#left[@]} are left"
failed=false
if ((${#left[@]} > 0)); then
  printf '%s\0' "${left[@]}" | xargs -0 -n 1 -P "$jobs" bash -c 'prove_one "$1"' _ || failed=true
fi
if $failed; then
  echo "dev: not all of it holds." >&2
  exit 1
fi
LC_ALL=C sort -u "$said" | tee docs/proof.txt
