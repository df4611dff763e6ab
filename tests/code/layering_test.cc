// A folder includes itself and the folders to its left. The basic idea is that a cycle is hard to
// remove once it is there; so the first include that would close one fails here.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/code/source_tree.h"

namespace interlock::layering_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::array<std::string_view, 5> kFoldersLeftToRight = {"encoder", "simulator", "backends",
                                                                 "fuzz", "tests"};

// The checker shares the vocabulary of encoder/ and none of these, or one bug would hide in both.
constexpr std::array<std::string_view, 7> kLogicUnknownToSimulator = {
    "encoder/sync/boundary_index.h",
    "encoder/sync/interlock_encoder.h",
    "encoder/sync/mlx.h",
    "encoder/sync/ggml.h",
    "encoder/sync/segment_map.h",
    "encoder/sync/segment_memo.h",
    "encoder/sync/tracker.h"};

// The oracles share no logic with the kernels that they judge, whatever the device.
constexpr std::array<std::string_view, 2> kKnownToFloat64 = {"backends/interface/backend.h",
                                                             "backends/float64/"};

// Compiled by strangers' C compilers, beside none of our other files.
constexpr std::string_view kStandAlone = "encoder/recorder.h";

std::optional<std::ptrdiff_t> rank_of(std::string_view folder) {
  const auto found = std::find(kFoldersLeftToRight.begin(), kFoldersLeftToRight.end(), folder);
  if (found == kFoldersLeftToRight.end()) return std::nullopt;
  return found - kFoldersLeftToRight.begin();
}

// Returns what the include of `target` in the file `path` does wrong; empty if it is fine.
std::string include_error(std::string_view path, std::string_view target) {
  const std::string quoted = "'" + std::string(target) + "'";
  if (path == kStandAlone) return quoted + " is included, but this header stands alone.";
  const auto from = rank_of(folder_of(path));
  const auto to = rank_of(folder_of(target));
  if (!to) return quoted + " does not start at the project root.";
  if (*to > from) return quoted + " is to the right of this folder.";
  if (path.starts_with("backends/float64/") && folder_of(target) == "backends" &&
      std::none_of(kKnownToFloat64.begin(), kKnownToFloat64.end(),
                   [&](std::string_view known) { return target.starts_with(known); })) {
    return quoted + " is of the devices that the float64 oracles judge.";
  }
  if (folder_of(path) == "simulator") {
    for (const std::string_view logic : kLogicUnknownToSimulator) {
      if (target.starts_with(logic)) return quoted + " is logic that the checker may not share.";
    }
  }
  return {};
}

// Returns the file that a line includes in quotes, if it does. `code` is the line in code_only().
std::optional<std::string_view> included_file(std::string_view line, std::string_view code) {
  const std::size_t hash = code.find_first_not_of(" \t");
  if (hash == std::string_view::npos || code[hash] != '#') return std::nullopt;
  const std::size_t word = code.find_first_not_of(" \t", hash + 1);
  if (word == std::string_view::npos || !code.substr(word).starts_with("include")) {
    return std::nullopt;
  }
  const std::size_t open = code.find('"', word);
  const std::size_t close = code.rfind('"');
  if (open == std::string_view::npos || close == open) return std::nullopt;
  return line.substr(open + 1, close - open - 1);
}

std::vector<std::string> layering_complaints(const SourceFile& file) {
  std::vector<std::string> complaints;
  const std::string code = code_only(file.text);
  const std::vector<std::string_view> code_lines = lines_of(code);
  const std::vector<std::string_view> lines = lines_of(file.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto target = included_file(lines[i], code_lines[i]);
    if (!target) continue;
    const std::string error = include_error(file.path, *target);
    if (!error.empty()) complaints.push_back(complaint(file, i + 1, error));
  }
  return complaints;
}

TEST(Layering, HoldsEverywhere) {
  for (const SourceFile& file : own_sources()) EXPECT_THAT(layering_complaints(file), IsEmpty());
}

TEST(Layering, RejectsAFolderToTheRight) {
  EXPECT_THAT(layering_complaints({"encoder/a.cc", "#include \"backends/kernels/add.h\"\n"}),
              ElementsAre(HasSubstr("encoder/a.cc:1: 'backends/kernels/add.h' is to the right")));
  EXPECT_THAT(layering_complaints({"fuzz/a.cc", "\n# include \"tests/a.h\"\n"}),
              ElementsAre(HasSubstr("fuzz/a.cc:2: ")));
}

TEST(Layering, AcceptsTheSameFolderAndThoseToTheLeft) {
  EXPECT_THAT(layering_complaints({"backends/a.cc",
                                   "#include <vector>\n#include \"backends/a.h\"\n"
                                   "#include \"simulator/a.h\"\n#include \"encoder/a.h\"\n"}),
              IsEmpty());
}

TEST(Layering, RejectsAPathThatDoesNotStartAtTheRoot) {
  EXPECT_THAT(layering_complaints({"encoder/a.cc", "#include \"program.h\"\n"}),
              ElementsAre(HasSubstr("project root")));
}

TEST(Layering, KeepsTheRecorderAlone) {
  EXPECT_THAT(layering_complaints({"encoder/recorder.h", "#include \"encoder/program/range.h\"\n"}),
              ElementsAre(HasSubstr("stands alone")));
}

TEST(Layering, KeepsTheCheckerApartFromOurEncoder) {
  EXPECT_THAT(layering_complaints({"simulator/a.h", "#include \"encoder/sync/tracker.h\"\n"}),
              ElementsAre(HasSubstr("may not share")));
  EXPECT_THAT(layering_complaints({"simulator/a.h", "#include \"encoder/program/program.h\"\n"}),
              IsEmpty());
}

TEST(Layering, KeepsTheOraclesApartFromTheKernels) {
  for (const char* target : {"backends/kernels/reduction.h", "backends/cpu/execute.h"}) {
    EXPECT_THAT(layering_complaints(
                    {"backends/float64/a.cc", "#include \"" + std::string(target) + "\"\n"}),
                ElementsAre(HasSubstr("that the float64 oracles judge")));
  }
  EXPECT_THAT(layering_complaints({"backends/float64/a.cc",
                                   "#include \"backends/float64/a.h\"\n"
                                   "#include \"encoder/program/program.h\"\n"}),
              IsEmpty());
}

TEST(Layering, IgnoresIncludesInCommentsAndStrings) {
  EXPECT_THAT(layering_complaints({"encoder/a.cc",
                                   "// #include \"fuzz/a.h\"\n"
                                   "const char* s = R\"(\n#include \"fuzz/a.h\"\n)\";\n"}),
              IsEmpty());
}

}  // namespace
}  // namespace interlock::layering_test
