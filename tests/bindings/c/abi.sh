#!/usr/bin/env bash
# Holds the library against the ABI that libinterlock.abi, which is beside this file, has of it. What was
# added is fine, what changed or went is not: abi.sh LIBRARY SOURCE
# For a release: abi.sh --record LIBRARY SOURCE writes the file.
set -euo pipefail
record=false
if [[ $1 == --record ]]; then
  record=true
  shift
fi
library=$1 source=$2
recorded=$source/tests/bindings/c/libinterlock.abi

if ! command -v abidiff >/dev/null; then
  echo "Skipped: there is no abidiff here (apt-get install abigail-tools)."
  exit 77
fi
# Only what the header declares: what a handle is, nobody may know.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/headers"
cp "$source/bindings/c/interlock.h" "$folder/headers"

# write_abi FILE: of the library.
write_abi() {
  abidw --exported-interfaces-only --headers-dir "$folder/headers" --drop-private-types --no-show-locs \
    --no-corpus-path --no-comp-dir-path --no-parameter-names --out-file "$1" "$library"
  sed -i "s/ path='[^']*'//" "$1" # Where it was built is no part of it.
}
if $record; then
  write_abi "$recorded"
  exit
fi

write_abi "$folder/now.abi"
if ! abidiff --no-added-syms "$recorded" "$folder/now.abi"; then
  echo "abi.sh: the ABI is not the recorded one. Where a change is meant, raise ILK_ABI_VERSION" \
    "(docs/versions.md) and record it: tests/bindings/c/abi.sh --record $library $source" >&2
  exit 1
fi

# What is to be seen is seen: a function that went, and one that takes another type.
sed '/elf-symbol name=.ilk_check. /d; /name=.ilk_check. /,/<\/function-decl>/d' "$folder/now.abi" >"$folder/gone.abi"
# id_of TYPE: of its declaration.
id_of() { sed -n "s/.*-decl name='$1' .*id='\\([^']*\\)'.*/\\1/p" "$folder/now.abi" | head -n 1; }
sed "/<function-decl name='ilk_program_parse' /,/<\/function-decl>/s/type-id='$(id_of size_t)'/type-id='$(id_of 'unsigned int')'/" \
  "$folder/now.abi" >"$folder/other.abi"
for planted in gone other; do
  cmp -s "$folder/now.abi" "$folder/$planted.abi" && { echo "abi.sh: nothing was planted for '$planted'." >&2; exit 1; }
  if abidiff --no-added-syms "$recorded" "$folder/$planted.abi" >/dev/null; then
    echo "abi.sh: abidiff does not see what is planted ('$planted')." >&2
    exit 1
  fi
done
echo "The ABI is the recorded one."
