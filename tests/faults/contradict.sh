#!/usr/bin/env bash
# Plants faults in a copy of the tree, and asks of each at seeds 1, 2, … how many random programs it
# takes until a second method contradicts what is said of one: that a test written for it fails
# shows that somebody thought of the fault, and this that nobody needs to. Called by
# `./dev faults --seeds`; see docs/faults.md.
set -euo pipefail
source "${BASH_SOURCE[0]%/*}/copy.sh"
# fault, hash of the patch, hash of the tree, seed, programs or why there is no number, method
results=$work/contradictions.tsv
seconds_max=600 # For one seed.

# Prints a seed's outcome: how many programs it took, a tab, and by which method.
outcome_at() {
  local seed=$1 out=$logs/contradiction status=0
  (
    ulimit -v "$memory_kib_max" -f "$file_blocks_max" -c 0
    exec timeout -k 5 "$seconds_max" "$build/tests/contradict_faults" "$seed" "$program_count" "${method[@]}"
  ) >"$out" 2>>"$log" || status=$?
  case $status in
    0)
      if grep -q crash "$out"; then printf 'crashes\t\n'; else printf 'none of %s\t\n' "$program_count"; fi
      ;;
    1) head -n 1 "$out" | cut -f 1,2 ;;
    124 | 137) printf 'too long\t\n' ;;
    *) printf 'crashes\t\n' ;;
  esac
}

# Whatever a second method contradicts without a fault, no fault is to blame for.
check_tree() {
  log=$logs/without_a_fault
  : >"$log"
  build_target contradict_faults || {
    echo "dev: without any fault contradict_faults does not build; see $log." >&2
    exit 2
  }
  local seed
  for ((seed = 1; seed <= seed_count; ++seed)); do
    [[ $(outcome_at "$seed") == none* ]] || {
      echo "dev: without any fault a verdict is contradicted; see $logs/contradiction." >&2
      exit 2
    }
  done
  is_checked=true
}

# Prints the seeds of a patch of which the outcome is known, each with what else the line says.
known_outcomes() {
  local name=$1 patch_hash=$2
  [[ -e $results ]] || return 0
  awk -F '\t' -v name="$name" -v patch="$patch_hash" -v tree="$tree_hash" -v trusts_old="$trusts_old" '
    $1 == name && $2 == patch && ($3 == tree || trusts_old == "true") { known[$4] = $5 "\t" $6 }
    END { for (seed in known) print seed "\t" known[seed] }' "$results"
}

# Adds to the results what is not known of a patch at the seeds; the last line of a seed counts.
judge() {
  local name=$1 patch=$2 patch_hash=$3 seed known
  local -a left=()
  known=$(known_outcomes "$name" "$patch_hash")
  for ((seed = 1; seed <= seed_count; ++seed)); do
    grep -q "^$seed"$'\t' <<<"$known" || left+=("$seed")
  done
  ((${#left[@]} > 0)) || return 0
  $is_checked || check_tree
  local outcome=''
  log=$logs/$name
  : >"$log"
  if ! apply "$patch"; then
    outcome=$'does not apply\t'
  else
    build_target contradict_faults || outcome=$'does not build\t'
    apply -R "$patch"
  fi
  for seed in "${left[@]}"; do
    printf '%s\t%s\t%s\t%s\t%s\n' "$name" "$patch_hash" "$tree_hash" "$seed" \
      "${outcome:-$(outcome_at "$seed")}" >>"$results"
  done
}

# Prints a row of the table, and fails unless a second method contradicts the fault at all seeds.
row_of() {
  local name=$1 patch_hash=$2
  known_outcomes "$name" "$patch_hash" | sort -n | awk -F '\t' -v name="$name" -v seeds="$seed_count" '
    $1 > seeds { next }
    { at = at (at == "" ? "" : ", ") $2 }
    $2 + 0 > 0 { numbers[++count] = $2 + 0 }
    $3 != "" && !seen[$3]++ { by = by (by == "" ? "" : ", ") $3 }
    END {
      for (i = 1; i <= count; ++i) {
        for (k = i; k > 1 && numbers[k] < numbers[k - 1]; --k) {
          least = numbers[k]; numbers[k] = numbers[k - 1]; numbers[k - 1] = least
        }
      }
      is_all = count == seeds
      median = is_all ? numbers[int((count + 1) / 2)] : "-"
      longest = is_all ? numbers[count] : "-"
      printf "| `%s` | %s | %s | %s | %s |\n", name, by, at, median, longest
      exit !is_all
    }'
}

main() {
  trusts_old=false seed_count=5 program_count=10000 is_checked=false method=()
  local -a names=()
  local argument
  for argument in "$@"; do
    case $argument in
      --trust-old) trusts_old=true ;;
      --seeds=*) seed_count=${argument#*=} ;;
      --programs=*) program_count=${argument#*=} ;;
      --by=machine) method=(machine) results=$work/contradictions-by-machine.tsv ;;
      -*)
        echo "dev: unknown argument '$argument'" >&2
        exit 2
        ;;
      *) names+=("$argument") ;;
    esac
  done
  if [[ ! $seed_count =~ ^[1-9][0-9]?$ || ! $program_count =~ ^[1-9][0-9]*$ ]]; then
    echo "dev: --seeds must be 1 to 99, and --programs a number from 1." >&2
    exit 2
  fi
  ((${#names[@]} > 0)) || names=('simulator-queues-*')

  local -a patches
  find_patches "${names[@]}"
  copy_tree
  configure
  tree_hash=$(hash_of_sources "$root")
  echo "| fault | contradicted by | programs at seeds 1 to $seed_count | median | longest |"
  echo '|---|---|---|---|---|'
  local patch name patch_hash contradicted=0
  for patch in "${patches[@]}"; do
    name=$(basename "$patch" .patch)
    patch_hash=$(hash_of <"$patch")
    judge "$name" "$patch" "$patch_hash"
    if row_of "$name" "$patch_hash"; then contradicted=$((contradicted + 1)); fi
  done
  echo "$contradicted of ${#patches[@]} are contradicted by a second method at each of $seed_count seeds."
  ((contradicted == ${#patches[@]}))
}

main "$@"
