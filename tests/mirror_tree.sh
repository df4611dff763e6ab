# Sourced by what builds a copy of the tree.

# The files of a folder, but for its build/ and .git, each after a digest of its bytes, sorted.
digests_of() {
  (cd "$1" && find . \( -path ./build -o -path ./.git \) -prune -o -type f -print0 | xargs -0r sha256sum | LC_ALL=C sort)
}

# The files alone, sorted.
files_of() {
  (cd "$1" && find . \( -path ./build -o -path ./.git \) -prune -o -type f -print | LC_ALL=C sort)
}

hash_of() { sha256sum | cut -c 1-16; }

# The hash of what decides verdicts and counts in a folder: neither the faults that are planted nor
# what is written about them.
hash_of_sources() {
  (cd "$1" && files_of . | grep -v -e '^./tests/faults/' -e '^./docs/' -e '\.md$' |
    xargs sha256sum | hash_of)
}

# mirror_tree FROM TO: makes the files of the second folder those of the first. A file that is the
# same keeps its time, or everything would compile again; one that is not gets a new one: what is
# built of it may be of what stood there before.
mirror_tree() {
  local from=$1 to=$2 line file
  mkdir -p "$to"
  while IFS= read -r line; do
    file=${line#*  }
    mkdir -p "$to/${file%/*}"
    cp "$from/$file" "$to/$file"
  done < <(LC_ALL=C comm -23 <(digests_of "$from") <(digests_of "$to"))
  while IFS= read -r file; do
    rm -f "$to/$file"
  done < <(LC_ALL=C comm -13 <(files_of "$from") <(files_of "$to"))
}
