#!/bin/bash
# One part of a campaign for each task of a Slurm job array (docs/campaigns.md):
#
#     sbatch --array=1-16 slurm_campaign.sh FOLDER --encoder=mlx-2024 --runs=1e6
#
# FOLDER is on storage that all nodes share; part I of the campaign is FOLDER/partI. A task that is
# killed, preempted or requeued goes on where its journal ends. One that reaches its time limit is
# told so a minute before, puts away what it found, and asks to be queued again. Findings are what a
# campaign is for, so a task that has some succeeds: then slurm_merge.sh can wait for `afterok`.
#
# INTERLOCK names the program, `interlock` unless set.
#SBATCH --job-name=interlock
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@60
set -euo pipefail

if (($# < 2)) || [[ $1 == -* ]]; then
  echo "Usage: sbatch --array=1-N $0 FOLDER --encoder=NAME --runs=COUNT [OPTION…]" >&2
  exit 2
fi
if [[ -z ${SLURM_ARRAY_TASK_ID:-} ]]; then
  echo "slurm_campaign.sh: this is a task of a job array: sbatch --array=1-N" >&2
  exit 2
fi
if [[ $SLURM_ARRAY_TASK_MIN != 1 || $SLURM_ARRAY_TASK_MAX != "$SLURM_ARRAY_TASK_COUNT" ]]; then
  echo "slurm_campaign.sh: the array is to be 1-N, without steps, so that N parts make the whole" >&2
  exit 2
fi
folder=$1
shift
mkdir -p "$folder"

"${INTERLOCK:-interlock}" fuzz --shard="$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" \
  --jobs="${SLURM_CPUS_PER_TASK:-1}" --out="$folder/part$SLURM_ARRAY_TASK_ID" "$@" &
campaign=$!
# Slurm signals the script alone.
trap 'kill -TERM "$campaign" 2>/dev/null || true' TERM
status=0
wait "$campaign" || status=$?
# The signal ends the wait, not yet the campaign.
while kill -0 "$campaign" 2>/dev/null; do
  status=0
  wait "$campaign" || status=$?
done

case $status in
  0 | 1) exit 0 ;;
  130)
    echo "slurm_campaign.sh: interrupted; queued again to go on"
    scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
    exit 0
    ;;
  *) exit "$status" ;;
esac
