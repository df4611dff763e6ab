#!/usr/bin/env bash
# prepare.sh FOLDER: what the applications of list.txt have of npm, and what is compiled for them, in FOLDER.
# What an earlier run has left there is not done again.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$1"
shared=$(cd "$1" && pwd)

# Versions that the table is about. Their own scripts would build what they bring.
npm_packages=(webgpu@0.6.2 @tensorflow/tfjs@4.22.0 @tensorflow/tfjs-backend-webgpu@4.22.0
  onnxruntime-web@1.30.0 node-llama-cpp@3.22.1 @node-llama-cpp/linux-x64-vulkan@3.22.1)
npm_scripts=(dawn_indirect.mjs tfjs_step.mjs ort_step.mjs llama_step.mjs)

prepare_npm() {
  mkdir -p "$shared/npm"
  for script in "${npm_scripts[@]}"; do cp "$here/$script" "$shared/npm/"; done
  if [[ $(cat "$shared/npm/packages" 2>/dev/null) == "${npm_packages[*]}" ]]; then return; fi
  echo '{ "private": true, "type": "module" }' >"$shared/npm/package.json"
  (cd "$shared/npm" && npm install --ignore-scripts --no-audit --no-fund "${npm_packages[@]}") >&2 &&
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
  prepare_npm || echo "prepare.sh: npm could not install its packages." >&2
fi
if [[ -e /usr/include/vkFFT.h ]]; then
  prepare_vkfft || echo "prepare.sh: VkFFT could not be compiled." >&2
fi
