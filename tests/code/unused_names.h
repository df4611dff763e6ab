#pragma once

#include <string>
#include <vector>

#include "tests/code/source_tree.h"

namespace interlock {

// One for each name that `files` declare and do not use.
std::vector<std::string> unused_complaints(const std::vector<SourceFile>& files);

}  // namespace interlock
