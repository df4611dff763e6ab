// interlock show: which file it writes, in which format, and the status, as a user sees them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "encoder/text/files.h"
#include "tests/cli/command.h"
#include "tests/cli/shown_commands.h"
#include "tests/program_count.h"

namespace interlock::show_test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

namespace fs = std::filesystem;

constexpr const char* kTwoHazards = R"(interlock 1
memory a 64
memory b 64
dispatch Make writes a b
dispatch Use reads a
dispatch Other reads b
)";

std::string content_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(ShowCommand, WritesAPageBesideYou) {
  const fs::path before = fs::current_path();
  const fs::path folder = temporary_path("show");
  fs::create_directories(folder);
  fs::current_path(folder);
  std::ofstream("two.ilk") << kTwoHazards;
  const CommandResult result = run_interlock({"show", "two.ilk"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, "two.html shows 2 findings: open it in a browser.\n");
  const std::string page = content_of("two.html");
  EXPECT_THAT(page, AllOf(StartsWith("<!DOCTYPE html>"), EndsWith("</html>\n"),
                          HasSubstr("<b>two.ilk</b>")));
  EXPECT_EQ(run_interlock({"show", "two.ilk", "--format=perfetto"}).status, 0);
  EXPECT_THAT(content_of("two.perfetto.json"), StartsWith("{\"traceEvents\":["));
  fs::current_path(before);
}

TEST(ShowCommand, KnowsTheFormatByTheName) {
  const std::string svg = temporary_path("one.svg");
  EXPECT_THAT(run_interlock({"show", "-", "-o", svg}, kTwoHazards).out, IsEmpty());
  EXPECT_THAT(content_of(svg), AllOf(StartsWith("<svg "), EndsWith("</svg>\n")));
  const std::string trace = temporary_path("one.json");
  EXPECT_EQ(run_interlock({"show", "-", "-o", trace}, kTwoHazards).status, 0);
  EXPECT_THAT(content_of(trace), StartsWith("{\"traceEvents\":["));
  EXPECT_THAT(run_interlock({"show", "-"}, kTwoHazards).out, StartsWith("<!DOCTYPE html>"));
}

TEST(ShowCommand, ShowsTheFindingThatIsAskedFor) {
  const auto headline = [](const std::string& option) {
    const std::string svg = run_interlock({"show", "-", "--format=svg", option}, kTwoHazards).out;
    const size_t begin = svg.find("<title>");
    return svg.substr(begin, svg.find("</title>") - begin);
  };
  EXPECT_THAT(headline("--finding=1"), HasSubstr("Use (dispatch 1) reads a[0:64]"));
  EXPECT_THAT(headline("--finding=0"), HasSubstr("Use (dispatch 1) reads a[0:64]"));
  EXPECT_THAT(headline("--finding=2"), HasSubstr("Other (dispatch 2) reads b[0:64]"));
  const CommandResult third = run_interlock({"show", "-", "--finding=3"}, kTwoHazards);
  EXPECT_EQ(third.status, 2);
  EXPECT_THAT(third.err, HasSubstr("there is no finding 3: the program has 2."));
}

TEST(ShowCommand, GivesBadInputStatusTwo) {
  const CommandResult bad = run_interlock({"show", "-"}, "interlock 1\nmemory a\n");
  EXPECT_EQ(bad.status, 2);
  EXPECT_THAT(bad.out, IsEmpty());
  EXPECT_THAT(bad.err, HasSubstr("<stdin>:2:"));
  EXPECT_EQ(run_interlock({"show", temporary_path("none.ilk")}).status, 2);
  EXPECT_EQ(run_interlock({"show", "-", "--format=png"}, kTwoHazards).status, 2);
  EXPECT_EQ(run_interlock({"show", "-", "-o", "/nowhere/x.svg"}, kTwoHazards).status, 2);
  const std::string capitals = temporary_path("x.SVG");
  EXPECT_EQ(run_interlock({"show", "-", "-o", capitals}, kTwoHazards).status, 0);
  EXPECT_THAT(read_file(capitals).value(), HasSubstr("<svg "));
  const std::string png = temporary_path("x.png");
  const CommandResult other = run_interlock({"show", "-", "-o", png}, kTwoHazards);
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("x.png' ends like none of .svg, .html, .htm, .json"));
  EXPECT_FALSE(fs::exists(png));
  EXPECT_EQ(run_interlock({"show", "-", "--format=svg", "-o", png}, kTwoHazards).status, 0);
  EXPECT_THAT(content_of(png), StartsWith("<svg "));
}

TEST(ShowCommand, IsNamedByReports) {
  const std::string path = temporary_file("picture.ilk", kTwoHazards);
  const std::string line = "Picture: interlock show " + path + "\n";
  EXPECT_THAT(run_interlock({"check", path}).out, EndsWith(line));
  EXPECT_THAT(run_interlock({"check", "-q", path}).out, Not(HasSubstr("Picture")));
  EXPECT_THAT(run_interlock({"check", "-"}, kTwoHazards).out, Not(HasSubstr("Picture")));
  // For a shell a blank would end the name, and a terminal would follow what is no letter.
  const std::string strange = temporary_file("a \x1b b.ilk", kTwoHazards);
  EXPECT_THAT(run_interlock({"check", strange}).out, EndsWith("a \\x1b b.ilk'\n"));
  const std::string small = temporary_path("small.ilk");
  EXPECT_THAT(run_interlock({"minimize", path, "-o", small}).err,
              HasSubstr("Picture: interlock show " + small + "\n"));
  const std::string clean =
      temporary_file("clean.ilk", "interlock 1\nmemory a 64\ndispatch Make writes a\n");
  EXPECT_THAT(run_interlock({"check", clean}).out, Not(HasSubstr("Picture")));
}

// Other commands that are shown name the file as one word, too.
TEST(ShowCommand, IsToldOfFilesAsReportsAre) {
  const std::string hazard =
      "interlock 1\nmemory a 64\nmemory b 64\ndispatch Make writes a\n"
      "dispatch Use reads a writes b\n";
  const std::string strange = temporary_file("c \x1b d.ilk", hazard);
  const std::string line = "c \\x1b d.ilk' --witness=";
  EXPECT_THAT(
      run_interlock({"check", strange}).out,
      AllOf(HasSubstr("  Replay: interlock replay '/"), HasSubstr(line), Not(HasSubstr("\x1b"))));
  const std::string page = temporary_path("strange.html");
  EXPECT_EQ(run_interlock({"show", strange, "-o", page}).status, 0);
  EXPECT_THAT(content_of(page), HasSubstr("c \\x1b d.ilk"));
  // Nobody has what came by way of a stream.
  EXPECT_EQ(run_interlock({"show", "-", "-o", page}, hazard).status, 0);
  EXPECT_THAT(content_of(page), AllOf(HasSubstr("&lt;stdin&gt;"), Not(HasSubstr("Replay: "))));
  const fs::path before = fs::current_path();
  const fs::path folder = temporary_path("dashes");
  fs::create_directories(folder);
  fs::current_path(folder);
  std::ofstream("-x.ilk") << hazard;
  EXPECT_THAT(run_interlock({"check", "--", "-x.ilk"}).out,
              AllOf(HasSubstr("interlock replay ./-x.ilk "),
                    EndsWith("Picture: interlock show ./-x.ilk\n")));
  fs::current_path(before);
}

// Programs of any length make a page of some megabytes.
TEST(ShowCommand, BoundsThePage) {
  const int count = is_slow_build() ? 2'000 : 5'000;
  std::string text = "interlock 1\nmemory a 65536\n";
  for (int i = 0; i < count; ++i) {
    text += "dispatch Step reads a[0:64] writes a[" + std::to_string(i % 512 * 64 + 64) + ":" +
            std::to_string(i % 512 * 64 + 128) + "]\n";
  }
  const CommandResult result = run_interlock({"show", "-"}, text);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_GT(result.out.size(), 20'000u);
  EXPECT_LT(result.out.size(), 6'000'000u);
}

constexpr const char* kShowDocument = "docs/show.md";

TEST(ShowDocument, ShowsWhatItsCommandsPrint) {
  const fs::path before = fs::current_path();
  const fs::path folder = temporary_path("show document");
  fs::create_directories(folder);
  const auto commands = shown_commands(document_text(kShowDocument));
  EXPECT_GE(commands.size(), 3u);
  fs::current_path(folder);
  if (!fs::exists("corpus")) {
    fs::create_directory_symlink(fs::path(INTERLOCK_SOURCE_DIR) / "corpus", "corpus");
  }
  for (const ShownCommand& command : commands) {
    const CommandResult result = run_interlock(command.arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_TRUE(prints(result.out, command.lines)) << result.err << result.out;
  }
  fs::current_path(before);
}

// The picture of the README and of the page is what the program draws today.
TEST(ShowDocument, HasThePictureOfToday) {
  const fs::path before = fs::current_path();
  fs::current_path(INTERLOCK_SOURCE_DIR);
  const CommandResult result =
      run_interlock({"show", "corpus/bugs/mlx-3630.ilk", "--format=svg", "-o", "-"});
  EXPECT_TRUE(result.out == content_of("docs/mlx-3630.svg"))
      << "interlock show corpus/bugs/mlx-3630.ilk -o docs/mlx-3630.svg writes it.";
  fs::current_path(before);
}

}  // namespace
}  // namespace interlock::show_test
