// The faults of tests/faults can be judged: each says what mistake it is, and its patch still
// applies. The basic idea is that what a patch takes to be there, its context and what it removes,
// stands together in the file; as `git apply` would have it, in whatever line.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tests/code/source_tree.h"

namespace interlock::faults_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Lines = std::vector<std::string_view>;

std::vector<SourceFile> own_faults() {
  const std::filesystem::path root = INTERLOCK_SOURCE_DIR;
  std::vector<SourceFile> faults;
  for (const auto& entry : std::filesystem::directory_iterator(root / "tests/faults")) {
    if (entry.path().extension() != ".patch") continue;
    const std::string path = entry.path().lexically_relative(root).generic_string();
    faults.push_back({path, read_own_file(path)});
  }
  return faults;
}

// A stretch of lines of one file, as a patch changes it.
struct Hunk {
  std::string path;
  std::size_t line = 0;  // In the patch, from one.
  Lines old_lines;
  bool has_change = false;
};

std::vector<Hunk> hunks_of(const SourceFile& patch) {
  std::vector<Hunk> hunks;
  std::string path;
  const Lines lines = lines_of(patch.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    if (line.starts_with("--- a/")) {
      path = line.substr(6);
    } else if (line.starts_with("@@ ")) {
      hunks.push_back({path, i + 1, {}, false});
    } else if (!hunks.empty() && !line.starts_with("+++ ") && !line.starts_with("diff ")) {
      const char mark = line.empty() ? ' ' : line[0];
      if (mark == ' ' || mark == '-') hunks.back().old_lines.push_back(line.substr(!line.empty()));
      if (mark == '+' || mark == '-') hunks.back().has_change = true;
    }
  }
  return hunks;
}

// `read` returns the text of the file at a path.
template <typename Read>
std::vector<std::string> fault_complaints(const SourceFile& patch, const Read& read) {
  std::vector<std::string> complaints;
  if (!patch.text.starts_with("# ")) {
    complaints.push_back(complaint(patch, 1, "the fault has no reason. Say what mistake it is."));
  }
  const std::vector<Hunk> hunks = hunks_of(patch);
  if (hunks.empty()) complaints.push_back(complaint(patch, 1, "the fault changes nothing."));
  for (const Hunk& hunk : hunks) {
    const std::string text = read(hunk.path);
    const Lines lines = lines_of(text);
    const auto found =
        std::search(lines.begin(), lines.end(), hunk.old_lines.begin(), hunk.old_lines.end());
    if (found == lines.end() || !hunk.has_change) {
      complaints.push_back(complaint(
          patch, hunk.line,
          "this does not apply to " + hunk.path + " any more. Make the mistake there again."));
    }
  }
  return complaints;
}

TEST(Faults, SayWhyAndStillApply) {
  for (const SourceFile& fault : own_faults()) {
    EXPECT_THAT(fault_complaints(fault, read_own_file), IsEmpty());
  }
}

constexpr std::string_view kPatch =
    "diff --git a/encoder/a.cc b/encoder/a.cc\n--- a/encoder/a.cc\n+++ b/encoder/a.cc\n"
    "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";

std::vector<std::string> complaints_of(std::string_view patch, std::string_view text) {
  return fault_complaints({"tests/faults/a.patch", std::string(patch)},
                          [&](const std::string&) { return std::string(text); });
}

TEST(Faults, AreFineWhereTheLinesStand) {
  EXPECT_THAT(complaints_of("# A reason.\n" + std::string(kPatch), "zero\none\ntwo\nthree\n"),
              IsEmpty());
}

TEST(Faults, ThatDoNotApplyAreFound) {
  EXPECT_THAT(
      complaints_of("# A reason.\n" + std::string(kPatch), "one\ntwo\n2\nthree\n"),
      ElementsAre(HasSubstr("tests/faults/a.patch:5: this does not apply to encoder/a.cc")));
}

TEST(Faults, WithoutAReasonAreFound) {
  EXPECT_THAT(complaints_of(kPatch, "one\ntwo\nthree\n"), ElementsAre(HasSubstr("no reason")));
}

TEST(Faults, ThatChangeNothingAreFound) {
  EXPECT_THAT(complaints_of("# A reason.\n", ""), ElementsAre(HasSubstr("changes nothing")));
}

}  // namespace
}  // namespace interlock::faults_test
