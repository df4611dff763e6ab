#!/usr/bin/env bash
# What libinterlock.so shows and needs: exports.sh LIBRARY HEADER
set -euo pipefail
library=$1 header=$2

# Declarations, and not what comments say.
declared=$(grep -o '^ILK_API .*' "$header" | grep -o 'ilk_[a-z_]*(' | tr -d '(' | LC_ALL=C sort -u)
shown=$(nm --dynamic --defined-only --extern-only "$library" |
  sed -n 's/^[0-9a-f]* [TtBbDdRrVvWwui] \([^@]*\)@.*/\1/p' | LC_ALL=C sort -u)
diff <(echo "$declared") <(echo "$shown") ||
  { echo "exports.sh: '<' is declared and not exported, '>' the other way round." >&2; exit 1; }

# Its own C++ runtime is inside.
needed=$(objdump -p "$library" | sed -n 's/^ *NEEDED *//p')
while IFS= read -r name; do
  case $name in
    libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | ld-linux*) ;;
    *) echo "exports.sh: it needs $name." >&2; exit 1 ;;
  esac
done <<<"$needed"

# Nowhere is it told where it was built.
if objdump -p "$library" | grep -E '(RPATH|RUNPATH)'; then
  echo "exports.sh: it has a path in it." >&2
  exit 1
fi
[[ $(objdump -p "$library" | sed -n 's/^ *SONAME *//p') == libinterlock.so.$(sed -n \
  's/^#define ILK_ABI_VERSION //p' "$header") ]]
echo "$(wc -l <<<"$shown") functions, and nothing else."
