#include "tests/bench/result_files.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iterator>

#include "encoder/text/files.h"

namespace interlock {

std::vector<BenchResult> read_results(const std::string& folder) {
  std::vector<std::string> paths;
  std::vector<BenchResult> results;
  std::string file = folder;  // What an error is about.
  try {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
    }
    std::sort(paths.begin(), paths.end());
    for (const std::string& path : paths) {
      const Result<std::string> text = read_file(path);
      // A program that had nothing to run leaves an empty file.
      if (!text.has_value() || text->empty()) continue;
      file = path;
      std::vector<BenchResult> more = parse_results(*text);
      std::move(more.begin(), more.end(), std::back_inserter(results));
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", file.c_str(), error.what());
    std::exit(2);
  }
  return results;
}

}  // namespace interlock
