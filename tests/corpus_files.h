// Programs of the corpus, for tests that take all of a folder.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "encoder/program/check.h"
#include "encoder/program/program.h"
#include "encoder/text/files.h"
#include "simulator/order/queue_order.h"
#include "tests/program_count.h"

namespace interlock {

// Returns the programs in these folders of corpus/, sorted by path.
inline std::vector<std::filesystem::path> corpus_files(const std::vector<std::string>& folders) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& folder : folders) {
    for (const auto& entry : std::filesystem::directory_iterator(
             std::filesystem::path(INTERLOCK_SOURCE_DIR) / "corpus" / folder)) {
      if (entry.path().extension() == ".ilk") paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Returns all of `paths`, or one in `divisor` in a slow build: for tests that take long for each.
// Bugs and their repaired twins stand by turns, so that an even share would have one sort alone.
// Requires: `divisor` is odd.
inline std::vector<std::filesystem::path> fewer_if_slow(
    const std::vector<std::filesystem::path>& paths, size_t divisor = 3) {
  if (!is_slow_build()) return paths;
  std::vector<std::filesystem::path> fewer;
  for (size_t i = 0; i < paths.size(); i += divisor) fewer.push_back(paths[i]);
  return fewer;
}

// Reads statements of the whole model: what `interlock check` reads.
inline ParseOptions every_queue() {
  ParseOptions options;
  options.reads_every_queue = true;
  return options;
}

// Requires: the file is there and holds a program.
inline Program corpus_program(const std::filesystem::path& path) {
  Result<Program> program = parse_file(path.string(), every_queue());
  INTERLOCK_CHECK(program.has_value());
  return std::move(program).value();
}

// True iff tests of one queue take it. Those of several have tests of their own.
inline bool has_one_queue(const Program& program) { return !needs_queue_order(program); }

// Returns corpus_files() of which the programs are so.
inline std::vector<std::filesystem::path> one_queue_corpus_files(
    const std::vector<std::string>& folders) {
  std::vector<std::filesystem::path> paths = corpus_files(folders);
  paths.erase(std::remove_if(paths.begin(), paths.end(),
                             [](const std::filesystem::path& path) {
                               return !has_one_queue(corpus_program(path));
                             }),
              paths.end());
  return paths;
}

}  // namespace interlock
