// Reading and writing files: bounds, and replacement in one step.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "encoder/text/files.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"

namespace interlock::files_test {
namespace {

class Files : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "interlock_files_test_" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  std::string content_of(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  size_t file_count() const {
    const std::filesystem::directory_iterator files(folder_);
    return static_cast<size_t>(std::distance(begin(files), end(files)));
  }

 private:
  std::string folder_;
};

TEST_F(Files, WhatIsWrittenIsReadAgain) {
  ASSERT_TRUE(write_file(path("a.ilk"), "interlock 1\nmemory m 16\n"));
  const auto p = parse_file(path("a.ilk"));
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(print(*p), "interlock 1\nmemory m 16\n");
}

TEST_F(Files, ErrorsOfTextNameTheFile) {
  ASSERT_TRUE(write_file(path("a.ilk"), "interlock 1\nmemory m\n"));
  EXPECT_EQ(
      parse_file(path("a.ilk")).error().message,
      path("a.ilk") +
          ":2:9: error: found the end of the line; expected the size of the memory in bytes.");
}

TEST_F(Files, AMissingFileIsAnError) {
  const auto p = parse_file(path("b"));
  ASSERT_FALSE(p);
  EXPECT_NE(p.error().message.find("No such file or directory."), std::string::npos);
}

TEST_F(Files, ADirectoryIsAnError) {
  const auto p = parse_file(path(""));
  ASSERT_FALSE(p);
  EXPECT_NE(p.error().message.find("Is a directory."), std::string::npos);
  EXPECT_FALSE(write_file(path(""), "x"));
}

TEST_F(Files, AFileAboveTheLimitIsRefused) {
  ParseOptions options;
  options.limits.input_bytes = 12;
  ASSERT_TRUE(write_file(path("12"), "interlock 1\n"));
  EXPECT_TRUE(parse_file(path("12"), options));
  ASSERT_TRUE(write_file(path("13"), "interlock 1\n\n"));
  const auto p = parse_file(path("13"), options);
  ASSERT_FALSE(p);
  EXPECT_NE(p.error().message.find("it has more bytes than the limit of 12."), std::string::npos);
}

TEST_F(Files, AnEndlessDeviceIsRefused) {
  ParseOptions options;
  options.limits.input_bytes = 1 << 20;
  EXPECT_EQ(parse_file("/dev/zero", options).error().message,
            "cannot read '/dev/zero': it has more bytes than the limit of 1048576.");
}

TEST_F(Files, WritingReplacesAFileAndLeavesNoOther) {
  ASSERT_TRUE(write_file(path("a"), "old, and longer"));
  ASSERT_TRUE(write_file(path("a"), "new"));
  EXPECT_EQ(content_of("a"), "new");
  EXPECT_EQ(file_count(), 1);
}

TEST_F(Files, WritingFollowsASymbolicLink) {
  ASSERT_TRUE(write_file(path("a"), "old"));
  std::filesystem::create_symlink(path("a"), path("link"));
  ASSERT_TRUE(write_file(path("link"), "new"));
  EXPECT_EQ(content_of("a"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
}

TEST_F(Files, WritingToADeviceDoesNotReplaceIt) {
  ASSERT_TRUE(write_file("/dev/null", "x"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(Files, AFolderThatIsMissingIsAnError) {
  const auto written = write_file(path("no/such/file"), "x");
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("No such file or directory."), std::string::npos);
}

// No process has a number as large.
constexpr const char* kDeadProcess = "2147483647";

TEST_F(Files, WhatAKilledProcessLeftIsCleared) {
  const std::string dead = std::string(".") + kDeadProcess;
  ASSERT_TRUE(write_file(path("a.ilk" + dead + ".0.tmp"), ""));
  ASSERT_TRUE(write_file(path("b.2.ilk" + dead + ".99.tmp"), "half"));
  EXPECT_EQ(remove_abandoned_files(path("")), 2u);
  EXPECT_EQ(file_count(), 0u);
}

TEST_F(Files, NothingElseIsCleared) {
  const std::string dead = std::string(".") + kDeadProcess;
  const std::string kept[] = {
      "a.ilk",
      "a.ilk.tmp",
      "a.ilk.0.tmp",
      "a.ilk" + dead + ".0",
      "a.ilk" + dead + ".x.tmp",
      "a.ilk.-" + std::string(kDeadProcess) + ".0.tmp",
      "a.ilk.0.0.tmp",                                   // No process, but all of a group.
      "a.txt" + dead + ".0.tmp",                         // No program.
      "a.ilk.99999999999999999999.0.tmp",                // No number of a process.
      "a.ilk." + std::to_string(::getpid()) + ".7.tmp",  // Being written.
  };
  for (const std::string& name : kept) ASSERT_TRUE(write_file(path(name), "x"));
  std::filesystem::create_directory(path("d.ilk" + dead + ".0.tmp"));
  EXPECT_EQ(remove_abandoned_files(path("")), 0u);
  EXPECT_EQ(file_count(), std::size(kept) + 1);
  EXPECT_EQ(remove_abandoned_files(path("missing")), 0u);
}

TEST_F(Files, ATemporaryNameIsKnownAgain) {
  EXPECT_EQ(temporary_name("f/a.ilk", 3), "f/a.ilk." + std::to_string(::getpid()) + ".3.tmp");
}

// What is found out before the work is what writing says afterwards.
TEST_F(Files, AreKnownNotToBeWritableBefore) {
  const std::string file = path("file.ilk");
  ASSERT_TRUE(write_file(file, "text\n"));
  std::filesystem::create_symlink("file.ilk", path("link.ilk"));
  for (const std::string& writable : {file, path("new.ilk"), path("link.ilk"),
                                      std::string("/dev/null"), std::string("/dev/stdout")}) {
    const Result<Success> checked = check_writable(writable);
    EXPECT_TRUE(checked) << checked.error().message;
  }
  EXPECT_EQ(content_of("file.ilk"), "text\n");
  EXPECT_EQ(file_count(), 2u);
  for (const std::string& bad : {path(""), path("none/x.ilk"), file + "/x.ilk"}) {
    const Result<Success> checked = check_writable(bad);
    const Result<Success> written = write_file(bad, "x");
    ASSERT_FALSE(checked) << bad;
    ASSERT_FALSE(written) << bad;
    EXPECT_EQ(checked.error().message, written.error().message);
  }
  if (::geteuid() == 0) return;  // Who may write everything.
  ASSERT_EQ(::chmod(path("").c_str(), 0500), 0);
  EXPECT_FALSE(check_writable(path("new.ilk")));
  ASSERT_EQ(::chmod(path("").c_str(), 0700), 0);
}

TEST_F(Files, KeepTheirPermissions) {
  const std::string file = path("private.ilk");
  ASSERT_TRUE(write_file(file, "one"));
  for (const mode_t mode : {mode_t{0600}, mode_t{0640}, mode_t{0444}}) {
    ASSERT_EQ(::chmod(file.c_str(), mode), 0);
    ASSERT_TRUE(write_file(file, "two"));
    struct stat status = {};
    ASSERT_EQ(::stat(file.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, mode);
  }
}

// A pipe would be waited for.
TEST_F(Files, OfAFolderAreNoPipes) {
  ASSERT_EQ(::mkfifo(path("pipe.ilk").c_str(), 0600), 0);
  EXPECT_FALSE(programs_at({path("")}));
  ASSERT_TRUE(write_file(path("file.ilk"), "x"));
  std::filesystem::create_symlink("file.ilk", path("link.ilk"));
  const auto files = programs_at({path("")});
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_EQ(files->size(), 2u);
}

}  // namespace
}  // namespace interlock::files_test
