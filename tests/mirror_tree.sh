# Sourced by what builds a copy of the tree.

# The files of a folder, but for its build/ and .git, sorted.
files_of() {
  (cd "$1" && find . \( -path ./build -o -path ./.git \) -prune -o -type f -print | LC_ALL=C sort)
}

# mirror_tree FROM TO: makes the files of the second folder those of the first. A file that is the
# same keeps its time, or everything would compile again; one that is not gets a new one: what is
# built of it may be of what stood there before.
mirror_tree() {
  local from=$1 to=$2 file
  mkdir -p "$to"
  while IFS= read -r file; do
    cmp -s "$from/$file" "$to/$file" && continue
    mkdir -p "$to/${file%/*}"
    cp "$from/$file" "$to/$file"
  done < <(files_of "$from")
  while IFS= read -r file; do
    rm -f "$to/$file"
  done < <(LC_ALL=C comm -13 <(files_of "$from") <(files_of "$to"))
}
