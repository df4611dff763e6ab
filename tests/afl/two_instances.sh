#!/usr/bin/env bash
# AFL++ with the structural mutator, in two instances that share a folder: two_instances.sh TARGET
# MUTATOR INTERLOCK FOLDER. TARGET is fuzz_spine_fuzzer, built for AFL++. Each takes over what the other
# has found; no correct encoder fails; and a planted one, mlx-2024, fails in both.
#
# Odds: at least one mutant in eight is a fresh program for one queue, and of those one in six shows the
# planted bug. So 20,000 executions miss it with less than (1 - 1/48)^20000 < 1e-180. The number of
# executions is the same on any machine, not which they are: afl-fuzz weighs inputs by their time.
set -euo pipefail
if (($# != 4)); then
  echo "Usage: $0 TARGET MUTATOR INTERLOCK FOLDER" >&2
  exit 2
fi
target=$(realpath "$1")
MUTATOR=$(realpath "$2")
interlock=$(realpath "$3")
folder=$(realpath -m "$4")
source "$(dirname "${BASH_SOURCE[0]}")/afl_environment.sh"

fail() {
  echo "two_instances: $1" >&2
  tail -n 20 "$folder"/*.log >&2 || true
  exit 1
}

# both NAME EXECUTIONS: a main and a second instance on $folder/NAME, at the same time.
both() {
  local name=$1 executions=$2 second status=0
  afl-fuzz -s 2 -S second -i "$folder/seeds" -o "$folder/$name" -E "$executions" -- "$target" \
    >"$folder/$name-second.log" 2>&1 &
  second=$!
  afl-fuzz -s 1 -M first -i "$folder/seeds" -o "$folder/$name" -E "$executions" -- "$target" \
    >"$folder/$name-first.log" 2>&1 || status=$?
  wait "$second" || status=$?
  if ((status != 0)); then fail "an instance on $name ends with $status"; fi
}

# in_folder FOLDER PATTERN: how many files there have such a name.
in_folder() { find "$1" -maxdepth 1 -name "$2" | wc -l; }

rm -rf "$folder"
mkdir -p "$folder/seeds"
printf 'interlock 1\n' >"$folder/seeds/empty.ilk"

both correct 3000
# Started again they go on, and take over first what the other has that is new to them.
AFL_AUTORESUME=1 AFL_IMPORT_FIRST=1 both correct 6000
for instance in first second; do
  if (($(in_folder "$folder/correct/$instance/crashes" 'id:*') > 0)); then
    fail "a correct encoder fails, or methods disagree: $folder/correct/$instance/crashes"
  fi
done
from_second=$(in_folder "$folder/correct/first/queue" '*sync:second*')
from_first=$(in_folder "$folder/correct/second/queue" '*sync:first*')
if ((from_second == 0 || from_first == 0)); then
  fail "first took over $from_second inputs of second, second $from_first of first"
fi

INTERLOCK_ENCODER=mlx-2024 AFL_BENCH_UNTIL_CRASH=1 both planted 20000
for instance in first second; do
  crash=$(find "$folder/planted/$instance/crashes" -name 'id:*' | head -n 1)
  if [[ -z $crash ]]; then fail "the planted bug was not found by $instance"; fi
  # What afl-fuzz keeps fails alone too, and names the program, which the command line refutes.
  status=0
  { INTERLOCK_ENCODER=mlx-2024 "$target" "$crash" >/dev/null 2>"$folder/said"; } 2>/dev/null || status=$?
  if ((status != 134)); then fail "$crash ends with $status, not by abort()"; fi
  sed -n '/^interlock 1/,$p' "$folder/said" >"$folder/$instance.ilk"
  "$interlock" encode --encoder=mlx-2024 "$folder/$instance.ilk" -o "$folder/$instance.encoded.ilk"
  status=0
  "$interlock" check -q "$folder/$instance.encoded.ilk" >"$folder/$instance.checked" || status=$?
  if ((status != 1)); then fail "check of $folder/$instance.encoded.ilk ends with $status, not 1"; fi
done
echo "two_instances: $from_second and $from_first inputs taken over; the planted bug found by both."
