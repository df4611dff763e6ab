// Memory of the host that is imported more than once: the same bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vulkan/vulkan_core.h>

#include <string>

#include "tests/capture/convert/synthetic_log.h"

namespace interlock::convert_imports_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Pair;
using testing::SizeIs;

constexpr uint64_t kQueue = 100;
constexpr uint64_t kCommands = 200;
constexpr uint64_t kPointer = 0x10'0000;

SyntheticLog log_of_a_queue() {
  SyntheticLog log;
  log.append(QueueRecord{1, kQueue, 0, 0});
  return log;
}

// A buffer over all of a memory that is imported.
void import(SyntheticLog& log, uint64_t handle, uint64_t pointer, uint64_t size_bytes) {
  log.append(AllocateMemoryRecord{handle, size_bytes, 0});
  log.append(ImportMemoryRecord{handle, pointer});
  log.append(CreateBufferRecord{handle, size_bytes, 0, 0});
  log.append(BindBufferRecord{handle, handle, 0});
}

ConvertedLog filled(SyntheticLog& log, uint64_t first, uint64_t second) {
  log.append(BeginCommandsRecord{kCommands, 0});
  log.add_fill(kCommands, first);
  log.add_fill(kCommands, second);
  log.submit(kQueue, kCommands);
  return converted(log.bytes());
}

TEST(ConvertImports, OfAPartAreThatPart) {
  SyntheticLog log = log_of_a_queue();
  import(log, 1, kPointer, 4096);
  import(log, 2, kPointer + 1024, 1024);
  const ConvertedLog result = filled(log, 1, 2);
  EXPECT_THAT(result.text, HasSubstr("writes m1[1024:2048]"));
  EXPECT_THAT(findings_of(result.text), SizeIs(1));
  EXPECT_THAT(result.summary.not_understood, IsEmpty());
}

TEST(ConvertImports, OfOtherBytesAreApart) {
  SyntheticLog log = log_of_a_queue();
  import(log, 1, kPointer, 4096);
  import(log, 2, kPointer + 4096, 1024);
  const ConvertedLog result = filled(log, 1, 2);
  EXPECT_THAT(findings_of(result.text), IsEmpty());
  EXPECT_THAT(result.summary.not_understood, IsEmpty());
}

// Pages of two pictures, say: what nobody touches as both may be apart.
TEST(ConvertImports, ThatOverlapInPartAreNamedWhereBothTouchTheSame) {
  for (const uint64_t pointer : {kPointer - 1024, kPointer + 3072}) {
    for (const bool touches_both : {false, true}) {
      SyntheticLog log = log_of_a_queue();
      import(log, 1, kPointer, 4096);
      import(log, 2, pointer, 4096);
      log.append(BeginCommandsRecord{kCommands, 0});
      const uint64_t begin = pointer < kPointer ? 0 : 3072;
      log.add_fill(kCommands, 1, begin, touches_both ? 516 : 512);
      log.add_fill(kCommands, 2, (kPointer + begin + 512) - pointer, 512);
      log.submit(kQueue, kCommands);
      const ConvertedLog result = converted(log.bytes());
      EXPECT_EQ(result.error, "");
      EXPECT_THAT(findings_of(result.text), IsEmpty());
      EXPECT_THAT(result.summary.not_understood, SizeIs(touches_both ? 1 : 0));
      EXPECT_THAT(result.summary.remarks, IsEmpty());
    }
  }
}

// What is a part of one that overlaps others is that part.
TEST(ConvertImports, OfAPartOfWhatOverlapsAreThatPart) {
  SyntheticLog log = log_of_a_queue();
  import(log, 1, kPointer, 4096);
  import(log, 2, kPointer + 2048, 8192);
  import(log, 3, kPointer + 6144, 1024);
  const ConvertedLog result = filled(log, 2, 3);
  EXPECT_THAT(result.text, HasSubstr("writes m2[4096:5120]"));
  EXPECT_THAT(findings_of(result.text), SizeIs(1));
  EXPECT_THAT(result.summary.not_understood, IsEmpty());
}

TEST(ConvertImports, ThatOverlapManyAreNamed) {
  SyntheticLog log = log_of_a_queue();
  for (uint64_t i = 0; i < 300; ++i) import(log, 1 + i, kPointer + 4096 * i, 4096);
  import(log, 1000, kPointer, 4096 * 300);
  EXPECT_THAT(filled(log, 1, 2).summary.not_understood,
              ElementsAre(Key("memory of the host that overlaps more than is followed (it is taken "
                              "to be apart)")));
}

// The first one is freed while the second one is in use: a third one is still the same bytes.
TEST(ConvertImports, LastAsLongAsOneOfThem) {
  for (const bool is_second_freed : {false, true}) {
    SyntheticLog log = log_of_a_queue();
    import(log, 1, kPointer, 4096);
    import(log, 2, kPointer, 4096);
    log.append(DestroyRecord{VK_OBJECT_TYPE_DEVICE_MEMORY, 1});
    if (is_second_freed) log.append(DestroyRecord{VK_OBJECT_TYPE_DEVICE_MEMORY, 2});
    import(log, 3, kPointer, 4096);
    EXPECT_THAT(findings_of(filled(log, 2, 3).text), SizeIs(is_second_freed ? 0 : 1));
  }
}

// What the host flushes of the second one it has written to the first one.
TEST(ConvertImports, AreWrittenByTheHostAsOne) {
  SyntheticLog log = log_of_a_queue();
  import(log, 1, kPointer, 4096);
  import(log, 2, kPointer + 1024, 1024);
  log.append(HostRangeRecord{HostRangeUse::kFlush, 2, 256, 256});
  log.append(BeginCommandsRecord{kCommands, 0});
  log.add_fill(kCommands, 1);
  log.submit(kQueue, kCommands);
  EXPECT_THAT(converted(log.bytes()).text, HasSubstr("host writes m1[1280:1536]"));
}

// The file, or 0: none is known.
ShareMemoryRecord shared(uint64_t handle, bool is_import, uint64_t file) {
  return {handle, is_import ? 1u : 0u, VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
          file == 0 ? 0u : 8u, file};
}

// A buffer over all of a memory that is imported as this file.
void import_file(SyntheticLog& log, uint64_t handle, uint64_t file, uint64_t size_bytes = 4096) {
  log.append(AllocateMemoryRecord{handle, size_bytes, 0});
  log.append(shared(handle, true, file));
  log.append(CreateBufferRecord{handle, size_bytes, 0, 0});
  log.append(BindBufferRecord{handle, handle, 0});
}

SyntheticLog log_of_an_export(uint64_t file) {
  SyntheticLog log = log_of_a_queue();
  log.append(AllocateMemoryRecord{1, 4096, 0});
  log.append(CreateBufferRecord{1, 4096, 0, 0});
  log.append(BindBufferRecord{1, 1, 0});
  log.append(shared(1, false, file));
  return log;
}

constexpr const char* kExported = "memory that is exported (what others do with it is not seen)";
constexpr const char* kImported =
    "memory that is imported and was not exported here (what others do with it is not seen)";
constexpr const char* kUntold =
    "memory that is imported, whose file does not tell what it is (it is taken to be apart, and "
    "what others do with it is not seen)";

TEST(ConvertImports, OfAFileThatWasExportedAreThatMemory) {
  SyntheticLog log = log_of_an_export(5);
  import_file(log, 2, 5);
  const ConvertedLog result = filled(log, 1, 2);
  EXPECT_THAT(findings_of(result.text), SizeIs(1));
  EXPECT_THAT(result.summary.remarks, ElementsAre(Pair(kExported, 1)));
}

TEST(ConvertImports, OfAnotherFileAreApartAndCounted) {
  struct Files {
    uint64_t exported;
    uint64_t imported;
  };
  for (const Files files : {Files{5, 6}, Files{5, 0}, Files{0, 0}}) {
    SyntheticLog log = log_of_an_export(files.exported);
    import_file(log, 2, files.imported);
    const ConvertedLog result = filled(log, 1, 2);
    EXPECT_THAT(findings_of(result.text), IsEmpty());
    EXPECT_THAT(
        result.summary.remarks,
        ElementsAre(Pair(kExported, 1), Pair(files.imported == 0 ? kUntold : kImported, 1)));
  }
}

// Others made it: two imports of it are the same bytes, wherever it comes from.
TEST(ConvertImports, OfAFileOfOthersAreOneMemory) {
  struct Files {
    uint64_t first;
    uint64_t second;
    size_t finding_count;
  };
  for (const Files files : {Files{5, 5, 1}, Files{5, 6, 0}, Files{0, 0, 0}}) {
    SyntheticLog log = log_of_a_queue();
    import_file(log, 1, files.first);
    import_file(log, 2, files.second);
    const ConvertedLog result = filled(log, 1, 2);
    EXPECT_THAT(findings_of(result.text), SizeIs(files.finding_count));
    EXPECT_THAT(result.summary.remarks,
                ElementsAre(Pair(files.first == 0 ? kUntold : kImported, 2)));
    EXPECT_THAT(result.summary.not_understood, IsEmpty());
  }
}

// The first one may take less of the file than the second one.
TEST(ConvertImports, OfAFileOfOthersAreAsLongAsTheLongest) {
  for (const bool is_used : {false, true}) {
    SyntheticLog log = log_of_a_queue();
    import_file(log, 1, 5);
    if (is_used) {
      log.append(BeginCommandsRecord{kCommands, 0});
      log.add_fill(kCommands, 1);
      log.submit(kQueue, kCommands);
    }
    import_file(log, 2, 5, 8192);
    log.append(BeginCommandsRecord{kCommands + 1, 0});
    log.add_fill(kCommands + 1, 1, 0, 64);
    log.add_fill(kCommands + 1, 2, 4096, 64);
    log.add_fill(kCommands + 1, 2, 0, 64);
    log.submit(kQueue, kCommands + 1);
    const ConvertedLog result = converted(log.bytes());
    EXPECT_EQ(result.error, "");
    EXPECT_EQ(result.text.find("m1[4096:4160]") == std::string::npos, is_used);
    EXPECT_THAT(findings_of(result.text), SizeIs(is_used ? 2 : 1));
    // Once the program has its length, it is too late: that is not understood.
    EXPECT_THAT(result.summary.not_understood, SizeIs(is_used ? 1 : 0));
  }
}

// A file may be longer than the first one that names it.
TEST(ConvertImports, OfAFileReachToItsEnd) {
  for (const bool is_export : {false, true}) {
    SyntheticLog log = log_of_a_queue();
    for (const uint64_t handle : {1, 2}) {
      const uint64_t size_bytes = 4096 * handle;
      log.append(AllocateMemoryRecord{handle, size_bytes, 0});
      ShareMemoryRecord record = shared(handle, handle == 2 || !is_export, 5);
      record.file_bytes = 8192;
      log.append(record);
      log.append(CreateBufferRecord{handle, size_bytes, 0, 0});
      log.append(BindBufferRecord{handle, handle, 0});
      log.append(BeginCommandsRecord{kCommands, 0});
      log.add_fill(kCommands, handle, size_bytes - 4096, 4096);
      log.submit(kQueue, kCommands);
    }
    const ConvertedLog result = converted(log.bytes());
    EXPECT_EQ(result.error, "");
    EXPECT_THAT(result.text, HasSubstr("writes m1[4096:8192]"));
    EXPECT_THAT(result.summary.not_understood, IsEmpty());
  }
}

// As no driver would: each of the two is exported, and imported as the other one.
TEST(ConvertImports, OfTwoFilesCrosswiseAreOneMemory) {
  SyntheticLog log = log_of_a_queue();
  for (const uint64_t handle : {1, 2}) {
    log.append(AllocateMemoryRecord{handle, 4096, 0});
    log.append(shared(handle, false, 4 + handle));
  }
  log.append(shared(1, true, 6));
  log.append(shared(2, true, 5));
  for (const uint64_t handle : {1, 2}) {
    log.append(CreateBufferRecord{handle, 4096, 0, 0});
    log.append(BindBufferRecord{handle, handle, 0});
  }
  // Either file is that memory still.
  import_file(log, 3, 5);
  const ConvertedLog result = filled(log, 1, 3);
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(findings_of(result.text), SizeIs(1));
  for (const uint64_t handle : {1, 2, 3}) {
    log.append(DestroyRecord{VK_OBJECT_TYPE_DEVICE_MEMORY, handle});
  }
  // And none, once all of it is freed.
  import_file(log, 4, 5);
  EXPECT_EQ(converted(log.bytes()).summary.remarks.at(kImported), 1u);
}

// Once all of it is freed, another file may have the number.
TEST(ConvertImports, OfAFileLastAsLongAsOneOfThem) {
  for (const bool is_second_freed : {false, true}) {
    SyntheticLog log = log_of_an_export(5);
    import_file(log, 2, 5);
    log.append(DestroyRecord{VK_OBJECT_TYPE_DEVICE_MEMORY, 1});
    if (is_second_freed) log.append(DestroyRecord{VK_OBJECT_TYPE_DEVICE_MEMORY, 2});
    import_file(log, 3, 5);
    EXPECT_THAT(findings_of(filled(log, 2, 3).text), SizeIs(is_second_freed ? 0 : 1));
  }
}

TEST(ConvertImports, OfAFileReachNoFurtherThanIt) {
  SyntheticLog log = log_of_an_export(5);
  import_file(log, 2, 5, 8192);
  const ConvertedLog result = filled(log, 1, 2);
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(findings_of(result.text), SizeIs(1));
}

TEST(ConvertImports, TakeWhatAHostileLogSays) {
  SyntheticLog log = log_of_a_queue();
  log.append(ImportMemoryRecord{7, kPointer});
  log.append(shared(7, true, 5));
  import(log, 1, UINT64_MAX - 8, 4096);
  log.append(ImportMemoryRecord{1, kPointer});
  import(log, 2, UINT64_MAX - 4, 2);
  log.append(BindBufferRecord{2, 2, UINT64_MAX});
  log.append(AllocateMemoryRecord{1, 4096, 0});
  log.append(AllocateMemoryRecord{2, 4096, 0});
  // Exported and imported as itself, and again as a part of another.
  for (const bool is_import : {false, true, true, false}) {
    for (const uint64_t memory : {1, 2}) log.append(shared(memory, is_import, 5));
  }
  EXPECT_EQ(filled(log, 1, 2).error, "");
}

}  // namespace
}  // namespace interlock::convert_imports_test
