#!/bin/bash
# Makes one folder of the parts that slurm_campaign.sh left (docs/campaigns.md):
#
#     job=$(sbatch --parsable --array=1-16 slurm_campaign.sh FOLDER --encoder=mlx-2024 --runs=1e6)
#     sbatch --dependency=afterok:"$job" slurm_merge.sh FOLDER 16
#
# FOLDER/all has then the files of one campaign that made all runs. The job fails if a part is
# missing, has not ended or does not belong to the others, with the reason in its output.
#
# INTERLOCK names the program, `interlock` unless set.
#SBATCH --job-name=interlock-merge
#SBATCH --requeue
set -euo pipefail

if (($# != 2)) || [[ ! $2 =~ ^[1-9][0-9]*$ ]]; then
  echo "Usage: $0 FOLDER COUNT" >&2
  exit 2
fi
parts=()
for ((i = 1; i <= $2; ++i)); do parts+=("$1/part$i"); done
status=0
"${INTERLOCK:-interlock}" merge "${parts[@]}" --out="$1/all" || status=$?
# 1: there are findings.
if ((status > 1)); then exit "$status"; fi
