// What a recorder refuses, each beside what it takes: the first error sticks, is said in a
// sentence, and leaves a file that no check takes for the whole program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <string>

#include "encoder/recorder.h"
#include "encoder/text/parser.h"
#include "tests/encoder/recording.h"

namespace interlock::recorder_errors_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

// A recording with memory "a" of 64 bytes and an open dispatch "K".
Recording in_a_dispatch(const std::function<void(interlock_recorder*, interlock_memory)>& calls) {
  return recording_of([&calls](interlock_recorder* r) {
    const interlock_memory a = interlock_recorder_memory(r, "a", 0, 64, 0);
    interlock_recorder_dispatch(r, "K", nullptr);
    calls(r, a);
    interlock_recorder_end(r);
  });
}

TEST(RecorderErrors, StickAndStopTheFile) {
  const Recording recording = in_a_dispatch([](interlock_recorder* r, interlock_memory a) {
    interlock_recorder_end(r);
    interlock_recorder_dispatch(r, "k", nullptr);
    interlock_recorder_access(r, INTERLOCK_READ, a, 32, 33);
    interlock_recorder_access(r, INTERLOCK_READ, 77, 0, 1);
    interlock_recorder_barrier(r, nullptr);
    EXPECT_EQ(interlock_recorder_memory(r, "b", 0, 64, 0), 0u);
    EXPECT_EQ(interlock_recorder_flush(r), INTERLOCK_BAD_RANGE);
  });
  const std::string sentence =
      "In dispatch 1 (K), 33 bytes at offset 32 end past the end of memory 'a' (64 bytes).";
  EXPECT_EQ(recording.status, INTERLOCK_BAD_RANGE);
  EXPECT_EQ(recording.error, sentence);
  EXPECT_EQ(recording.text, "memory a 64\ndispatch K\nrecording stopped: " + sentence + "\n");
  const Result<Program> program = parse("interlock 1\n" + recording.text, "step.ilk");
  ASSERT_FALSE(program);
  EXPECT_THAT(program.error().message, StartsWith("step.ilk:4:1: error: found 'recording'"));
}

TEST(RecorderErrors, RangesEndWithinTheirMemory) {
  const auto status_of = [](uint64_t offset, uint64_t size) {
    return in_a_dispatch([&](interlock_recorder* r, interlock_memory a) {
             interlock_recorder_access(r, INTERLOCK_READ, a, offset, size);
           })
        .status;
  };
  EXPECT_EQ(status_of(0, 64), INTERLOCK_OK);
  EXPECT_EQ(status_of(64, 0), INTERLOCK_OK);
  EXPECT_EQ(status_of(0, 65), INTERLOCK_BAD_RANGE);
  EXPECT_EQ(status_of(65, 0), INTERLOCK_BAD_RANGE);
  EXPECT_EQ(status_of(1, UINT64_MAX), INTERLOCK_BAD_RANGE);
  EXPECT_EQ(status_of(UINT64_MAX, 2), INTERLOCK_BAD_RANGE);
}

TEST(RecorderErrors, MemoriesAreKnownAndNotFreed) {
  const Recording unknown = in_a_dispatch([](interlock_recorder* r, interlock_memory) {
    interlock_recorder_access(r, INTERLOCK_READ, 0, 0, 1);
  });
  EXPECT_EQ(unknown.status, INTERLOCK_BAD_MEMORY);
  EXPECT_EQ(unknown.error, "In dispatch 0 (K), memory 0 is unknown or freed.");

  const Recording freed = recording_of([](interlock_recorder* r) {
    const interlock_memory old = interlock_recorder_memory(r, "old", 0, 64, 0);
    interlock_recorder_free(r, old);
    const interlock_memory young = interlock_recorder_memory(r, "young", 0, 64, 0);
    EXPECT_STREQ(interlock_recorder_name(r, old), "");
    EXPECT_STREQ(interlock_recorder_name(r, young), "young");
    interlock_recorder_dispatch(r, "K", nullptr);
    interlock_recorder_access(r, INTERLOCK_READ, young, 0, 64);
    interlock_recorder_end(r);
    interlock_recorder_output(r, old, 0, 64);
  });
  EXPECT_EQ(freed.status, INTERLOCK_BAD_MEMORY);
  EXPECT_THAT(freed.error, EndsWith("is unknown or freed."));
  EXPECT_THAT(freed.error, StartsWith("Memory "));
}

TEST(RecorderErrors, MemoriesHaveOneByteToTwoToThe48) {
  const auto status_of = [](uint64_t size) {
    return recording_of(
               [size](interlock_recorder* r) { interlock_recorder_memory(r, "a", 0, size, 0); })
        .status;
  };
  EXPECT_EQ(status_of(0), INTERLOCK_BAD_MEMORY);
  EXPECT_EQ(status_of(1), INTERLOCK_OK);
  EXPECT_EQ(status_of(1ull << 48), INTERLOCK_OK);
  EXPECT_EQ(status_of((1ull << 48) + 1), INTERLOCK_BAD_MEMORY);
}

TEST(RecorderErrors, DispatchesHave256AccessesAtMost) {
  const auto status_of = [](int count) {
    return in_a_dispatch([count](interlock_recorder* r, interlock_memory a) {
             for (int i = 0; i < count; ++i) interlock_recorder_access(r, INTERLOCK_READ, a, 0, 1);
           })
        .status;
  };
  EXPECT_EQ(status_of(256), INTERLOCK_OK);
  EXPECT_EQ(status_of(257), INTERLOCK_TOO_MANY_ACCESSES);
}

TEST(RecorderErrors, ADispatchHasOneAtomicOperation) {
  const auto status_of = [](interlock_access_kind first, interlock_access_kind second) {
    return in_a_dispatch([=](interlock_recorder* r, interlock_memory a) {
             interlock_recorder_access(r, first, a, 0, 4);
             interlock_recorder_access(r, second, a, 4, 4);
           })
        .status;
  };
  EXPECT_EQ(status_of(INTERLOCK_ATOMIC_ADD, INTERLOCK_ATOMIC_ADD), INTERLOCK_OK);
  EXPECT_EQ(status_of(INTERLOCK_ATOMIC_ADD, INTERLOCK_READ), INTERLOCK_OK);
  EXPECT_EQ(status_of(INTERLOCK_ATOMIC_ADD, INTERLOCK_ATOMIC_XOR), INTERLOCK_BAD_ACCESS);
  EXPECT_EQ(status_of(INTERLOCK_READ, static_cast<interlock_access_kind>(11)),
            INTERLOCK_BAD_ACCESS);
}

TEST(RecorderErrors, CallsStandWhereTheyBelong) {
  const auto status_of = [](const std::function<void(interlock_recorder*, interlock_memory)>& calls,
                            const char* sentence) {
    const Recording recording = recording_of(
        [&calls](interlock_recorder* r) { calls(r, interlock_recorder_memory(r, "a", 0, 64, 0)); });
    EXPECT_EQ(recording.error, sentence);
    return recording.status;
  };
  using R = interlock_recorder*;
  using M = interlock_memory;
  EXPECT_EQ(status_of([](R r, M a) { interlock_recorder_access(r, INTERLOCK_READ, a, 0, 4); },
                      "An access stands outside a dispatch."),
            INTERLOCK_BAD_SEQUENCE);
  EXPECT_EQ(
      status_of([](R r, M) { interlock_recorder_end(r); }, "An end stands outside a dispatch."),
      INTERLOCK_BAD_SEQUENCE);
  EXPECT_EQ(status_of([](R r, M) { interlock_recorder_order(r, 1); },
                      "An order stands outside a dispatch."),
            INTERLOCK_BAD_SEQUENCE);
  EXPECT_EQ(status_of([](R r, M) { interlock_recorder_partial(r); },
                      "'partial' stands outside a dispatch."),
            INTERLOCK_BAD_SEQUENCE);
  EXPECT_EQ(status_of(
                [](R r, M) {
                  interlock_recorder_dispatch(r, "K", nullptr);
                  interlock_recorder_dispatch(r, "L", nullptr);
                },
                "In dispatch 0 (K), another dispatch begins before this one ends."),
            INTERLOCK_BAD_SEQUENCE);
  EXPECT_EQ(status_of(
                [](R r, M a) {
                  interlock_recorder_dispatch(r, "K", nullptr);
                  interlock_recorder_free(r, a);
                },
                "In dispatch 0 (K), a memory is freed before the dispatch ends."),
            INTERLOCK_BAD_SEQUENCE);
  // Noticed by close(), so there is no sentence before it.
  EXPECT_EQ(status_of([](R r, M) { interlock_recorder_dispatch(r, "K", nullptr); }, ""),
            INTERLOCK_BAD_SEQUENCE);
}

TEST(RecorderErrors, OrderStandsOnAllDispatchesOrOnNone) {
  for (const bool is_first : {true, false}) {
    const Recording recording = recording_of([is_first](interlock_recorder* r) {
      for (const bool has_order : {is_first, !is_first}) {
        interlock_recorder_dispatch(r, "K", nullptr);
        if (has_order) interlock_recorder_order(r, 0);
        interlock_recorder_end(r);
      }
    });
    EXPECT_EQ(recording.status, INTERLOCK_BAD_SEQUENCE);
    EXPECT_EQ(recording.error, "In dispatch 1 (K), order stands on some dispatches only.");
  }
}

TEST(RecorderErrors, ScopesAreALineOfText) {
  const auto status_of = [](const std::string& scope) {
    return recording_of(
               [&scope](interlock_recorder* r) { interlock_recorder_barrier(r, scope.c_str()); })
        .status;
  };
  EXPECT_EQ(status_of("compute.write -> compute.read"), INTERLOCK_OK);
  EXPECT_EQ(status_of(""), INTERLOCK_OK);
  EXPECT_EQ(status_of(std::string(4096, ' ')), INTERLOCK_OK);
  EXPECT_EQ(status_of(std::string(4097, ' ')), INTERLOCK_BAD_BARRIER);
  EXPECT_EQ(status_of("execution\ndispatch K"), INTERLOCK_BAD_BARRIER);
  EXPECT_EQ(status_of("execution # and so on"), INTERLOCK_BAD_BARRIER);
  EXPECT_EQ(status_of("comp\xc3\xbcte"), INTERLOCK_BAD_BARRIER);
}

TEST(RecorderErrors, AFileThatCannotBeCreatedIsSaid) {
  interlock_recorder* const r = interlock_recorder_open("/nowhere/step.ilk");
  ASSERT_NE(r, nullptr);
  EXPECT_STREQ(interlock_recorder_error(r),
               "'/nowhere/step.ilk' cannot be created: No such file or directory.");
  EXPECT_EQ(interlock_recorder_memory(r, "a", 0, 64, 0), 0u);
  interlock_recorder_barrier(r, nullptr);
  EXPECT_EQ(interlock_recorder_close(r), INTERLOCK_OPEN_FAILED);
  EXPECT_EQ(interlock_recorder_close(interlock_recorder_open(nullptr)), INTERLOCK_OPEN_FAILED);
  EXPECT_EQ(interlock_recorder_close(interlock_recorder_open_file(nullptr)), INTERLOCK_OPEN_FAILED);
}

// /dev/full refuses every byte, as a full disk does.
TEST(RecorderErrors, AFullDiskIsNoticedAtTheLatestByClose) {
  interlock_recorder* r = interlock_recorder_open("/dev/full");
  ASSERT_EQ(interlock_recorder_status(r), INTERLOCK_OK);
  EXPECT_EQ(interlock_recorder_close(r), INTERLOCK_WRITE_FAILED);

  r = interlock_recorder_open("/dev/full");
  EXPECT_EQ(interlock_recorder_flush(r), INTERLOCK_WRITE_FAILED);
  EXPECT_STREQ(interlock_recorder_error(r),
               "The recording cannot be written: No space left on device.");
  EXPECT_EQ(interlock_recorder_close(r), INTERLOCK_WRITE_FAILED);

  std::FILE* const buffered = std::fopen("/dev/full", "wb");
  EXPECT_EQ(interlock_recorder_close(interlock_recorder_open_file(buffered)),
            INTERLOCK_WRITE_FAILED);
  std::fclose(buffered);
}

TEST(RecorderErrors, AFullDiskIsNoticedWhileRecording) {
  interlock_recorder* const r = interlock_recorder_open("/dev/full");
  int barrier_count = 0;
  for (; interlock_recorder_status(r) == INTERLOCK_OK && barrier_count < 100'000; ++barrier_count) {
    interlock_recorder_barrier(r, nullptr);
  }
  EXPECT_LT(barrier_count, 100'000);
  interlock_recorder_barrier(r, "not\na line");
  EXPECT_EQ(interlock_recorder_close(r), INTERLOCK_WRITE_FAILED);
}

TEST(RecorderErrors, ANullRecorderRecordsNothing) {
  EXPECT_EQ(interlock_recorder_memory(nullptr, "a", 0, 64, 0), 0u);
  interlock_recorder_dispatch(nullptr, "K", nullptr);
  interlock_recorder_access(nullptr, INTERLOCK_READ, 0, 0, 64);
  interlock_recorder_access_at(nullptr, INTERLOCK_READ, 4096, 0, 64);
  interlock_recorder_order(nullptr, 1);
  interlock_recorder_partial(nullptr);
  interlock_recorder_end(nullptr);
  interlock_recorder_barrier(nullptr, nullptr);
  interlock_recorder_output(nullptr, 0, 0, 64);
  interlock_recorder_free(nullptr, 0);
  EXPECT_EQ(interlock_recorder_find(nullptr, 4096, nullptr), 0u);
  EXPECT_STREQ(interlock_recorder_name(nullptr, 0), "");
  EXPECT_EQ(interlock_recorder_flush(nullptr), INTERLOCK_NOT_RECORDING);
  EXPECT_EQ(interlock_recorder_status(nullptr), INTERLOCK_NOT_RECORDING);
  EXPECT_THAT(interlock_recorder_error(nullptr), HasSubstr("no recorder"));
  EXPECT_EQ(interlock_recorder_close(nullptr), INTERLOCK_NOT_RECORDING);
}

}  // namespace
}  // namespace interlock::recorder_errors_test
