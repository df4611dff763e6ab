// interlock capture: an application that is captured, judged and replayed. Without a Vulkan driver
// the tests say so and skip.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "tests/cli/command.h"

namespace interlock::capture_test {
namespace {

using testing::HasSubstr;
using testing::Not;

// As it is without us.
bool has_driver() {
  static const int kStatus = std::system(SAMPLE_APPLICATION " barrier >/dev/null 2>&1");
  return kStatus == 0;
}

class Capture : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_driver()) GTEST_SKIP() << "there is no Vulkan driver.";
  }

  static CommandResult capture(const std::string& mode, std::vector<std::string> options = {}) {
    options.insert(options.begin(), "capture");
    options.insert(options.end(), {"--", SAMPLE_APPLICATION, mode});
    return run_interlock(options);
  }
};

TEST_F(Capture, FindsTheMissingBarrierMinimizesAndReplaysIt) {
  const std::string file = temporary_path("missing.ilk");
  const CommandResult result = capture("missing", {"-o", file});
  EXPECT_EQ(result.status, 1) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("(sample) on "));
  EXPECT_THAT(result.out,
              HasSubstr("  2 dispatches, 0 transfers, 0 barriers, 1 submission, 1 queue."));
  EXPECT_THAT(result.out, HasSubstr("RAW hazard: s1.b0.c1 (dispatch 1) reads"));
  EXPECT_THAT(result.out, Not(HasSubstr("not understood")));
  // The file itself says no more than that it may be.
  EXPECT_THAT(result.out, HasSubstr("1 of 1 finding is possible, and need not be"));
  EXPECT_EQ(run_interlock({"check", file}).status, 0);
  EXPECT_EQ(run_interlock({"check", "--possible", file}).status, 1);
  const std::string small = temporary_path("small.ilk");
  EXPECT_EQ(run_interlock({"minimize", "--possible", file, "-o", small}).status, 1);
  EXPECT_THAT(run_interlock({"check", small}).out, HasSubstr("2 dispatches, "));
  EXPECT_EQ(run_interlock({"replay", small}).status, 1);
}

TEST_F(Capture, FindsTheSameInALogThatWasKept) {
  const std::string kept = temporary_path("kept.ilog");
  const CommandResult first = capture("missing", {"--keep-log", kept});
  const CommandResult again = run_interlock({"capture", "--log", kept});
  EXPECT_EQ(again.status, 1);
  // A log does not say which command it is of: that line is the last one.
  const size_t decides = first.out.find("What is touched decides: ");
  ASSERT_NE(decides, std::string::npos);
  EXPECT_EQ(again.out, first.out.substr(0, decides));
}

// Each is a repair of the same program, or leaves it as it is.
TEST_F(Capture, TellsWhatOrdersAndWhatDoesNot) {
  for (const char* const mode :
       {"barrier", "buffer-barrier-2", "fence", "wait-idle", "ordered-copies", "timeline", "binary",
        "secondary", "ordered-indirect", "queries-beside", "forks", "many", "unasked-names"}) {
    const CommandResult result = capture(mode);
    EXPECT_EQ(result.status, 0) << mode << "\n" << result.out << result.err;
    EXPECT_THAT(result.out, HasSubstr("no findings")) << mode;
  }
  for (const char* const mode : {"other-buffer", "unordered-submissions", "unordered-copies",
                                 "template", "unordered-indirect"}) {
    const CommandResult result = capture(mode);
    EXPECT_EQ(result.status, 1) << mode << "\n" << result.out << result.err;
    EXPECT_THAT(result.out, HasSubstr("RAW hazard: ")) << mode;
  }
}

// By addresses in push constants the buffers are known, and no other is touched; those in a table
// may be of any that has an address.
TEST_F(Capture, FollowsAddressesOfBuffers) {
  const CommandResult missing = capture("addresses");
  EXPECT_EQ(missing.status, 1) << missing.out << missing.err;
  EXPECT_THAT(missing.out, HasSubstr("RAW hazard: s1.b0.c1 (dispatch 1) reads m2[0:1024], which "
                                     "s1.b0.c0 (dispatch 0) writes."));
  EXPECT_THAT(missing.out, HasSubstr("; 1 finding.\n"));
  EXPECT_THAT(missing.out, Not(HasSubstr("not understood")));
  EXPECT_THAT(missing.out, Not(HasSubstr("may touch every buffer")));
  // Measuring does not decide it.
  EXPECT_THAT(missing.out, HasSubstr("What is touched decides, but for addresses of buffers: "));
  const CommandResult ordered = capture("ordered-addresses");
  EXPECT_EQ(ordered.status, 0) << ordered.out << ordered.err;
  const CommandResult table = capture("addresses-in-a-table");
  EXPECT_EQ(table.status, 1) << table.out << table.err;
  EXPECT_THAT(table.out, HasSubstr("possible RAW hazard: "));
  EXPECT_THAT(table.out, HasSubstr("(it may touch every buffer whose address was asked for): 2\n"));
  EXPECT_THAT(table.out, Not(HasSubstr("not understood")));
}

// Two memories of one pointer are the same bytes.
TEST_F(Capture, KnowsMemoryOfTheHostThatIsImportedTwice) {
  const CommandResult result = capture("imports");
  EXPECT_EQ(result.status, 1) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("RAW hazard: s1.b0.c1 (dispatch 1) reads m4[0:1024], which "
                                    "s1.b0.c0 (dispatch 0) writes."));
}

// What --exact binds takes the place of a set that the application bound before. The application
// looks at its results.
TEST_F(Capture, BindsAgainTheSetThatMeasuringDisturbed) {
  const CommandResult result = capture("set-that-stays", {"--exact"});
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_THAT(result.err, Not(HasSubstr("ended with status")));
  EXPECT_THAT(result.out, HasSubstr("  exact: 2 of 2 dispatches"));
}

TEST_F(Capture, KnowsWhatTheResultsOfQueriesTake) {
  const CommandResult result = capture("queries-below");
  EXPECT_EQ(result.status, 1) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("WAW hazard: s1.b0.c4 "));
}

TEST_F(Capture, JudgesWhatAnApplicationDidBeforeItWasKilled) {
  const CommandResult result = capture("killed");
  EXPECT_EQ(result.status, 1) << result.out << result.err;
  EXPECT_THAT(result.err, HasSubstr("ended with status 134."));
  EXPECT_THAT(result.out, HasSubstr("RAW hazard: s1.b0.c1 (dispatch 1) reads"));
}

TEST_F(Capture, NamesAProcessThatSubmittedNothing) {
  const auto run = [](const std::string& first, const std::string& second) {
    return run_interlock({"capture", "--", "bash", "-c",
                          std::string(SAMPLE_APPLICATION " ") + first + "; exec " +
                              SAMPLE_APPLICATION + " " + second});
  };
  const CommandResult clean = run("nothing", "barrier");
  EXPECT_EQ(clean.status, 0) << clean.out << clean.err;
  EXPECT_THAT(clean.out, HasSubstr("no findings.\nnote: another process, sample_application, "
                                   "submitted nothing.\n"));
  EXPECT_EQ(run("missing", "nothing").status, 1);
  // Two of them are no verdict, and neither is one.
  const CommandResult nothing = run("nothing", "nothing");
  EXPECT_EQ(nothing.status, 2) << nothing.out << nothing.err;
  EXPECT_THAT(nothing.out, HasSubstr("No verdict: nothing was submitted.\n"));
  EXPECT_EQ(capture("nothing").status, 2);
}

// Two memories that are one file are one memory, and who else has that file is not seen.
TEST_F(Capture, KnowsMemoryThatIsExportedAndImported) {
  if (std::system(SAMPLE_APPLICATION " shared-file >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "the driver exports no memory as files.";
  }
  const CommandResult result = capture("shared-file");
  EXPECT_EQ(result.status, 1) << result.out << result.err;
  EXPECT_THAT(result.err, Not(HasSubstr("ended with status")));
  EXPECT_THAT(result.out, HasSubstr("RAW hazard: s1.b0.c1 (dispatch 1) reads"));
  EXPECT_THAT(result.out, HasSubstr("memory that is exported (what others do with it is not seen): "
                                    "1\n"));
  EXPECT_THAT(result.out, Not(HasSubstr("was not exported here")));
}

// Without the command: a variable with one value makes loaders load the layer.
TEST_F(Capture, IsAskedForByOneVariable) {
  const std::string folder = temporary_path("one-variable");
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  const std::string run = "cd " + folder + " && export XDG_DATA_HOME=" LAYER_FOLDER " && ";
  const auto log_count = [&] {
    return std::distance(std::filesystem::directory_iterator(folder),
                         std::filesystem::directory_iterator());
  };
  const CommandResult without = run_shell(run + SAMPLE_APPLICATION " missing");
  EXPECT_EQ(without.status, 0) << without.err;
  EXPECT_EQ(log_count(), 0);
  const CommandResult with = run_shell(run + "INTERLOCK_CAPTURE=1 " SAMPLE_APPLICATION
                                             " missing && "
                                             "interlock capture --log=$(ls *.ilog)");
  EXPECT_EQ(with.status, 1) << with.out << with.err;
  EXPECT_THAT(with.out, HasSubstr("RAW hazard: s1.b0.c1 (dispatch 1) reads"));
  EXPECT_EQ(log_count(), 1);
  // Asked for in both ways, it is there once: everything else would be logged twice.
  const CommandResult both =
      run_shell(run + "INTERLOCK_CAPTURE=1 interlock capture -- " SAMPLE_APPLICATION " missing");
  EXPECT_EQ(both.status, 1) << both.out << both.err;
  EXPECT_THAT(both.out, HasSubstr("  2 dispatches, 0 transfers, "));
  EXPECT_EQ(log_count(), 1);
  const CommandResult named =
      run_shell(run + "VK_ADD_LAYER_PATH=" LAYER_FOLDER
                      " VK_INSTANCE_LAYERS=VK_LAYER_INTERLOCK_capture INTERLOCK_CAPTURE=1 "
                      "INTERLOCK_CAPTURE_DIR=. " SAMPLE_APPLICATION
                      " missing && "
                      "for log in *.ilog; do interlock capture --log=$log; done");
  EXPECT_EQ(log_count(), 2) << named.err;
  EXPECT_THAT(named.out, HasSubstr("  2 dispatches, 0 transfers, "));
  EXPECT_THAT(named.out, Not(HasSubstr("  4 dispatches")));
  // It says that there is to be no log, whoever else asks for the layer.
  const CommandResult off =
      run_shell(run + "VK_ADD_LAYER_PATH=" LAYER_FOLDER
                      " VK_INSTANCE_LAYERS=VK_LAYER_INTERLOCK_capture INTERLOCK_CAPTURE=0 "
                      "INTERLOCK_CAPTURE_DIR=. " SAMPLE_APPLICATION " missing");
  EXPECT_EQ(off.status, 0) << off.err;
  EXPECT_EQ(off.err, without.err);
  EXPECT_EQ(log_count(), 2);
}

// As on a disk that is full: the application runs on, and the verdict says where the log ends.
TEST_F(Capture, LeavesTheApplicationAloneWhereTheLogMayNotGrow) {
  const CommandResult result =
      run_interlock({"capture", "--", "bash", "-c",
                     std::string("ulimit -f 4; exec ") + SAMPLE_APPLICATION + " many"});
  EXPECT_EQ(result.status, 2) << result.out << result.err;
  EXPECT_THAT(result.err, Not(HasSubstr("ended with status")));
  EXPECT_THAT(result.out, HasSubstr("  cut: the log could not be written on: File too large."));
}

// What the documents say of the layer's costs is measured so; here, whether it still measures.
TEST_F(Capture, HasAScriptThatMeasuresWhatItCosts) {
  if (std::system("python3 -c '' >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no python3.";
  const std::filesystem::path build =
      std::filesystem::path(SAMPLE_APPLICATION).parent_path().parent_path();
  const CommandResult result =
      run_shell("python3 " INTERLOCK_SOURCE_DIR "/tests/bench/capture_overhead.py '" +
                build.string() + "' --briefly");
  EXPECT_EQ(result.status, 0) << result.err;
  for (const char* const kind : {"| bind-set | ", "| dispatch | ", "| barrier | ", "| copy | "}) {
    EXPECT_THAT(result.out, HasSubstr(kind));
  }
}

// A released application: found, minimized to its two passes, and replayed; and one that is clean.
TEST_F(Capture, FindsTheMissingBarrierOfFfmpegsAvgblur) {
  const auto filtered = [](const std::string& filter, const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"capture"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    for (const std::string& argument :
         {std::string("--"), std::string("ffmpeg"), std::string("-v"), std::string("error"),
          std::string("-init_hw_device"), std::string("vulkan=v:0"),
          std::string("-filter_hw_device"), std::string("v"), std::string("-f"),
          std::string("lavfi"), std::string("-i"), std::string("testsrc=size=64x64"),
          std::string("-vf"), "format=yuv420p,hwupload," + filter + ",hwdownload,format=yuv420p",
          std::string("-frames:v"), std::string("3"), std::string("-f"), std::string("null"),
          std::string("-")}) {
      arguments.push_back(argument);
    }
    return run_interlock(arguments);
  };
  if (std::system("ffmpeg -v quiet -init_hw_device vulkan=v:0 -filters 2>&1 | "
                  "grep -q avgblur_vulkan") != 0) {
    GTEST_SKIP() << "there is no ffmpeg with filters for Vulkan.";
  }
  const std::string file = temporary_path("ffmpeg.ilk");
  const CommandResult blurred = filtered("avgblur_vulkan", {"-o", file});
  EXPECT_EQ(blurred.status, 1) << blurred.out << blurred.err;
  EXPECT_THAT(blurred.out, Not(HasSubstr("not understood")));
  EXPECT_THAT(blurred.out, HasSubstr("; 3 findings.\n"));
  EXPECT_THAT(blurred.out, HasSubstr("\n3 of 3 findings are possible"));
  const std::string small = temporary_path("ffmpeg-small.ilk");
  EXPECT_EQ(run_interlock({"minimize", "--possible", file, "-o", small}).status, 1);
  EXPECT_THAT(run_interlock({"check", small}).out, HasSubstr("\n2 dispatches, "));
  EXPECT_EQ(run_interlock({"replay", small}).status, 1);
  const CommandResult clean = filtered("chromaber_vulkan=dist_x=1", {});
  EXPECT_EQ(clean.status, 0) << clean.out << clean.err;
  EXPECT_THAT(clean.out, HasSubstr("no findings"));
  // What is touched makes the findings certain.
  const CommandResult exact = filtered("avgblur_vulkan", {"--exact", "-o", file});
  EXPECT_EQ(exact.status, 1) << exact.out << exact.err;
  EXPECT_THAT(exact.out, HasSubstr("  exact: 6 of 6 dispatches with the ranges"));
  EXPECT_THAT(exact.out, HasSubstr("\nRAW hazard: "));
  EXPECT_THAT(exact.out, Not(HasSubstr("possible")));
  EXPECT_EQ(run_interlock({"minimize", file, "-o", small}).status, 1);
  EXPECT_THAT(run_interlock({"check", small}).out, HasSubstr("\n2 dispatches, "));
  EXPECT_EQ(run_interlock({"replay", small}).status, 1);
}

// Four submissions, each of them waited for; the first and the last lack a barrier.
TEST_F(Capture, JudgesALongProgramInWindows) {
  const std::string file = temporary_path("frames.ilk");
  const std::string kept = temporary_path("frames.ilog");
  const CommandResult whole = capture("frames", {"--keep-log", kept, "-o", file});
  EXPECT_EQ(whole.status, 1) << whole.out << whole.err;
  EXPECT_THAT(whole.out, HasSubstr("; 2 findings.\n"));
  EXPECT_THAT(whole.out, Not(HasSubstr("window")));
  const CommandResult parts =
      run_interlock({"capture", "--window-kib=0", "-o", file, "--log", kept});
  EXPECT_EQ(parts.status, 1) << parts.out << parts.err;
  EXPECT_THAT(parts.out, HasSubstr("window 1, submissions 1 to 1:\n"));
  EXPECT_THAT(parts.out, Not(HasSubstr("window 2")));
  EXPECT_THAT(parts.out, HasSubstr("window 4, submissions 4 to 4:\n"));
  EXPECT_THAT(parts.out, HasSubstr("RAW hazard: s4.b0.c1 (dispatch 1) reads"));
  EXPECT_THAT(parts.out, HasSubstr("\n4 windows, each judged by itself, "));
  EXPECT_THAT(parts.out, HasSubstr(": 2 findings in 2 of them (1, 4).\n"));
  EXPECT_FALSE(std::filesystem::exists(temporary_path("frames.w2.ilk")));
  // Nor is there what an earlier capture wrote.
  EXPECT_FALSE(std::filesystem::exists(file));
  const std::string last = temporary_path("frames.w4.ilk");
  const std::string small = temporary_path("frames-small.ilk");
  EXPECT_EQ(run_interlock({"check", "--possible", temporary_path("frames.w1.ilk")}).status, 1);
  EXPECT_EQ(run_interlock({"minimize", "--possible", last, "-o", small}).status, 1);
  EXPECT_EQ(run_interlock({"replay", small}).status, 1);
  // What is clean in windows is clean.
  EXPECT_EQ(capture("fence", {"--window-kib=0"}).status, 0);
  // What a user wrote under such a name stays.
  const std::string of_user = temporary_path("frames.w9.ilk");
  std::filesystem::copy_file(small, of_user, std::filesystem::copy_options::overwrite_existing);
  const std::string of_another = temporary_path("frames.5.ilk");
  std::filesystem::copy_file(last, of_another, std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(run_interlock({"capture", "-o", file, "--log", temporary_path("no.ilog")}).status, 2);
  EXPECT_TRUE(std::filesystem::exists(last));
  EXPECT_EQ(capture("fence", {"-o", file}).status, 0);
  EXPECT_FALSE(std::filesystem::exists(last));
  EXPECT_TRUE(std::filesystem::exists(of_user));
  EXPECT_TRUE(std::filesystem::exists(of_another));
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST(CaptureCommand, LeavesWhatStandsBesideALog) {
  const std::string folder = temporary_path("beside");
  std::filesystem::create_directory(folder);
  std::filesystem::copy_file(INTERLOCK_SOURCE_DIR "/corpus/captured/missing-barrier.ilog",
                             folder + "/x.ilog", std::filesystem::copy_options::overwrite_existing);
  std::filesystem::copy_file(INTERLOCK_SOURCE_DIR "/corpus/captured/ffmpeg-avgblur.ilk",
                             folder + "/captured.ilk",
                             std::filesystem::copy_options::overwrite_existing);
  const auto size_bytes = std::filesystem::file_size(folder + "/captured.ilk");
  EXPECT_EQ(run_interlock({"capture", "--log", folder + "/x.ilog"}).status, 1);
  ASSERT_TRUE(std::filesystem::exists(folder + "/captured.ilk"));
  EXPECT_EQ(std::filesystem::file_size(folder + "/captured.ilk"), size_bytes);
}

TEST(CaptureCommand, FindsInTheCorpusWhatItExpects) {
  const std::string folder = INTERLOCK_SOURCE_DIR "/corpus/captured/";
  const CommandResult program = run_interlock({"check", folder + "ffmpeg-avgblur.ilk"});
  EXPECT_EQ(program.status, 0) << program.out;
  EXPECT_EQ(run_interlock({"replay", folder + "ffmpeg-avgblur.ilk"}).status, 1);
  const CommandResult log = run_interlock({"capture", "--log", folder + "missing-barrier.ilog"});
  EXPECT_EQ(log.status, 1);
  EXPECT_THAT(log.out, HasSubstr("RAW hazard: s1.b0.c1 (dispatch 1) reads m2[0:1024], which "
                                 "s1.b0.c0 (dispatch 0) writes."));
  const CommandResult addressed = run_interlock({"capture", "--log", folder + "addresses.ilog"});
  EXPECT_EQ(addressed.status, 1);
  EXPECT_THAT(addressed.out, HasSubstr("RAW hazard: s1.b0.c1 (dispatch 1) reads m2[0:1024]"));
  const CommandResult exact = run_interlock({"capture", "--log", folder + "exact-halves.ilog"});
  EXPECT_EQ(exact.status, 1);
  EXPECT_THAT(exact.out, HasSubstr("\nRAW hazard: s2.b0.c1 (dispatch 2) reads m1[256:512], which "
                                   "s2.b0.c0 (dispatch 1) writes."));
}

TEST(CaptureCommand, SaysWhatIsWrong) {
  const CommandResult nothing = run_interlock({"capture"});
  EXPECT_EQ(nothing.status, 2);
  EXPECT_THAT(nothing.err, HasSubstr("capture takes a command after `--`, or --log=FILE"));
  const CommandResult missing = run_interlock({"capture", "--", "/no/such/program"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("'/no/such/program' cannot be started: No such file"));
  const CommandResult other = run_interlock({"capture", "--", "true"});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("'true' created no Vulkan instance that loads layers."));
  const std::string file = temporary_file("no-log.ilog", "interlock 1\n");
  const CommandResult no_log = run_interlock({"capture", "--log", file});
  EXPECT_EQ(no_log.status, 2);
  EXPECT_THAT(no_log.err, HasSubstr("this is no log of `interlock capture`."));
}

}  // namespace
}  // namespace interlock::capture_test
