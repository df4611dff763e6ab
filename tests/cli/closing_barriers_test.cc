// Barriers after the last dispatch, as commands meet them: for what comes after the file; and
// scopes that are wider than needed.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/command.h"
#include "tests/corpus_files.h"

namespace interlock::closing_barriers_test {
namespace {

using testing::HasSubstr;
using testing::Not;

// A recorder that ends each frame with a barrier: what comes after is in no file.
TEST(CheckCommand, DeniesNoBarrierAfterTheLastDispatch) {
  const std::string frame =
      "interlock 1\nmemory a 64\ndispatch Make writes a\nbarrier\ndispatch Use reads a\nbarrier\n";
  const CommandResult result = run_interlock({"check", "--deny=redundant", "-"}, frame);
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(
      result.out,
      "1 barrier stands after the last dispatch: for what comes after this text, and no advice.\n"
      "2 dispatches, 2 accesses, 2 barriers (1 after the last dispatch); fewest for this order 1, longest chain 1; no findings. As few barriers as there can be; proven.\n");
  EXPECT_THAT(run_interlock({"check", "-"}, frame).out, Not(HasSubstr("can go")));
  EXPECT_THAT(run_interlock({"check", "--format=sarif", "--deny=redundant", "-"}, frame).out,
              HasSubstr("\"results\":[]"));
  EXPECT_EQ(
      run_interlock({"check", "--deny=redundant", "-"}, frame + "expect redundant 1\n").status, 0);
  // Two at its end, and one that is too many within it.
  const std::string more =
      "interlock 1\nmemory a 64\ndispatch Make writes a\nbarrier\nbarrier\ndispatch Use reads a\n"
      "barrier\n";
  EXPECT_EQ(run_interlock({"check", "--deny=redundant", "-"}, more).status, 1);
}

// Command buffers of one queue: what ends one guards the next, and what ends the last one is
// closing.
TEST(CheckCommand, DeniesNoBarrierAtTheEndOfACommandBuffer) {
  const std::string buffers =
      "interlock 1\nmemory a 64\ndispatch Make writes a\nbarrier\nsplit\ndispatch Use reads a\n"
      "barrier\nsplit\n";
  const CommandResult result = run_interlock({"check", "--deny=redundant", "-"}, buffers);
  EXPECT_EQ(result.status, 0) << result.out;
  EXPECT_THAT(result.out, HasSubstr("2 barriers (1 after the last dispatch)"));
}

// What repairs a file, and what shrinks one, leave alone or leave out what closes it.
TEST(FixCommand, LeavesABarrierAfterTheLastDispatch) {
  const std::string path = temporary_file(
      "frame.ilk",
      "interlock 1\nmemory a 64\ndispatch Make writes a\ndispatch Use reads a\nbarrier\n");
  const CommandResult fixed = run_interlock({"fix", path});
  EXPECT_THAT(fixed.out, HasSubstr("+barrier"));
  EXPECT_THAT(fixed.out, Not(HasSubstr("-barrier")));
  const CommandResult small = run_interlock({"minimize", path, "-o", "-"});
  EXPECT_EQ(small.out.find("\nbarrier"), std::string::npos) << small.out;
  EXPECT_THAT(small.out, HasSubstr("dispatch Use reads a"));
}

TEST(ScopeAdviceCommand, SaysWhatWouldDoInPlaceOfAll) {
  const std::string file = temporary_file(
      "wide-scope.ilk",
      "interlock 1\nmemory x 64\ndispatch A writes x\nbarrier all.write -> all.read\n"
      "dispatch B reads x\n");
  const CommandResult result = run_interlock({"check", "--advice", file});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, HasSubstr("wider than needed: the barrier (statement 1) could be "
                                    "`barrier compute.write -> compute.read`.\n"));
  EXPECT_THAT(run_interlock({"check", file}).out, Not(HasSubstr("wider than needed")));
}

// The advice of a JSON report, as the text has it.
std::string text_of_scopes(const nlohmann::json& scopes) {
  std::string text;
  for (const nlohmann::json& narrower : scopes.at("narrower")) {
    text += fmt::format("wider than needed: {} could be `{}`.\n",
                        narrower.at("description").get<std::string>(),
                        narrower.at("instead").get<std::string>());
  }
  return text;
}

std::string lines_of_scopes(const std::string& report) {
  std::istringstream lines(report);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("wider than needed: ")) text += line + "\n";
  }
  return text;
}

// What was captured, recorded and imported, and what is replayed.
TEST(ScopeAdviceCommand, SaysTheSameInJson) {
  const std::string replayed = temporary_file(
      "wide-replays.ilk",
      "interlock 1\nmemory x 64\nmemory y 64\ns: queue serial\ncapture step\n"
      "run: dispatch Run reads x writes y\nfence: barrier all.write -> all.read\n"
      "use: dispatch Use reads y writes x\nend\nreplay step\n"
      "barrier all.write -> all.read|all.write\nreplay step\nmany: signal d=1 after compute, e=2\n"
      "wait d=1 on s\nwait e=2 on s\ndispatch copy reads x writes y on s\n");
  std::vector<std::string> files = {replayed};
  const std::string corpus = INTERLOCK_SOURCE_DIR "/corpus/";
  for (const auto& path : corpus_files({"captured", "graphs", "streams"})) {
    files.push_back(path.string());
  }
  files.push_back(corpus + "bugs/vkd3d-proton-576e3ce.fixed.ilk");
  int count = 0;
  for (const std::string& file : files) {
    const CommandResult text = run_interlock({"check", "--advice", "--max-findings=1", file});
    const CommandResult json = run_interlock({"check", "--advice", "--format=json", file});
    EXPECT_EQ(text.status, json.status) << file;
    EXPECT_LT(text.status, 2) << file << "\n" << text.err;
    const nlohmann::json scopes = nlohmann::json::parse(json.out).at("scopes");
    EXPECT_EQ(text_of_scopes(scopes), lines_of_scopes(text.out)) << file;
    count += static_cast<int>(scopes.at("narrower").size());
  }
  EXPECT_GE(count, 4);
  EXPECT_THAT(run_interlock({"check", "--advice", replayed}).out,
              HasSubstr("the signals d=1, e=2 on q0 (many, statement 7) could be `signal d=1 after "
                        "compute, e=2 after copy`"));
  EXPECT_THAT(run_interlock({"check", "--format=json", replayed}).out,
              HasSubstr("\"scopes\":null"));
}

}  // namespace
}  // namespace interlock::closing_barriers_test
