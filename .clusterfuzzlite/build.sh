#!/usr/bin/env bash
# Builds the fuzz targets as OSS-Fuzz and ClusterFuzzLite ask for it: with $CXX and $CXXFLAGS, linked
# with $LIB_FUZZING_ENGINE, and puts them into $OUT with their dictionaries, options and seeds. What is
# compiled stays in $WORK. Any compiler and engine of that interface will do, AFL++ too.
# Where INTERLOCK_BUILD names a folder in which they are built, they are only put into $OUT.
set -euo pipefail
source=$(cd "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/.." && pwd)
# The container has this script in $SRC, beside the project.
if [[ ! -e $source/CMakeLists.txt ]]; then source=$SRC/interlock; fi

build=${INTERLOCK_BUILD:-}
if [[ -z $build ]]; then
  build=$WORK/interlock
  # Flags are those of $CXXFLAGS alone. The targets run elsewhere: no library is linked that may be
  # missing there, and none of another C++ runtime.
  cmake -S "$source" -B "$build" -G Ninja \
    -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO= \
    -DINTERLOCK_FUZZ=ON -DINTERLOCK_FUZZING_ENGINE="$LIB_FUZZING_ENGINE" \
    -DINTERLOCK_TESTS=OFF -DINTERLOCK_CAPTURE=OFF -DINTERLOCK_CUDA=OFF -DINTERLOCK_VULKAN=OFF
  cmake --build "$build" --target interlock_fuzz_targets --parallel "${JOBS:-$(nproc)}"
fi
cmake --install "$build" --component fuzz_targets --prefix "$OUT"
