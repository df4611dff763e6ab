#!/usr/bin/env bash
# .clusterfuzzlite/ gives a service what it asks for: build_script_test.sh BUILD FOLDER. BUILD has the
# fuzz targets; the script puts them into $OUT, where each is started as the service does, with its
# dictionary and options on its seeds. Whether the script compiles them `./dev campaigns` tells.
# Rules: OSS-Fuzz, "Setting up a new project"; ClusterFuzzLite, "Build integration".
set -euo pipefail
if (($# != 2)); then
  echo "Usage: $0 BUILD FOLDER" >&2
  exit 2
fi
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.clusterfuzzlite" && pwd)
build=$(realpath "$1")
folder=$(realpath -m "$2")

fail() {
  echo "build_script_test: $1" >&2
  exit 1
}

grep -qx 'language: c++' "$project/project.yaml" || fail "project.yaml names no language"
image=$(sed -n 's/^base_os_version: //p' "$project/project.yaml")
grep -qx "FROM gcr.io/oss-fuzz-base/base-builder:$image" "$project/Dockerfile" ||
  fail "Dockerfile and project.yaml name different images"
grep -qx 'COPY .clusterfuzzlite/build.sh $SRC/build.sh' "$project/Dockerfile" ||
  fail "the script is not where the service starts it"

rm -rf "$folder"
mkdir -p "$folder/src"
# In the container the script is a copy, beside the project.
cp "$project/build.sh" "$folder/src/build.sh"
ln -s "$project/.." "$folder/src/interlock"
SRC=$folder/src OUT=$folder/out INTERLOCK_BUILD=$build "$folder/src/build.sh" >/dev/null

count=0
for target in "$folder"/out/*; do
  name=${target##*/}
  # Only a program without an extension is a target.
  if [[ $name == *.* ]]; then
    [[ -x $folder/out/${name%%.*} || $name == *_seed_corpus.zip ]] || fail "$name belongs to no target"
    continue
  fi
  [[ $name =~ ^[A-Za-z0-9_-]+$ ]] || fail "'$name' is no name of a target"
  [[ -s ${target}_seed_corpus.zip ]] || fail "$name has no seeds"
  mkdir "$folder/$name"
  (cd "$folder/$name" && cmake -E tar xf "${target}_seed_corpus.zip")
  [[ -n $(find "$folder/$name" -type f -size +0) ]] || fail "the seeds of $name are empty"
  options=(-runs=1 -seed=1 -artifact_prefix="$folder/$name-")
  if [[ -e $target.options ]]; then
    [[ $(head -n 1 "$target.options") == '[libfuzzer]' ]] || fail "$name.options is of no engine"
    while IFS= read -r option; do options+=("-$option"); done < <(sed -n 's/ = /=/p' "$target.options")
  fi
  if [[ -e $target.dict ]]; then options+=(-dict="$target.dict"); fi
  "$target" "${options[@]}" >"$folder/$name.log" 2>&1 || fail "$name ends with $?: $(tail -n 20 "$folder/$name.log")"
  count=$((count + 1))
done
listed=$(sed -n '/^set(targets$/,/^)$/s/^  \([a-z_]*\)$/\1/p' "$project/../fuzz/targets/CMakeLists.txt" | wc -l)
((count >= listed)) || fail "there are $count targets in \$OUT, and $listed in fuzz/targets/CMakeLists.txt"
echo "build_script_test: $count targets start with their options, dictionaries and seeds."
