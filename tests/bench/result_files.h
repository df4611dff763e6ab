// The JSON files of benchmark programs.
#pragma once

#include <string>
#include <vector>

#include "tests/bench/result_tables.h"

namespace interlock {

// All results in the *.json files of a folder, file by file in the order of their names. Ends the
// process with status 2 where one cannot be read.
std::vector<BenchResult> read_results(const std::string& folder);

}  // namespace interlock
