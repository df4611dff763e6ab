#!/usr/bin/env bash
# run.sh INTERLOCK FOLDER [--drop=COUNT]: captures the applications of list.txt beside synchronization
# validation, each once, and prints a table; with --drop, COUNT times more, each time without one
# barrier, by turns over the applications. What is in FOLDER from an earlier run is not done again.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
interlock=$1 folder=$2 drop=0
case ${3:-} in
  --drop=*) drop=${3#--drop=} ;;
esac
mkdir -p "$folder"
# For every run of every build: what npm has, and what is compiled here.
shared=$(dirname "$folder")

# Versions that the table is about. Their own scripts would build what they bring.
npm_packages=(webgpu@0.6.2 @tensorflow/tfjs@4.22.0 @tensorflow/tfjs-backend-webgpu@4.22.0
  onnxruntime-web@1.30.0 node-llama-cpp@3.22.1 @node-llama-cpp/linux-x64-vulkan@3.22.1)
npm_scripts=(dawn_indirect.mjs tfjs_step.mjs ort_step.mjs llama_step.mjs)

prepare_npm() {
  mkdir -p "$shared/npm"
  for script in "${npm_scripts[@]}"; do cp "$here/$script" "$shared/npm/"; done
  if [[ $(cat "$shared/npm/packages" 2>/dev/null) == "${npm_packages[*]}" ]]; then return; fi
  echo '{ "private": true, "type": "module" }' >"$shared/npm/package.json"
  (cd "$shared/npm" && npm install --ignore-scripts --no-audit --no-fund "${npm_packages[@]}") >&2
  echo "${npm_packages[*]}" >"$shared/npm/packages"
}

# Debian's header is older than Debian's glslang, whose limits have 9 numbers more.
prepare_vkfft() {
  mkdir -p "$shared/vkfft"
  if [[ $shared/vkfft/vkfft_step -nt $here/vkfft_step.c ]]; then return; fi
  sed 's|/\* \.maxDualSourceDrawBuffersEXT = \*/ 1,|256, 512, 32, 1, 1, 32, 1, 1, 4, 1,|' \
    /usr/include/vkFFT.h >"$shared/vkfft/vkFFT.h"
  g++ -x c++ -std=c++20 -O1 -w -I "$shared/vkfft" -I /usr/include/glslang/Include \
    "$here/vkfft_step.c" -o "$shared/vkfft/vkfft_step" -lvulkan -lglslang -lMachineIndependent \
    -lGenericCodeGen -lOSDependent -lOGLCompiler -lSPIRV -lSPIRV-Tools-opt -lSPIRV-Tools \
    -lglslang-default-resource-limits -lpthread >&2
}

# What cannot be prepared has a row that says so.
if command -v npm >/dev/null; then
  prepare_npm || echo "run.sh: npm could not install its packages." >&2
fi
if [[ -e /usr/include/vkFFT.h ]]; then
  prepare_vkfft || echo "run.sh: VkFFT could not be compiled." >&2
fi

# The words of a command of the list, one a line.
words_of() {
  local -a head=(ffmpeg -v error -init_hw_device vulkan=v:0 -filter_hw_device v)
  local -a tail=(-frames:v 5 -f null -) source=(-f lavfi -i testsrc=size=64x64)
  local up="format=yuv420p,hwupload" down="hwdownload,format=yuv420p"
  case $1 in
    ff) printf '%s\n' "${head[@]}" "${source[@]}" -vf "$up,$2,$down" "${tail[@]}" ;;
    ff2)
      printf '%s\n' "${head[@]}" "${source[@]}" "${source[@]}" -filter_complex \
        "[0:v]${up}[a];[1:v]${up}[b];[a][b]$2,$down" "${tail[@]}"
      ;;
    js) printf '%s\n' node "$shared/npm/$2" ;;
    vkfft) printf '%s\n' "$shared/vkfft/vkfft_step" "$2" ;;
    *) printf '%s\n' "$@" ;;
  esac
}

# capture NAME OUT [OPTION...]: the report of one run, in OUT once it is whole.
capture() {
  local name=$1 out=$2 status=0
  shift 2
  if [[ -e $out ]]; then return; fi
  local -a beside=(--syncval)
  # Without dispatches there is nothing to validate.
  if [[ " ${options[*]} " == *" --dry "* ]]; then beside=(); fi
  timeout --signal=KILL 300 "$interlock" capture "${beside[@]}" "$@" "${options[@]}" -- "${command[@]}" \
    </dev/null >"$out.part" 2>"$out.err" || status=$?
  echo "status $status" >>"$out.part"
  mv "$out.part" "$out"
  echo "$name: status $status ${*}" >&2
}

# Splits a line of the list into `options` and `command`.
split_line() {
  options=()
  while [[ $1 == --* ]]; do
    options+=("$1")
    shift
  done
  mapfile -t command < <(words_of "$@")
}

# number REGEX FILE: what the first group of the expression matches, or 0.
number() {
  local found
  found=$(sed -nE "s/.*$1.*/\1/p" "$2" | head -n 1)
  echo "${found:-0}"
}

# Whether there is what `command` runs.
is_installed() {
  command -v "${command[0]}" >/dev/null || return 1
  [[ ${command[0]} != node || -d $shared/npm/node_modules/$1 ]]
}

# Of several processes that submitted something the row is that of the last one.
row() {
  local out=$1.last both own foreign unknown agreement
  awk '/^captured: / { block = "" } { block = block $0 "\n" } END { printf "%s", block }' "$1" >"$out"
  if grep -q '^captured: ' "$out"; then
    both=$(number '^agreement with .*: both ([0-9]+),' "$out")
    own=$(number '^agreement with .* only here ([0-9]+),' "$out")
    foreign=$(number '^agreement with .* only there ([0-9]+)\.' "$out")
  else
    echo "| $2 | no verdict: $(head -n 1 "$1.err" | cut -c1-60) | | | | | | | |"
    return
  fi
  unknown=$(sed -nE 's/^  only (here|there), ([0-9]+): there is no known reason\.$/\2/p' "$out" |
    awk '{ sum += $1 } END { print sum + 0 }')
  agreement="$both / $own / $foreign / $unknown"
  # Without validation nothing was compared.
  grep -q '^agreement with ' "$out" || agreement="–"
  printf '| %s | %s | %s | %s | %s | %s of %s | %s | %s | %s |\n' "$2" \
    "$(number '^  ([0-9]+) dispatch' "$out")" "$(number '^  graphics: ([0-9]+) pass' "$out")" "$(number ' ([0-9]+) submission' "$out")" \
    "$(number ' ([0-9]+) queues?\.' "$out")" \
    "$(number '^  ([0-9]+) of [0-9]+ submissions? ha' "$out")" "$(number ' ([0-9]+) submission' "$out")" \
    "$(number '; ([0-9]+) findings?\.' "$out")" \
    "$(number '^([0-9]+) redundant pieces? of sync' "$out")" \
    "$agreement"
}

echo '| application | dispatches | passes | submissions | queues | not understood | findings | sync that can go | both / only here / only there / no known reason |'
echo '|---|---|---|---|---|---|---|---|---|'
names=()
while read -r name package line; do
  if [[ -z $name || $name == \#* ]]; then continue; fi
  split_line $line
  if ! is_installed "$package"; then
    echo "| $name | not installed ($package) | | | | | | | |"
    continue
  fi
  capture "$name" "$folder/$name.txt" -o "$folder/$name.ilk"
  row "$folder/$name.txt" "$name"
  names+=("$name $line")
done <"$here/list.txt"

if ((drop == 0)); then exit; fi
done_count=0 number=0
while ((done_count < drop)); do
  any=false
  for entry in "${names[@]}"; do
    read -r name line <<<"$entry"
    barriers=$(number ', ([0-9]+) barriers?,' "$folder/$name.txt")
    if ((number >= barriers || done_count >= drop)); then continue; fi
    split_line $line
    capture "$name" "$folder/$name.drop$number.txt" "--drop-barrier=$number"
    any=true
    done_count=$((done_count + 1))
  done
  number=$((number + 1))
  $any || break
done
# Runs in which nothing was compared agree with nobody.
mapfile -t compared < <(grep -l '^agreement with ' "$folder"/*.drop*.txt)
agreed=$( (grep -L 'there is no known reason' "${compared[@]}" /dev/null || true) | grep -vcx /dev/null || true)
found=$( (grep -l '^agreement with .*: both [1-9]' "${compared[@]}" /dev/null || true) | wc -l)
echo
echo "$done_count barriers left out, one at a time. Compared: ${#compared[@]}; in $agreed of them every difference has a known reason, in $found both find something."
