// The log: what is written is read back, whatever ends the writer, and nothing that a file may hold
// does more than give an error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "capture/log/command_records.h"
#include "capture/log/log_format.h"
#include "capture/log/log_reader.h"
#include "capture/log/log_writer.h"
#include "capture/log/object_records.h"
#include "capture/log/queue_records.h"

namespace interlock::log_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string fresh_path(const std::string& name) {
  const std::string path = testing::TempDir() + name + std::to_string(getpid()) + ".ilog";
  std::filesystem::remove(path);
  return path;
}

// Kinds of all records, until the end or an error.
struct ReadLog {
  std::vector<RecordKind> kinds;
  std::string error;
  bool is_cut = false;
  uint32_t write_error = 0;
};

ReadLog read_all(std::istream& input) {
  ReadLog result;
  LogReader reader(input, "test.ilog");
  if (const auto opened = reader.open(); !opened) {
    result.error = opened.error().message;
    return result;
  }
  while (true) {
    const auto record = reader.next();
    if (!record) result.error = record.error().message;
    if (!record || !record->has_value()) break;
    result.kinds.push_back((*record)->kind);
  }
  result.is_cut = reader.is_cut();
  result.write_error = reader.write_error();
  return result;
}

ReadLog read_file_of(const std::string& path) {
  std::ifstream input(path, std::ios::binary);
  return read_all(input);
}

TEST(Log, ReadsBackWhatWasWritten) {
  const std::string path = fresh_path("back");
  SubmitRecord submitted{11, 12, {{{{1, 2, 3}}, {4, 5}, {{6, 7, 8}, {9, 10, 11}}}, {}}};
  {
    LogWriter writer;
    ASSERT_EQ(writer.open(path), 0);
    writer.append(ProcessRecord{42, "program", "application"});
    writer.append(submitted);
    writer.append(LabelRecord{7, LabelUse::kEnd, ""});
  }
  std::ifstream input(path, std::ios::binary);
  LogReader reader(input, path);
  ASSERT_TRUE(reader.open().has_value());
  const auto process = parsed<ProcessRecord>(reader, **reader.next());
  ASSERT_TRUE(process.has_value());
  EXPECT_EQ(process->process_id, 42u);
  EXPECT_EQ(process->application, "application");
  const auto submit = parsed<SubmitRecord>(reader, **reader.next());
  ASSERT_TRUE(submit.has_value());
  ASSERT_EQ(submit->batches.size(), 2u);
  EXPECT_THAT(submit->batches[0].commands, ElementsAre(4, 5));
  EXPECT_EQ(submit->batches[0].signals[1].value, 10u);
  EXPECT_TRUE(submit->batches[1].waits.empty());
  const auto label = parsed<LabelRecord>(reader, **reader.next());
  ASSERT_TRUE(label.has_value());
  EXPECT_EQ(label->use, LabelUse::kEnd);
  EXPECT_FALSE(reader.next()->has_value());
  EXPECT_FALSE(reader.is_cut());
  EXPECT_EQ(reader.write_error(), 0u);
}

TEST(Log, GrowsPastItsWindowAndKeepsRecordsOfAllThreads) {
  const std::string path = fresh_path("grows");
  constexpr int kEach = 3000;
  {
    LogWriter writer;
    ASSERT_EQ(writer.open(path), 0);
    const auto append = [&](uint64_t thread) {
      const std::string name(2000, static_cast<char>('a' + thread));
      for (int i = 0; i < kEach; ++i) writer.append(ObjectNameRecord{1, thread, name});
    };
    std::thread other(append, 1);
    append(0);
    other.join();
    // Larger than a window.
    writer.append(CreateShaderModuleRecord{1, std::vector<uint32_t>(3u << 20, 7)});
  }
  const ReadLog log = read_file_of(path);
  EXPECT_EQ(log.kinds.size(), 2u * kEach + 1);
  EXPECT_EQ(log.error, "");
  EXPECT_FALSE(log.is_cut);
  std::filesystem::remove(path);
}

// What the child does has ended within 20 s, and well.
void expect_child_ends(LogWriter& writer) {
  writer.lock_for_fork();
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    writer.abandon();
    writer.append(ObjectNameRecord{1, 3, "child"});
    writer.close();
    _exit(0);
  }
  writer.unlock_after_fork();
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Log, IsNoneOfAProcessThatIsForked) {
  const std::string path = fresh_path("forks");
  LogWriter writer;
  ASSERT_EQ(writer.open(path), 0);
  expect_child_ends(writer);
  writer.append(ObjectNameRecord{1, 2, "parent"});
  writer.close();
  EXPECT_THAT(read_file_of(path).kinds, ElementsAre(RecordKind::kObjectName));
  std::filesystem::remove(path);
}

// Another thread takes the lock all the time (and finds no log there), so that without care about
// every fourth child would find it taken for ever; that none of 60 does happens once in 10^7 runs.
TEST(Log, LetsAForkedProcessEnd) {
  LogWriter writer;
  std::atomic<bool> is_over = false;
  std::thread appending([&] {
    while (!is_over) writer.append(ObjectNameRecord{1, 2, "parent"});
  });
  for (int i = 0; i < 60; ++i) expect_child_ends(writer);
  is_over = true;
  appending.join();
}

TEST(Log, IsThereWithoutBeingClosed) {
  const std::string path = fresh_path("unclosed");
  LogWriter writer;
  ASSERT_EQ(writer.open(path), 0);
  writer.append(DispatchRecord{1, 2, 3, 4});
  // What a process that is killed leaves is what another sees now.
  EXPECT_THAT(read_file_of(path).kinds, ElementsAre(RecordKind::kDispatch));
}

TEST(Log, ReplacesARecordThatIsTooLong) {
  const std::string path = fresh_path("long");
  {
    LogWriter writer;
    ASSERT_EQ(writer.open(path), 0);
    writer.append(
        CreateShaderModuleRecord{1, std::vector<uint32_t>(kRecordBytesMax / sizeof(uint32_t))});
    writer.append(DispatchRecord{});
  }
  EXPECT_THAT(read_file_of(path).kinds, ElementsAre(RecordKind::kLost, RecordKind::kDispatch));
  std::filesystem::remove(path);
}

TEST(Log, TakesNothingWhereItCannotBeOpened) {
  LogWriter writer;
  EXPECT_NE(writer.open("/proc/no-such-folder/x.ilog"), 0);
  writer.append(DispatchRecord{});
  LogWriter unopened;
  unopened.append(DispatchRecord{});
}

// As on a disk that is full: no signal, and what there is stays.
TEST(Log, EndsWhereTheFileMayNotGrow) {
  const std::string path = fresh_path("limited");
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = 10'000;
  {
    LogWriter writer;
    ASSERT_EQ(writer.open(path), 0);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (int i = 0; i < 1000; ++i) writer.append(DispatchRecord{});
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_EQ(writer.write_error(), EFBIG);
  }
  const ReadLog log = read_file_of(path);
  EXPECT_EQ(log.write_error, static_cast<uint32_t>(EFBIG));
  EXPECT_EQ(log.error, "");
  // A record has 28 bytes, and two pages of 4,096 are within the limit: they are full.
  EXPECT_GT(log.kinds.size(), 250u);
  EXPECT_LT(log.kinds.size(), 1000u);
}

// The number under which this process has the file; -1 if it has not.
int number_of_file(const std::string& path) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry.path(), gone) == path) {
      return std::stoi(entry.path().filename());
    }
  }
  return -1;
}

// As a process does that closes what it did not open: its next file has the number of the log.
class LogOfAProcessThatClosesIt : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(victim_) << "mine";
    ASSERT_EQ(writer_.open(path_), 0);
    const int number = number_of_file(path_);
    ASSERT_GE(number, 0);
    FILE* const opened = fopen(victim_.c_str(), "r+");
    ASSERT_NE(opened, nullptr);
    ASSERT_EQ(dup2(fileno(opened), number), number);
    fclose(opened);
  }
  void TearDown() override {
    writer_.close();
    EXPECT_EQ(std::filesystem::file_size(victim_), 4u);
    // It is as open as it was.
    EXPECT_GE(number_of_file(victim_), 0);
    ::close(number_of_file(victim_));
    std::filesystem::remove(path_);
  }
  void append_more_than_a_window() {
    const std::string name(1 << 20, 'n');
    for (int i = 0; i < 6; ++i) writer_.append(ObjectNameRecord{1, 2, name});
  }

  const std::string path_ = fresh_path("closed");
  const std::string victim_ = fresh_path("victim");
  LogWriter writer_;
};

TEST_F(LogOfAProcessThatClosesIt, GoesOnInItsOwnFile) {
  append_more_than_a_window();
  EXPECT_EQ(writer_.write_error(), 0);
  writer_.close();
  const ReadLog log = read_file_of(path_);
  EXPECT_EQ(log.kinds.size(), 6u);
  EXPECT_EQ(std::filesystem::file_size(path_), 16 + 6 * (8 + 16 + (1u << 20)));
}

TEST_F(LogOfAProcessThatClosesIt, EndsWhereItIsNotThereAnyMore) {
  std::filesystem::rename(path_, path_ + ".moved");
  std::ofstream(path_) << "another file";
  append_more_than_a_window();
  EXPECT_EQ(writer_.write_error(), EBADF);
  writer_.close();
  EXPECT_EQ(std::filesystem::file_size(path_), 12u);
  EXPECT_EQ(read_file_of(path_ + ".moved").write_error, static_cast<uint32_t>(EBADF));
  std::filesystem::remove(path_ + ".moved");
}

TEST_F(LogOfAProcessThatClosesIt, LeavesTheOtherFileToAForkedProcess) {
  writer_.lock_for_fork();
  const pid_t child = fork();
  if (child == 0) {
    writer_.abandon();
    _exit(number_of_file(victim_) >= 0 ? 0 : 1);
  }
  writer_.unlock_after_fork();
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Log, NeverReplacesAFile) {
  const std::string path = fresh_path("there");
  std::ofstream(path) << "something";
  LogWriter writer;
  EXPECT_EQ(writer.open(path), EEXIST);
}

// A log of three records.
std::string small_log() {
  const std::string path = fresh_path("small");
  {
    LogWriter writer;
    EXPECT_EQ(writer.open(path), 0);
    writer.append(ProcessRecord{1, "a", "b"});
    writer.append(AllocateMemoryRecord{1, 64, 0});
    writer.append(DispatchRecord{1, 1, 1, 1});
  }
  std::ifstream input(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << input.rdbuf();
  return bytes.str();
}

TEST(LogReader, TakesEveryPrefixForALogThatEndsThere) {
  const std::string log = small_log();
  size_t cut_count = 0;
  for (size_t length = 0; length <= log.size(); ++length) {
    std::istringstream input(log.substr(0, length));
    const ReadLog read = read_all(input);
    EXPECT_EQ(read.error.empty(), length >= kLogHeaderBytes) << length;
    EXPECT_LE(read.kinds.size(), 3u);
    cut_count += read.is_cut ? 1 : 0;
  }
  EXPECT_GT(cut_count, 20u);
}

TEST(LogReader, RefusesOtherFilesAndVersions) {
  std::istringstream other("interlock 1\nmemory m 64\n");
  EXPECT_THAT(read_all(other).error, HasSubstr("this is no log of `interlock capture`."));
  std::string log = small_log();
  log[8] = 9;
  std::istringstream newer(log);
  EXPECT_THAT(read_all(newer).error, HasSubstr("the log is of version 9"));
}

TEST(LogReader, RefusesARecordOfAnImpossibleLength) {
  std::string log = small_log().substr(0, kLogHeaderBytes);
  const RecordHead head{UINT32_MAX, 1};
  log.append(reinterpret_cast<const char*>(&head), sizeof(head));
  std::istringstream input(log);
  EXPECT_THAT(read_all(input).error, HasSubstr("byte 16: error: a record of 4294967294 bytes"));
}

TEST(LogReader, SaysThatARecordIsShorterOrLongerThanItsFields) {
  std::istringstream input(small_log());
  LogReader reader(input, "test.ilog");
  ASSERT_TRUE(reader.open().has_value());
  const auto process = reader.next();
  EXPECT_THAT(parsed<SubmitRecord>(reader, **process).error().message,
              HasSubstr("the record ends within its fields."));
  EXPECT_THAT(parsed<ResetSetPoolRecord>(reader, **process).error().message,
              HasSubstr("the record goes on after its fields."));
}

// A list whose length lies has no room that its bytes do not have.
TEST(LogReader, AllocatesNoMoreThanARecordHas) {
  std::vector<std::byte> bytes(12);
  const uint32_t count = UINT32_MAX;
  std::memcpy(bytes.data() + 8, &count, sizeof(count));
  ParsedFields fields(bytes);
  CreateShaderModuleRecord record;
  CreateShaderModuleRecord::each_field(record, fields);
  EXPECT_FALSE(fields.is_whole());
  EXPECT_EQ(record.code.capacity(), 0u);
}

}  // namespace
}  // namespace interlock::log_test
