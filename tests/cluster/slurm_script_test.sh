#!/usr/bin/env bash
# What fuzz/cluster/slurm_campaign.sh and slurm_merge.sh make of what Slurm tells a task, without a
# Slurm: slurm_script_test.sh INTERLOCK FOLDER. The variables are those of sbatch(1), "output
# environment variables"; `./dev campaigns` has the same of a real Slurm.
set -euo pipefail
cluster=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../fuzz/cluster" && pwd)
INTERLOCK=$(realpath "$1")
export INTERLOCK
folder=$(realpath -m "$2")
rm -rf "$folder"
mkdir -p "$folder/bin"

fail() {
  echo "slurm_script_test: $1" >&2
  exit 1
}

# expect STATUS MESSAGE COMMAND…
expect() {
  local expected=$1 message=$2 status=0 said
  shift 2
  said=$("$@" 2>&1) || status=$?
  if ((status != expected)); then fail "'$*' ends with $status, not $expected: $said"; fi
  if [[ $said != *"$message"* ]]; then fail "'$*' does not say '$message': $said"; fi
}

# task I N [COMMAND…]: in the environment of task I of N.
task() {
  local i=$1 n=$2
  shift 2
  env SLURM_ARRAY_JOB_ID=7 SLURM_ARRAY_TASK_ID="$i" SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX="$n" \
    SLURM_ARRAY_TASK_COUNT="$n" "$@"
}

campaign=(--encoder=none --runs=1000 --quiet)
expect 2 "Usage" "$cluster/slurm_campaign.sh"
expect 2 "Usage" "$cluster/slurm_campaign.sh" --encoder=none --runs=10
expect 2 "task of a job array" "$cluster/slurm_campaign.sh" "$folder/parts" "${campaign[@]}"
expect 2 "the array is to be 1-N" task 1 2 env SLURM_ARRAY_TASK_MAX=3 \
  "$cluster/slurm_campaign.sh" "$folder/parts" "${campaign[@]}"
expect 2 "no-such" task 1 2 "$cluster/slurm_campaign.sh" "$folder/bad" --encoder=no-such --runs=1000
expect 2 "Usage" "$cluster/slurm_merge.sh" "$folder/parts"

# Findings are no failure of a task; a part that is missing is one of the merge.
expect 0 "findings" task 1 2 "$cluster/slurm_campaign.sh" "$folder/parts" "${campaign[@]}"
expect 2 "No such file" "$cluster/slurm_merge.sh" "$folder/parts" 2
expect 0 "findings" task 2 2 "$cluster/slurm_campaign.sh" "$folder/parts" "${campaign[@]}"
expect 0 "findings" "$cluster/slurm_merge.sh" "$folder/parts" 2
expect 1 "findings" "$INTERLOCK" fuzz "${campaign[@]}" --out="$folder/whole"
diff -r "$folder/whole" "$folder/parts/all" || fail "the merged folder is not that of one campaign"

# At its time limit a task asks to be queued again.
cat >"$folder/bin/scontrol" <<'END'
#!/bin/sh
echo "scontrol $*"
END
chmod +x "$folder/bin/scontrol"
# `exec`, so that the signal goes to the script as Slurm's does.
(exec env PATH="$folder/bin:$PATH" SLURM_ARRAY_JOB_ID=7 SLURM_ARRAY_TASK_ID=3 \
  SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=4 SLURM_ARRAY_TASK_COUNT=4 \
  "$cluster/slurm_campaign.sh" "$folder/limit" --encoder=none --runs=1e9) >"$folder/limit.out" 2>&1 &
limited=$!
for ((i = 0; i < 600; ++i)); do
  if [[ -s $folder/limit/part3/campaign.journal ]]; then break; fi
  sleep 0.1
done
kill -TERM "$limited"
wait "$limited" || fail "an interrupted task ends with $?: $(cat "$folder/limit.out")"
grep -q '^scontrol requeue 7_3$' "$folder/limit.out" || fail "it is not queued again: $(cat "$folder/limit.out")"
grep -q 'interrupted' "$folder/limit.out" || fail "it says nothing of that: $(cat "$folder/limit.out")"
