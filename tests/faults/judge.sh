#!/usr/bin/env bash
# Judges the tests by planted faults. The basic idea is that a test is evidence for a claim only if
# it fails when the claim is wrong: so each patch beside this file makes one mistake in a copy of the
# tree, and the tests of its folder and of those above must fail. Called by `./dev faults`; see
# docs/faults.md.
set -euo pipefail
source "${BASH_SOURCE[0]%/*}/copy.sh"
results=$work/results.tsv # fault, hash of the patch, hash of the tree, verdict, by what; the last counts

# --- Tests ----------------------------------------------------------------------------------------

# Prints the test programs that a fault in the file may fail, those that look at it first come first.
programs_for() {
  case $1 in
    encoder/*) echo encoder simulator fuzz cli backends emulated_cuda cuda vulkan ;;
    simulator/*) echo simulator fuzz cli backends emulated_cuda cuda vulkan ;;
    backends/cuda/*) echo emulated_cuda cuda backends cli fuzz ;;
    backends/vulkan/*) echo vulkan backends cli fuzz ;;
    capture/*) echo capture cli ;;
    backends/*) echo backends emulated_cuda cuda vulkan fuzz cli ;;
    *) echo fuzz cli vulkan ;;
  esac
}

has_program() { grep -q "^build tests/$1_tests:" "$build/build.ninja"; }

# Prints the first failed test in the output of a program that failed with the given status.
failed_test() {
  local out=$1 status=$2 name
  name=$(sed -n 's/^\[  FAILED  \] \([^ ,]*\).*/\1/p' "$out" | head -n 1)
  if [[ -n $name ]]; then
    echo "$name"
    return
  fi
  name=$(sed -n 's/^\[ RUN      \] //p' "$out" | tail -n 1)
  case $status in
    124 | 137) echo "${name:-start} (runs longer than $limit_s s)" ;;
    *) echo "${name:-start} (crashes)" ;;
  esac
}

# Runs a test program in as many shards as there are cores, until one fails; prints the failed test.
run_program() {
  local program=$1 limit_s=$2 shard pid status failed=
  local -a pids=()
  for ((shard = 0; shard < jobs; ++shard)); do
    (
      cd "$tree"
      ulimit -v "$memory_kib_max" -f "$file_blocks_max" -c 0
      export GTEST_TOTAL_SHARDS=$jobs GTEST_SHARD_INDEX=$shard
      exec timeout -k 5 "$limit_s" "$build/tests/${program}_tests" --gtest_fail_fast
    ) >"$logs/shard_$shard" 2>&1 &
    pids[shard]=$!
  done
  while [[ -z $failed ]] && ((${#pids[@]} > 0)); do
    status=0
    pid=
    wait -n -p pid "${pids[@]}" || status=$?
    if [[ -z $pid ]]; then # It had ended before we waited.
      for pid in "${pids[@]}"; do break; done
      status=0
      wait "$pid" || status=$?
    fi
    for shard in "${!pids[@]}"; do
      [[ ${pids[shard]} == "$pid" ]] || continue
      unset "pids[$shard]"
      ((status == 0)) || failed=$(failed_test "$logs/shard_$shard" "$status")
    done
  done
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait
  [[ -z $failed ]] || {
    echo "$failed"
    return 1
  }
}

# Prints how long a program may run: some times what it takes without a fault, measured once for each
# tree. Fails if tests fail then, because no fault could be judged.
limit_of() {
  local program=$1 file=$work/seconds_$1 hash='' seconds failed begin
  [[ ! -e $file ]] || read -r hash seconds <"$file"
  if [[ $hash != "$tree_hash" && ! (-n $hash && $trusts_old == true) ]]; then
    build_target "${program}_tests" || {
      echo "dev: without any fault ${program}_tests does not build; see $log." >&2
      return 1
    }
    begin=$SECONDS
    failed=$(run_program "$program" 3600) || {
      echo "dev: without any fault ${program}_tests fails at $failed." >&2
      return 1
    }
    seconds=$((SECONDS - begin))
    echo "$tree_hash $seconds" >"$file"
  fi
  echo $((30 + 4 * seconds))
}

# Prints what fails if a fuzz target, which is no test program, does not take the whole corpus.
replay_corpus() {
  local target=$1
  find "$tree/corpus" -name '*.ilk' -print0 |
    (ulimit -v "$memory_kib_max" -c 0; timeout 300 xargs -0 "$build/fuzz/targets/fuzz_$target") \
      >"$logs/replay" 2>&1 || echo "fuzz_$target.replays_the_corpus"
}

# --- Faults ---------------------------------------------------------------------------------------

reason_of() { sed -n '/^# /!q; s/^# //p' "$1"; }

# Prints the verdict on a patch, a tab, and by what.
judge() {
  local patch=$1 file program failed limit
  : >"$log"
  if grep -q '^# equivalent: ' "$patch"; then
    printf 'equivalent\t%s\n' "$(sed -n 's/^# equivalent: //p' "$patch")"
    return
  fi
  if ! apply --check "$patch"; then
    printf 'does not apply\t%s\n' "$(tail -n 1 "$log")"
    return
  fi
  file=$(sed -n 's,^+++ b/,,p' "$patch" | head -n 1)
  if [[ $file == fuzz/targets/*_fuzzer.cc ]]; then
    local target
    target=$(basename "$file" .cc)
    apply "$patch"
    failed=
    ! build_target "fuzz_$target" || failed=$(replay_corpus "$target")
    apply -R "$patch"
    if [[ -n $failed ]]; then
      printf 'caught\t%s\n' "$failed"
      return
    fi
  fi
  for program in $(programs_for "$file"); do
    has_program "$program" || continue
    limit=$(limit_of "$program") || return 1
    apply "$patch"
    if ! build_target "${program}_tests"; then
      apply -R "$patch"
      printf 'does not build\t%s\n' "$(grep -m 1 'error' "$log")"
      return
    fi
    failed=$(run_program "$program" "$limit") || true
    apply -R "$patch"
    if [[ -n $failed ]]; then
      printf 'caught\t%s\n' "$failed"
      return
    fi
  done
  printf 'missed\t\n'
}

# Prints what is known of a patch: the verdict, a tab, and by what; nothing if it must be judged.
known_verdict() {
  local name=$1 patch_hash=$2
  [[ -e $results ]] || return 0
  awk -F '\t' -v name="$name" -v patch="$patch_hash" -v tree="$tree_hash" -v trusts_old="$trusts_old" '
    $1 == name { verdict = "" }
    $1 == name && $2 == patch && ($3 == tree || (trusts_old == "true" && $4 == "caught")) {
      verdict = $4 "\t" $5
    }
    END { if (verdict != "") print verdict }' "$results"
}

main() {
  trusts_old=false
  local -a names=()
  local argument
  for argument in "$@"; do
    case $argument in
      --trust-old) trusts_old=true ;;
      -*)
        echo "dev: unknown argument '$argument'" >&2
        exit 2
        ;;
      *) names+=("$argument") ;;
    esac
  done
  ((${#names[@]} > 0)) || names=('*')

  copy_tree
  configure
  tree_hash=$(hash_of_sources "$root")
  local patch name known verdict by patch_hash
  local -a patches
  find_patches "${names[@]}"

  local -A counts=()
  for patch in "${patches[@]}"; do
    name=$(basename "$patch" .patch)
    log=$logs/$name
    patch_hash=$(hash_of <"$patch")
    known=$(known_verdict "$name" "$patch_hash")
    if [[ -z $known ]]; then
      known=$(judge "$patch") || exit 2
      printf '%s\t%s\t%s\t%s\n' "$name" "$patch_hash" "$tree_hash" "$known" >>"$results"
    fi
    IFS=$'\t' read -r verdict by <<<"$known"
    counts[$verdict]=$((${counts[$verdict]:-0} + 1))
    printf '%-15s %s%s\n' "$verdict" "$name" "${by:+: $by}"
  done

  local caught=${counts[caught]:-0} equivalent=${counts[equivalent]:-0}
  local judged=$((${#patches[@]} - equivalent))
  echo "$caught of $judged caught; $equivalent more are equivalent."
  ((caught == judged))
}

main "$@"
