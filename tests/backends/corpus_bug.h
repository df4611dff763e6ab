// Programs of corpus/bugs/ for tests of backends.
#pragma once

#include <string>
#include <utility>

#include "encoder/program/check.h"
#include "encoder/program/program.h"
#include "encoder/text/files.h"

namespace interlock {

// Returns corpus/bugs/`name`.ilk. Requires: the file is there and holds a program.
inline Program corpus_bug(const std::string& name) {
  Result<Program> program = parse_file(INTERLOCK_SOURCE_DIR "/corpus/bugs/" + name + ".ilk");
  INTERLOCK_CHECK(program.has_value());
  return std::move(program).value();
}

}  // namespace interlock
