// Prints how the CPU times of benchmarks changed: compare_results OLD NEW, folders with a folder
// for each round, in which are the JSON files of the programs.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "encoder/text/files.h"
#include "tests/bench/result_files.h"
#include "tests/bench/result_tables.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "Usage: %s OLD NEW\n", argv[0]);
    return 2;
  }
  std::vector<std::vector<interlock::BenchResult>> before;
  std::vector<std::vector<interlock::BenchResult>> after;
  for (int round = 1; std::filesystem::exists(std::string(argv[2]) + "/" + std::to_string(round));
       ++round) {
    before.push_back(interlock::read_results(std::string(argv[1]) + "/" + std::to_string(round)));
    after.push_back(interlock::read_results(std::string(argv[2]) + "/" + std::to_string(round)));
  }
  if (after.empty()) {
    std::fprintf(stderr, "%s: no rounds\n", argv[2]);
    return 2;
  }
  std::fputs(interlock::comparison_table(before, after).c_str(), stdout);
  return 0;
}
