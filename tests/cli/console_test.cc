// What is in colour and when, how errors begin, and which names are offered instead of others; what
// `minimize` keeps; compressed files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "encoder/text/files.h"
#include "encoder/text/gzip.h"
#include "tests/cli/command.h"

namespace interlock::console_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kWarText = R"(interlock 1
memory pool 4096
memory weights 4096
dispatch MUL_MAT.198 reads weights[0:64] writes pool[0:64]
dispatch MUL_MAT.199 reads pool[0:64] writes pool[512:576]
)";

TEST(Colour, IsWhereItIsAskedFor) {
  const CommandResult plain = run_interlock({"check", "-"}, kWarText);
  EXPECT_THAT(plain.out, Not(HasSubstr("\x1b")));
  EXPECT_EQ(run_interlock({"check", "--color=never", "-"}, kWarText).out, plain.out);
  EXPECT_EQ(run_interlock({"check", "--color=auto", "-"}, kWarText).out, plain.out);
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"check", "--color=always", "-"},
                                             {"--color=always", "check", "-"},
                                             {"--color", "always", "check", "-"},
                                             {"check", "--color", "always", "-"},
                                             {"check", "-", "--color=never", "--color=always"}}) {
    const CommandResult result = run_interlock(arguments, kWarText);
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.out, AllOf(HasSubstr("\x1b[1;31mRAW hazard\x1b[0m: "),
                                  HasSubstr("  \x1b[1;32mFix\x1b[0m: ")));
  }
  const CommandResult failing =
      run_interlock({"check", "--color=always", "-"}, std::string(kWarText) + "expect clean\n");
  EXPECT_THAT(failing.out, HasSubstr("  \x1b[1;31mFAILS\x1b[0m: "));
  EXPECT_THAT(run_interlock({"check", "--color=always", "/nowhere"}).err,
              StartsWith("\x1b[1;31merror:\x1b[0m cannot read "));
  const CommandResult wrong = run_interlock({"check", "--color=maybe", "-"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_EQ(wrong.err, "error: --color: 'maybe' is none of auto, always, never.\n");
  EXPECT_EQ(run_interlock({"check", "-", "--color"}).err,
            "error: --color has no value after it.\n");
}

TEST(Errors, BeginAlikeAndOfferNames) {
  struct Case {
    std::vector<std::string> arguments;
    const char* offer;
  };
  const Case cases[] = {{{"encode", "-", "--encoder=interlok"}, "Did you mean 'interlock'?"},
                        {{"fuzz", "--planner=livenes"}, "Did you mean 'liveness'?"},
                        {{"plan", "x", "--planner=livenes"}, "Did you mean 'liveness'?"},
                        {{"fuzz", "--encoder=none", "--backend=vulcan"}, "Did you mean 'vulkan'?"},
                        {{"fuzz", "--backward=splitt"}, "Did you mean 'split'?"},
                        {{"generate", "transfomer"}, "Did you mean 'transformer'?"},
                        {{"explore", "x", "--strategy=exhaustiv"}, "Did you mean 'exhaustive'?"},
                        {{"list", "encoder"}, "Did you mean 'encoders'?"},
                        {{"check", "x", "--format=sarf"}, "Did you mean 'sarif'?"},
                        {{"chek", "x"}, "Did you mean 'check'?"},
                        {{"check", "x", "--formt=json"}, "Did you mean '--format'?"},
                        {{"show", "x", "--format=perfeto"}, "Did you mean 'perfetto'?"},
                        {{"completion", "bsah"}, "Did you mean 'bash'?"},
                        {{"--color=alwas", "check", "x"}, "Did you mean 'always'?"},
                        {{"fuzz", "--encoder=ggml"}, "Did you mean 'ggml-metal'?"},
                        {{"conform"}, "`interlock conform` needs --encoder. "},
                        {{"merge", "--out=x"}, "`interlock merge` needs FOLDERS. "},
                        {{"check", "x", "--format"}, "--format has no value after it. "}};
  for (const Case& one : cases) {
    const CommandResult result = run_interlock(one.arguments, kWarText);
    EXPECT_EQ(result.status, 2) << result.err;
    EXPECT_THAT(result.err, StartsWith("error: "));
    EXPECT_THAT(result.err, HasSubstr(one.offer));
  }
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{},
                                             {"check"},
                                             {"check", "x", "--max-findings=x"},
                                             {"fuzz", "--runs=1", "--seconds=1"}}) {
    const CommandResult result = run_interlock(arguments);
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, StartsWith("error: "));
    EXPECT_THAT(result.err, HasSubstr("--help` says more.\n"));
  }
}

TEST(Help, IsThereForWordsThatAreNoCommands) {
  const CommandResult whole = run_interlock({"--help"});
  for (const char* const word : {"help", "version"}) {
    const CommandResult result = run_interlock({"help", word});
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.out, whole.out);
  }
}

TEST(Minimize, KeepsNamesUnlessTheyAreToBePlain) {
  const std::string file = temporary_file("named.ilk", kWarText);
  const CommandResult named = run_interlock({"minimize", file});
  EXPECT_EQ(named.status, 1) << named.err;
  EXPECT_THAT(named.out, AllOf(HasSubstr("memory pool "), HasSubstr("MUL_MAT.199 reads pool["),
                               HasSubstr("  # line 5\n")));
  const CommandResult plain = run_interlock({"minimize", "--plain-names", file});
  EXPECT_THAT(plain.out, AllOf(Not(HasSubstr("MUL_MAT")), Not(HasSubstr("# "))));
  const std::string again = temporary_file("again.ilk", named.out);
  EXPECT_EQ(run_interlock({"check", again}).status, 0);
  EXPECT_EQ(run_interlock({"replay", again}).status, 1);
}

// A time that is over soon, whether the work is done by then or not, and one that never is.
TEST(Minimize, EndsAfterSeconds) {
  const std::string file = INTERLOCK_SOURCE_DIR "/corpus/bugs/mlx-3630.ilk";
  EXPECT_EQ(run_interlock({"minimize", file, "--seconds=1h"}).status, 1);
  EXPECT_EQ(run_interlock({"minimize", file, "--seconds=soon"}).status, 2);
  const CommandResult late = run_interlock({"minimize", file, "--seconds=0.000001"});
  EXPECT_THAT(late.err, testing::AnyOf(HasSubstr("stopped"), HasSubstr("dispatches are left")))
      << late.err;
  EXPECT_TRUE(late.status == 1 || late.status == 2);
}

TEST(Gzip, IsReadAndWrittenByEveryCommand) {
  const std::string folder = temporary_path("packed");
  std::filesystem::create_directories(folder);
  const std::string file = folder + "/war.ilk.gz";
  ASSERT_TRUE(write_file(file, kWarText));
  const CommandResult checked = run_interlock({"check", folder});
  EXPECT_EQ(checked.status, 1);
  EXPECT_THAT(checked.out, HasSubstr("RAW hazard: "));
  EXPECT_EQ(run_interlock({"check", "-"}, gzip(kWarText).value()).status, 1);
  const std::string out = folder + "/repaired.ilk.gz";
  EXPECT_EQ(run_interlock({"encode", "--encoder=interlock", file, "-o", out}).status, 0);
  EXPECT_EQ(run_interlock({"check", out}).status, 0);
  const std::string picture = folder + "/war.svg.gz";
  EXPECT_EQ(run_interlock({"show", file, "-o", picture}).status, 0);
  EXPECT_THAT(read_file(picture).value(), StartsWith("<svg "));
  std::filesystem::resize_file(file, 40);
  const CommandResult cut = run_interlock({"check", file});
  EXPECT_EQ(cut.status, 2);
  EXPECT_THAT(cut.err, HasSubstr("': it is no gzip file, or one that is damaged or cut off.\n"));
  // A few bytes that claim more than may be read.
  ASSERT_TRUE(write_file(file, std::string(3u << 20, '#')));
  const CommandResult bomb = run_interlock({"check", "--max-input-mib=1", file});
  EXPECT_EQ(bomb.status, 2);
  EXPECT_THAT(bomb.err, HasSubstr("more bytes than the limit of 1048576.\n"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace interlock::console_test
