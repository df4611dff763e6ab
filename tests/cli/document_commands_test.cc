// Commands that the README and docs/ show: each runs here, is run and compared by the test of its
// page, or is excepted with a reason. A line that nobody runs fails.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/cli/command.h"
#include "tests/cli/shown_commands.h"
#include "tests/program_count.h"

namespace interlock::document_commands_test {
namespace {

namespace fs = std::filesystem;

// --- What is not run here
// ---------------------------------------------------------------------------

struct Reader {
  const char* page;
  const char* test;  // That gives its lines with a prompt to a shell, and compares what they print.
};

constexpr Reader kReaders[] = {
    {"README.md", "tests/cli/readme_test.cc"},
    {"docs/bugs.md", "tests/cli/bugs_document_test.cc"},
    {"docs/campaigns.md", "tests/cli/campaigns_test.cc"},
    {"docs/exec.md", "tests/cli/stories_test.cc"},
    {"docs/failing-file.md", "tests/cli/stories_test.cc"},
    {"docs/fix.md", "tests/cli/fix_test.cc"},
    {"docs/graphs.md", "tests/cli/import_test.cc"},
    {"docs/host.md", "tests/cli/queue_documents_test.cc"},
    {"docs/queues.md", "tests/cli/queue_documents_test.cc"},
    {"docs/show.md", "tests/cli/show_test.cc"},
};

struct Exception {
  const char* page;
  const char* begin;  // Of the lines.
  const char* reason;
};

constexpr Exception kExceptions[] = {
    {"", "./dev ", "It is what runs the tests."},
    {"", "export PATH=", "The shell of the tests finds `interlock` without."},
    {"README.md", "interlock capture ", "It needs FFmpeg: ./dev apps runs it."},
    {"README.md", "interlock minimize blur.ilk",
     "As above; Capture.FindsTheMissingBarrierOfFfmpegsAvgblur does it."},
    {"README.md", "interlock replay small.ilk", "As above."},
    {"docs/found.md", "interlock capture ", "It needs FFmpeg and mpv: ./dev apps runs them."},
    {"docs/capture.md", "interlock ",
     "It needs an application on Vulkan: tests/cli/capture_*_test.cc run the options on ours, and "
     "./dev apps runs FFmpeg."},
    {"docs/capture.md", "INTERLOCK_CAPTURE_DIR=", "As above; capture_processes_test.cc sets it."},
    {"docs/capture.md", "INTERLOCK_CAPTURE=1 ",
     "As above; Capture.IsAskedForByOneVariable sets it."},
    {"docs/torch.md", "PYTHONPATH=", "It needs PyTorch: ./dev torch runs the recorder."},
    {"docs/backends.md", "interlock fuzz --backend=vulkan",
     "It needs Vulkan: the tests of backends/vulkan run as much."},
    {"docs/backends.md", "INTERLOCK_TEST_ALL=1 ctest", "It is a test: ./dev prove runs it."},
    {"docs/c.md", "cc -o check check.c $(pkg-config", "tests/package/deb.sh has it installed."},
    {"docs/python.md", "export PYTHONPATH=", "tests/bindings/python/document_test.py sets it."},
    {"docs/testing.md", "apt-get ", "./dev installs what it needs."},
    {"docs/testing.md", "cmake ", "tests/package/consume.cmake runs the lines of this page."},
    {"docs/platforms.md", "cmake ", "./dev arm64 runs it."},
    {"docs/library.md", "rustc ", "Not everyone has it: library_encoder_test compiles it."},
    {"docs/exec.md", "interlock fuzz --encoder='exec:",
     "Stories.OfAnEncoderInAnotherLanguage asks as "
     "many programs of the same example."},
    {"docs/bugs.md", "interlock generate ",
     "Minutes of training: training_numbers_test.cc holds "
     "the numbers."},
    {"docs/bugs.md", "interlock encode ", "What it encodes takes minutes to make."},
    {"docs/bugs.md", "interlock plot ggml.ilk", "As above."},
    {"docs/bugs.md", "interlock plot ztensor-167.ilk", "As above."},
    {"docs/planners.md", "interlock plan corpus/",
     "PlanCommand.DrawsTheCurveThatTheDocumentShows "
     "runs it."},
};

// --- What is
// --------------------------------------------------------------------------------------

// The path of each page: the README and all of docs/.
std::vector<std::string> pages() {
  std::vector<std::string> pages = {"README.md"};
  for (const auto& entry : fs::directory_iterator(INTERLOCK_SOURCE_DIR "/docs")) {
    if (entry.path().extension() == ".md")
      pages.push_back("docs/" + entry.path().filename().string());
  }
  std::sort(pages.begin(), pages.end());
  return pages;
}

// What a line of a page that is indented begins with if it is a command, and no text or program.
const std::regex& command_form() {
  static const std::regex form(
      "(([A-Z_]+=[^ ]+ )*"
      "(\\./|cc |c\\+\\+ |gcc |g\\+\\+ |clang|rustc |cmake |ctest |cpack |python3 |pip3? |apt-get |git |docker "
      "|sbatch |kubectl |interlock [a-z]+( |$)).*|lib=.*|export .*)");
  return form;
}

struct PageCommand {
  std::string line;
  bool has_prompt = false;
  size_t block = 0;  // Lines of one block are of one shell.
};

// Lines of indented blocks; a line that ends in a backslash goes on in the next, and what follows
// one with a prompt is what it prints. Lines of ```sh blocks are of clusters and engines: ./dev
// campaigns runs what they are about.
std::vector<PageCommand> commands_of(const std::string& page) {
  std::vector<PageCommand> commands;
  std::istringstream text(document_text(page));
  bool is_fenced = false;
  bool is_printed = false;
  size_t block = 0;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("```")) is_fenced = !is_fenced;
    if (is_fenced || !line.starts_with("    ")) {
      ++block;
      is_printed = false;
      continue;
    }
    line.erase(0, 4);
    const bool has_prompt = line.starts_with("$ ");
    if (has_prompt) line.erase(0, 2);
    is_printed = is_printed || has_prompt;
    if (!has_prompt && (is_printed || !std::regex_match(line, command_form()))) continue;
    for (std::string next; line.ends_with('\\') && std::getline(text, next);) {
      line.pop_back();
      line += next.substr(std::min(next.size(), next.find_first_not_of(' ')));
    }
    commands.push_back({line, has_prompt, block});
  }
  return commands;
}

const Exception* exception_for(const std::string& page, const std::string& line) {
  const auto found =
      std::find_if(std::begin(kExceptions), std::end(kExceptions), [&](const Exception& exception) {
        const std::string_view of = exception.page;
        return (of.empty() || of == page) && line.starts_with(exception.begin);
      });
  return found == std::end(kExceptions) ? nullptr : found;
}

bool is_read_elsewhere(const std::string& page, const PageCommand& command) {
  return command.has_prompt &&
         std::any_of(std::begin(kReaders), std::end(kReaders),
                     [&](const Reader& reader) { return reader.page == page; });
}

// What stands for something of the reader's own, and campaigns that are as long as they need to be
// here.
std::string as_typed(std::string command) {
  const size_t comment = command.find("  #");
  if (comment != std::string::npos) command.erase(comment);
  const bool has_passes = command.find("--loss=y") != std::string::npos;
  const std::pair<std::string, std::string> words[] = {
      {" FILE…", " streams"},
      {"--accesses=FILE", "--accesses=corpus/graphs/gradient-norm.accesses"},
      {" GRAPH.dot", " corpus/graphs/gradient-norm.dot"},
      {" FILE", has_passes ? " forward.ilk" : " corpus/bugs/mlx-3630.ilk"},
      {"=DIR", "=found"},
      {"-o OUT", "-o out.ilk"},
      {"--encoder=NAME", "--encoder=mlx-2024"},
      {"--planner=NAME", "--planner=ggml"},
      {"generate NAME", "generate transformer"},
      {"=SEED", "=1"},
      {" queues.ilk", " corpus/queues/one-branch-joined.ilk"}};
  for (const auto& [word, meant] : words) {
    const size_t at = command.find(word);
    // A file of the reader's own that an earlier line has made stays.
    const bool is_made =
        word == " queues.ilk" && command.find("-o queues.ilk") != std::string::npos;
    if (at != std::string::npos && !is_made) command.replace(at, word.size(), meant);
  }
  command = std::regex_replace(command, std::regex(" --runs=[0-9e]+"), "");
  if (command.starts_with("interlock fuzz ")) {
    command += command.find("--queues") == std::string::npos ? " --runs=150" : " --runs=40";
  }
  if (command.starts_with("interlock conform ")) {
    command += " --runs=50 --stream=2000 --max-distance=40 --max-operands=8";
  }
  return command;
}

// A folder in which commands of pages find what they name, and may write; it is the current one
// while this lives.
class PageFolder {
 public:
  PageFolder() : folder_(temporary_path("pages")) {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "build");
    for (const char* const name : {"corpus", "docs", "encoder", "tests", "bindings"}) {
      fs::create_directory_symlink(fs::path(INTERLOCK_SOURCE_DIR) / name, folder_ / name);
    }
    fs::create_directory_symlink(INTERLOCK_BUILD_DIR, folder_ / "build/release");
    fs::copy_file(folder_ / "docs/examples/exec_encoder.py", folder_ / "mine.py");
    fs::permissions(folder_ / "mine.py", fs::perms::owner_all);
    EXPECT_EQ(chdir(folder_.c_str()), 0);
    EXPECT_EQ(run_shell("cat >forward.ilk <<'END'\ninterlock 1\n"
                        "tensor x f32[1,2] = values(1.1,-0.7)\n"
                        "tensor w f32[2,2] = values(0.4,-0.2,0.7,0.3)\ntensor y f32[1,2]\n"
                        "dispatch matmul_nn reads x w writes y\nEND")
                  .status,
              0);
  }
  ~PageFolder() {
    EXPECT_EQ(chdir(INTERLOCK_SOURCE_DIR), 0);
    fs::remove_all(folder_);
  }
  PageFolder(const PageFolder&) = delete;
  PageFolder& operator=(const PageFolder&) = delete;

 private:
  fs::path folder_;
};

// Commands of ours may end with 1, for a finding; what builds and runs examples may not.
std::string as_script(const std::vector<std::string>& lines) {
  std::string script;
  size_t number = 0;
  for (const std::string& line : lines) {
    const bool may_find = line.find("interlock ") != std::string::npos;
    script += line + "\nended=$?; if ((ended > " + (may_find ? "1" : "0") +
              ")); then echo \"status $ended after line " + std::to_string(++number) +
              "\" >&2; exit 100; fi\n";
  }
  return script;
}

// What their commands name is there, and they end with a verdict. Each page may use what the ones
// before it have made, as `found`.
TEST(Documents, ShowCommandsThatRun) {
  if (is_slow_build()) GTEST_SKIP() << "It starts the program some sixty times.";
  if (run_shell("python3 -c '' && cc --version").status != 0) GTEST_SKIP() << "No cc, no python3.";
  const PageFolder folder;
  size_t count = 0;
  for (const std::string& page : pages()) {
    fs::remove_all("streams");
    const bool makes_streams = document_text(page).find("-o streams") != std::string::npos;
    if (!makes_streams) {
      fs::create_directory("streams");
      fs::copy_file("corpus/bugs/mlx-3630.ilk", "streams/one.ilk");
    }
    // What pages call step.ilk: the reader's own, until one says how it is made.
    EXPECT_EQ(run_interlock({"generate", "transformer", "--layers=2", "-o", "step.ilk"}).status, 0);
    std::map<size_t, std::vector<std::string>> blocks;
    for (const PageCommand& command : commands_of(page)) {
      if (exception_for(page, command.line) != nullptr || is_read_elsewhere(page, command))
        continue;
      // What the reader has made there stands in the story of the page.
      if (page == "docs/exec.md" && command.line.find("=exec:./") != std::string::npos) continue;
      blocks[command.block].push_back(as_typed(command.line));
      ++count;
    }
    for (const auto& [block, lines] : blocks) {
      const CommandResult result = run_shell(as_script(lines));
      EXPECT_EQ(result.status, 0) << page << ": " << testing::PrintToString(lines) << '\n'
                                  << result.err;
    }
  }
  EXPECT_GE(count, 60u);
}

// A test that no longer reads its page, or a reason for a line that is gone, would hide another
// one.
TEST(Documents, HaveReadersAndExceptionsThatAreNeeded) {
  for (const Reader& reader : kReaders) {
    const std::string name = fs::path(reader.page).stem().string();
    EXPECT_NE(document_text(reader.test).find(name), std::string::npos)
        << reader.test << " does not name " << reader.page;
    EXPECT_FALSE(shown_lines(document_text(reader.page)).empty()) << reader.page;
  }
  std::set<const Exception*> used;
  for (const std::string& page : pages()) {
    for (const PageCommand& command : commands_of(page))
      used.insert(exception_for(page, command.line));
  }
  for (const Exception& exception : kExceptions) {
    EXPECT_TRUE(used.contains(&exception)) << exception.page << ": " << exception.begin;
  }
}

// Of such a page what it shows of their output, too.
TEST(Documents, ShowWhatTheirCommandsPrint) {
  const PageFolder folder;
  const std::vector<ShownLine> all = shown_lines(document_text("docs/causes.md"));
  EXPECT_EQ(all.size(), 2u);
  for (const ShownLine& shown : all) {
    const CommandResult result = run_shell(shown.command);
    EXPECT_TRUE(prints(result.out, shown.lines)) << shown.command << '\n'
                                                 << result.out << result.err;
  }
}

// docs/encoders.md shows what the encoder with scopes makes of a program of its barriers' places.
TEST(Documents, ShowTheScopesOfTheEncoder) {
  const std::string page = document_text("docs/encoders.md");
  const std::string command = "    interlock encode --encoder=interlock-scoped FILE\n\n";
  const size_t at = page.find(command);
  ASSERT_NE(at, std::string::npos);
  const size_t begin = at + command.size();
  std::istringstream block(page.substr(begin, page.find("\n\n", begin) - begin));
  std::string shown;
  std::string input = "interlock 1\n";
  for (std::string line; std::getline(block, line);) {
    shown += line.substr(4) + '\n';
    if (!line.starts_with("    barrier ")) input += line.substr(4) + '\n';
  }
  const CommandResult result = run_interlock({"encode", "--encoder=interlock-scoped", "-"}, input);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out.substr(result.out.find("memory")), shown);
}

// docs/fuzzing-passes.md shows a file of a campaign; the command in it makes it.
TEST(Documents, ShowTheFileThatACampaignMakes) {
  const std::string page = document_text("docs/fuzzing-passes.md");
  const size_t begin = page.find("    interlock 1\n");
  ASSERT_NE(begin, std::string::npos);
  std::istringstream block(page.substr(begin, page.find("\n\n", begin) - begin));
  std::vector<std::string> lines;
  std::string command;
  for (std::string line; std::getline(block, line);) {
    line.erase(0, 4);
    const size_t at = line.find("# Found with: ");
    if (at == 0) command = line.substr(std::string_view("# Found with: ").size());
    lines.push_back(line.ends_with("…") ? "…" : line);
  }
  ASSERT_FALSE(command.empty());
  const PageFolder folder;
  EXPECT_EQ(run_shell(command + " --out=found").status, 1);
  const CommandResult made = run_shell("cat found/lifetime-reset.ilk");
  EXPECT_TRUE(prints(made.out, lines)) << made.out;
}

}  // namespace
}  // namespace interlock::document_commands_test
