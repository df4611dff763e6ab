#!/usr/bin/env bash
# interrupt.sh INTERLOCK: how soon each command ends after ^C, on programs that make it long: prints
# a table, and fails if one took more than a second. The programs are made here, in build/interrupt.
set -euo pipefail

interlock=$1
folder=build/interrupt
signal_after_s=1
limit_s=1
mkdir -p "$folder"

# --- Programs -------------------------------------------------------------------------------------

# One memory, and dispatches whose many operands overlap in all ways.
dense() {
  awk -v dispatches="$1" -v operands="$2" 'BEGIN {
    state = 1
    print "interlock 1\nmemory m 1000000"
    for (d = 0; d < dispatches; ++d) {
      line = "dispatch K" d " reads"
      for (k = 0; k < operands; ++k) {
        if (k == int(operands / 2)) line = line " writes"
        state = (state * 16807) % 2147483647; a = state % 1000000
        state = (state * 16807) % 2147483647; b = state % 1000000
        line = line " m[" (a < b ? a : b) ":" (a < b ? b : a) + 1 "]"
      }
      print line
    }
  }'
}

# Scoped barriers with nested operands between dispatches of tiny ones.
barriers() {
  awk 'BEGIN {
    state = 1
    print "interlock 1\nmemory m 10000000"
    for (d = 0; d < 300; ++d) {
      line = "dispatch K" d " reads"
      for (k = 0; k < 240; ++k) {
        if (k == 120) line = line " writes"
        state = (state * 16807) % 2147483647; a = state % 9999999
        line = line " m[" a ":" a + 1 "]"
      }
      print line
      line = "barrier all.read|all.write -> all.read|all.write"
      for (k = 0; k < 60; ++k) {
        line = line ", compute.write -> compute.read m[" k ":" 9999999 - k "]"
      }
      if (d % 2 == 0) print line
    }
  }'
}

# A write that barriers take apart into thousands of runs, and then a thousand barriers elsewhere.
runs() {
  awk 'BEGIN {
    print "interlock 1\nmemory m 20000\nmemory o 20000\ndispatch A writes m"
    for (b = 0; b < 16; ++b) {
      line = "barrier compute.write -> compute.read|copy.read"
      for (k = 0; k < 256; ++k) line = line " m[" 512 * b + 2 * k ":" 512 * b + 2 * k + 1 "]"
      print line
    }
    line = "barrier compute -> compute"
    for (k = 0; k < 256; ++k) line = line " o[" 2 * k ":" 2 * k + 1 "]"
    for (b = 0; b < 1000; ++b) print line
    print "dispatch B reads m"
  }'
}

# A chain of sums and its backward pass: very many outputs differ.
outputs() {
  awk 'BEGIN {
    print "interlock 1\ntensor h0 f32[2,2] = random(1)"
    for (i = 1; i < 800; ++i) print "tensor h" i " f32[2,2]"
    for (i = 1; i < 800; ++i) print "dispatch add reads h" i - 1 " h" i - 1 " writes h" i
    print "backward h799 wrt h0"
  }'
}

# Few lines that stand for many dispatches: as many as the limits admit.
replays() {
  awk 'BEGIN {
    print "interlock 1\nmemory m 16\ncapture c"
    for (i = 0; i < 2000; ++i) print "dispatch A reads m writes m"
    print "end"
    for (i = 0; i < 170; ++i) print "replay c"
  }'
}

dense 400 200 >"$folder/dense.ilk"
dense 60 30 >"$folder/small-dense.ilk"
barriers >"$folder/barriers.ilk"
runs >"$folder/runs.ilk"
outputs >"$folder/outputs.ilk"
replays >"$folder/replays.ilk"
files=(dense small-dense barriers runs outputs replays)
cp corpus/streams/ggml-llama24-metal-64steps.ilk "$folder/stream.ilk"
files+=(stream)

# --- Measurement ----------------------------------------------------------------------------------

printf '%-38s %-12s %9s %6s  %s\n' command file 'after ^C' status 'what it had said or written'
failures=0

# measure NAME FILE COMMAND...: one line of the table.
measure() {
  local name=$1 file=$2 begin end after status=0 said written=''
  shift 2
  rm -rf "$folder/out"
  begin=$EPOCHREALTIME
  timeout --preserve-status --kill-after=60 --signal=INT "$signal_after_s" "$@" \
    >"$folder/stdout" 2>"$folder/stderr" </dev/null || status=$?
  end=$EPOCHREALTIME
  after=$(awk -v b="$begin" -v e="$end" -v s="$signal_after_s" 'BEGIN { printf "%.2f", e - b - s }')
  said="$(wc -l <"$folder/stdout") lines"
  if [[ -e $folder/out ]]; then written=", $(find "$folder/out" -type f | wc -l) files"; fi
  # A command may end by itself as the signal comes.
  if [[ $after == -* || ($status -le 3 && $after == 0.[01]*) ]]; then after='was over'; fi
  printf '%-38s %-12s %9s %6s  %s\n' "$name" "$file" "$after" "$status" "$said$written"
  if [[ $after == 'was over' ]]; then
    if ((status > 3)); then fail 'a status that no command has'; fi
  elif [[ $status != 130 ]]; then
    fail 'not the status of an interrupted command'
  elif grep -q 'cut off' "$folder/stderr" || awk -v a="$after" -v l="$limit_s" 'BEGIN { exit !(a > l) }'
  then
    fail 'too late'
  fi
}

fail() {
  failures=$((failures + 1))
  printf '%-38s %-12s %9s\n' '' '' "^ $1"
}

for file in "${files[@]}"; do
  path=$folder/$file.ilk
  while read -r -a command; do
    measure "${command[*]}" "$file" "$interlock" "${command[@]}" "$path"
  done <<'COMMANDS'
check
check --all
check --all --format=json
explore
explore --strategy=directed
explore --strategy=exhaustive
explore --strategy=random
explore --strategy=pct
run
run --schedule=random --check-declared
run --backend=cuda-emulated
replay
encode --encoder=interlock -o build/interrupt/out
encode --unplan=m --planner=liveness -o build/interrupt/out
plan
plan --unplan=m --curve=build/interrupt/out
minimize -o build/interrupt/out
COMMANDS
done
measure 'generate micro-batches' '-' "$interlock" generate micro-batches --layers=64 --steps=64 \
  --micro-batches=64 -o "$folder/out"
for pass in --encoder=mlx-2024 --planner=ggml --replay=pytorch --backward=one-shot; do
  measure "fuzz $pass" '-' "$interlock" fuzz "$pass" --runs=10000000 --jobs=2 --out="$folder/out"
done
measure 'fuzz --max-dispatches=1024' '-' "$interlock" fuzz --encoder=none --runs=10000000 \
  --max-dispatches=1024 --out="$folder/out"

if ((failures > 0)); then
  echo "interrupt: $failures commands did not end as they should." >&2
  exit 1
fi
