#!/usr/bin/env bash
# Adds faults that a seed draws to tests/faults. Called by `./dev faults --plant`; see docs/faults.md.
#   plant.sh PROGRAM SEED FOLDER COUNT...    PROGRAM is plant_faults, built
set -euo pipefail
source "${BASH_SOURCE[0]%/*}/copy.sh"
planter=$1
seed=$2
shift 2

# Prints the object that a source is compiled into.
object_of() {
  awk -v source="/$1" '/^build .*: CXX_COMPILER/ && $4 == substr($4, 1, length($4) - length(source)) source {
    print substr($2, 1, length($2) - 1)
    exit
  }' "$build/build.ninja"
}

compiles() {
  local patch=$1 object status=0
  object=$(object_of "$(sed -n 's,^+++ b/,,p' "$patch")")
  [[ -n $object ]] || return 1 # Nothing here is built of it.
  apply "$patch" || return 1
  build_target "$object" || status=$?
  apply -R "$patch"
  return "$status"
}

# Prints the first draw of the seed in the folder that no fault has come from yet.
next_draw() {
  { cat "$faults"/seeded-"$1"-*.patch 2>/dev/null || true; } |
    sed -n "s,^# Planted by seed $seed\, draw \([0-9]*\) of .*,\1,p" | sort -n | tail -n 1 |
    awk '{ last = $1 + 1 } END { print last + 0 }'
}

# Draws until `count` faults of the folder compile.
plant_in() {
  local folder=$1 count=$2 number=1 draw patch draft=$work/draft.patch
  draw=$(next_draw "$folder")
  for ((; count > 0; ++draw)); do
    "$planter" "$folder" "$seed" "$draw" >"$draft" || {
      echo "dev: $folder/ has no more places for faults." >&2
      exit 1
    }
    [[ -s $draft ]] || continue
    compiles "$draft" || continue
    while patch=$(printf '%s/seeded-%s-%02d.patch' "$faults" "$folder" "$number") && [[ -e $patch ]]; do
      number=$((number + 1))
    done
    mv "$draft" "$patch"
    count=$((count - 1))
    echo "$(basename "$patch" .patch): $(sed -n '1s/^# //p' "$patch")"
  done
}

copy_tree
configure
: >"$log"
while (($# >= 2)); do
  plant_in "$1" "$2"
  shift 2
done
