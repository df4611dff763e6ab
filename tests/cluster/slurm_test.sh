#!/usr/bin/env bash
# A campaign as a job array of a real Slurm on this machine: slurm_test.sh INTERLOCK FOLDER. A task is
# killed in the middle, another is requeued, and the merged folder is to be that of one campaign, byte
# for byte. Needs root, slurm-wlm and munge.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/start_slurm.sh"
cluster=$here/../../fuzz/cluster
if (($# != 2)); then
  echo "Usage: $0 INTERLOCK FOLDER" >&2
  exit 2
fi
INTERLOCK=$(realpath "$1")
export INTERLOCK
folder=$(realpath -m "$2")
campaign=(--encoder=none --runs=40000)
readonly parts=4

fail() {
  echo "slurm_test: $1" >&2
  tail -n 20 "$folder"/*.out >&2 || true
  exit 1
}

# Waits until $2 tells no job of $1 any more; fails after five minutes.
wait_for_jobs() {
  local tries
  for ((tries = 0; tries < 300; ++tries)); do
    if [[ -z $(squeue --noheader --jobs="$1" 2>/dev/null) ]]; then return; fi
    sleep 1
  done
  fail "job $1 has not ended after five minutes: $(squeue --jobs="$1")"
}

# Waits until the journal of part $1 has begun, so that the task is in the middle.
wait_for_part() {
  local tries
  for ((tries = 0; tries < 600; ++tries)); do
    if [[ -s $folder/parts/part$1/campaign.journal ]]; then return; fi
    sleep 0.1
  done
  fail "part $1 has not begun after a minute"
}

rm -rf "$folder"
mkdir -p "$folder"
trap stop_slurm EXIT
start_slurm "$folder/slurm"

job=$(sbatch --parsable --array=1-$parts --output="$folder/campaign-%a.out" \
  "$cluster/slurm_campaign.sh" "$folder/parts" "${campaign[@]}")
merge=$(sbatch --parsable --dependency=afterok:"$job" --output="$folder/merge.out" \
  "$cluster/slurm_merge.sh" "$folder/parts" $parts)
wait_for_part 1
# The whole task: Slurm takes it for a failed node's and queues it again.
scontrol requeue "${job}_1" || fail "task 1 could not be requeued"
wait_for_part 2
# The campaign alone, as the kernel kills one that takes too much memory; the task fails then, so it
# is started by hand as its owner would.
pkill -KILL --full -- "--shard=2/$parts" || echo "slurm_test: part 2 had ended before it was killed"
wait_for_jobs "$job"
# Again: what has ended has nothing to do, and what was killed goes on.
job=$(sbatch --parsable --array=1-$parts --output="$folder/again-%a.out" \
  "$cluster/slurm_campaign.sh" "$folder/parts" "${campaign[@]}")
scancel --quiet "$merge" || true
merge=$(sbatch --parsable --dependency=afterok:"$job" --output="$folder/merge.out" \
  "$cluster/slurm_merge.sh" "$folder/parts" $parts)
wait_for_jobs "$job"
wait_for_jobs "$merge"
if [[ ! -d $folder/parts/all ]]; then fail "the parts were not merged"; fi

status=0
"$INTERLOCK" fuzz "${campaign[@]}" --out="$folder/whole" >"$folder/whole.out" 2>&1 || status=$?
if ((status != 1)); then fail "one campaign ends with $status; 1 was expected"; fi
diff -r "$folder/whole" "$folder/parts/all" || fail "the merged folder is not that of one campaign"
echo "slurm_test: $parts tasks, one requeued, one killed: the files of one campaign, byte for byte."
