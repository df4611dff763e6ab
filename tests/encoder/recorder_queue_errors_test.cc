// Bad use of queues, semaphores, events, edges, rows and tensors is told, as that of memories is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "encoder/recorder.h"
#include "tests/encoder/recording.h"

namespace interlock::recorder_queue_errors_test {
namespace {

using testing::HasSubstr;

interlock_semaphore_use use_of(interlock_semaphore semaphore, uint64_t value,
                               const char* stages = nullptr) {
  return {semaphore, value, stages};
}

struct Things {
  interlock_memory memory;
  interlock_queue queue;
  interlock_semaphore semaphore;
  interlock_event event;
};

void expect_fails(interlock_status status, const std::string& sentence,
                  const std::function<void(interlock_recorder*, const Things&)>& calls) {
  const Recording recording = recording_of([&calls](interlock_recorder* r) {
    Things things;
    things.memory = interlock_recorder_memory(r, "a", 0, 64, 0);
    things.queue = interlock_recorder_queue(r, "g", INTERLOCK_GRAPH);
    things.semaphore = interlock_recorder_semaphore(r, "s", 0);
    things.event = interlock_recorder_event(r, "e");
    calls(r, things);
    interlock_recorder_split(r, 0);
  });
  EXPECT_EQ(recording.status, status) << sentence;
  EXPECT_EQ(recording.error, sentence);
  EXPECT_THAT(recording.text, HasSubstr("recording stopped: " + sentence));
}

using R = interlock_recorder*;

TEST(RecorderQueueErrors, QueuesSemaphoresAndEventsAreKnown) {
  expect_fails(INTERLOCK_BAD_QUEUE, "Queue 0x7 is unknown.",
               [](R r, const Things&) { interlock_recorder_submit(r, 7); });
  expect_fails(INTERLOCK_BAD_QUEUE, "Kind 5 of a queue is unknown.", [](R r, const Things&) {
    interlock_recorder_queue(r, "x", static_cast<interlock_queue_kind>(5));
  });
  expect_fails(INTERLOCK_BAD_QUEUE, "Queue 0xffffffffffffffff is unknown.",
               [](R r, const Things&) { interlock_recorder_split(r, INTERLOCK_HOST); });
  expect_fails(INTERLOCK_BAD_SEMAPHORE, "Semaphore or event 0 is unknown.",
               [](R r, const Things&) { interlock_recorder_await(r, 0, 0); });
  expect_fails(INTERLOCK_BAD_SEMAPHORE, "Semaphore or event 0x400000003 is unknown.",
               [](R r, const Things& t) {
                 const interlock_semaphore_use use = use_of(t.event, 1);
                 interlock_recorder_wait(r, 0, &use);
               });
  expect_fails(INTERLOCK_BAD_MEMORY, "Memory 0x200000001 is unknown or freed.",
               [](R r, const Things& t) {
                 interlock_recorder_host(r, INTERLOCK_HOST_READS, t.queue, 0, 1);
               });
}

TEST(RecorderQueueErrors, BatchesAndStagesAreOfTheFormat) {
  const std::string batch = "A batch is of 1 to 64 semaphores, 1 of the host.";
  const auto signals = [](interlock_queue queue, size_t count) {
    return [queue, count](R r, const Things& t) {
      const std::vector<interlock_semaphore_use> uses(count + 1, use_of(t.semaphore, 1));
      interlock_recorder_signal(r, queue, uses.data(), count);
    };
  };
  expect_fails(INTERLOCK_BAD_SEMAPHORE, batch, signals(0, 0));
  expect_fails(INTERLOCK_BAD_SEMAPHORE, batch, signals(0, 65));
  expect_fails(INTERLOCK_BAD_SEMAPHORE, batch, signals(INTERLOCK_HOST, 2));
  for (const char* const stages : {"copy on g", "Copy", "copy, t"}) {
    expect_fails(
        INTERLOCK_BAD_BARRIER,
        "'" + std::string(stages) + "' are no stages, as 'copy|compute'; the host has none.",
        [stages](R r, const Things& t) {
          const interlock_semaphore_use use = use_of(t.semaphore, 1, stages);
          interlock_recorder_wait(r, 0, &use);
        });
  }
  expect_fails(INTERLOCK_BAD_BARRIER, "'copy' are no stages, as 'copy|compute'; the host has none.",
               [](R r, const Things& t) {
                 const interlock_semaphore_use use = use_of(t.semaphore, 1, "copy");
                 interlock_recorder_wait(r, INTERLOCK_HOST, &use);
               });
}

TEST(RecorderQueueErrors, EdgesComeFromEarlierDispatches) {
  const auto after = [](interlock_dispatch earlier) {
    return [earlier](R r, const Things& t) {
      interlock_recorder_dispatch(r, "K", nullptr);
      interlock_recorder_on(r, t.queue);
      interlock_recorder_after(r, earlier);
    };
  };
  const std::string rest =
      " is no dispatch before it, or one of more than 1024 that it comes after.";
  expect_fails(INTERLOCK_BAD_EDGE, "In dispatch 0 (K), 0" + rest, after(0));
  expect_fails(INTERLOCK_BAD_EDGE, "In dispatch 0 (K), 1" + rest, after(1));
  expect_fails(INTERLOCK_BAD_SEQUENCE, "An edge stands outside a dispatch.",
               [](R r, const Things&) { interlock_recorder_after(r, 1); });
  expect_fails(INTERLOCK_BAD_EDGE, "In dispatch 1025 (K), 1025" + rest, [](R r, const Things& t) {
    for (int i = 0; i < 1026; ++i) {
      interlock_recorder_dispatch(r, "K", nullptr);
      interlock_recorder_on(r, t.queue);
      for (interlock_dispatch k = 1; i == 1025 && k <= 1025; ++k) interlock_recorder_after(r, k);
      interlock_recorder_end(r);
    }
  });
}

TEST(RecorderQueueErrors, RowsAreOfTheLastAccess) {
  const auto rows = [](uint64_t count, uint64_t pitch, uint64_t width, bool has_access = true) {
    return [=](R r, const Things& t) {
      interlock_recorder_dispatch(r, "K", nullptr);
      if (has_access) interlock_recorder_access(r, INTERLOCK_READ, t.memory, 0, 64);
      interlock_recorder_rows(r, count, pitch, width);
    };
  };
  const std::string sentence = "In dispatch 0 (K), rows are none of the last access, or overlap.";
  expect_fails(INTERLOCK_BAD_RANGE, sentence, rows(0, 16, 16));
  expect_fails(INTERLOCK_BAD_RANGE, sentence, rows(4, 16, 0));
  expect_fails(INTERLOCK_BAD_RANGE, sentence, rows(4, 15, 16));
  expect_fails(INTERLOCK_BAD_RANGE, sentence, rows(5, 16, 16));
  expect_fails(INTERLOCK_BAD_RANGE, sentence, rows(UINT64_MAX, UINT64_MAX, 16));
  expect_fails(INTERLOCK_BAD_RANGE, sentence, rows(1, 1, 1, false));
  expect_fails(INTERLOCK_BAD_SEQUENCE, "Rows stand outside a dispatch.",
               [](R r, const Things&) { interlock_recorder_rows(r, 1, 1, 1); });
}

TEST(RecorderQueueErrors, MemoriesAndTensorsAreWhatTheyAreUsedAs) {
  for (const unsigned atom_bytes : {3u, 1u << 21, 64u | INTERLOCK_UNIFIED}) {
    expect_fails(
        INTERLOCK_BAD_MEMORY,
        "Atoms of " + std::to_string(atom_bytes & 0xffffffu) +
            " bytes are no power of two up to 2^20, or of unified memory.",
        [atom_bytes](R r, const Things&) { interlock_recorder_memory(r, "b", 0, 64, atom_bytes); });
  }
  expect_fails(INTERLOCK_BAD_MEMORY, "Memory 'a' is no tensor.", [](R r, const Things& t) {
    interlock_recorder_end_tensor(r, INTERLOCK_FREE, t.memory, INTERLOCK_HOST);
  });
  expect_fails(INTERLOCK_BAD_MEMORY, "A tensor lies on 'x', which is one.",
               [](R r, const Things& t) {
                 const interlock_memory x = interlock_recorder_tensor(r, "x", t.memory, 0, 64, 0);
                 interlock_recorder_tensor(r, "y", x, 0, 64, 0);
               });
  expect_fails(INTERLOCK_BAD_RANGE,
               "65 bytes at offset 0 end past the end of memory 'a' (64 bytes).",
               [](R r, const Things& t) { interlock_recorder_tensor(r, "x", t.memory, 0, 65, 0); });
}

TEST(RecorderQueueErrors, ANullRecorderRecordsNoQueues) {
  const interlock_semaphore_use use = use_of(1, 1);
  EXPECT_EQ(interlock_recorder_queue(nullptr, "q", INTERLOCK_SERIAL), 0u);
  EXPECT_EQ(interlock_recorder_semaphore(nullptr, "s", 0), 0u);
  EXPECT_EQ(interlock_recorder_event(nullptr, "e"), 0u);
  EXPECT_EQ(interlock_recorder_tensor(nullptr, "x", 0, 0, 64, 0), 0u);
  EXPECT_EQ(interlock_recorder_dispatch(nullptr, "K", nullptr), 0u);
  interlock_recorder_rows(nullptr, 1, 1, 1);
  interlock_recorder_on(nullptr, 0);
  interlock_recorder_after(nullptr, 1);
  interlock_recorder_programmatic(nullptr);
  interlock_recorder_barrier_on(nullptr, 0, nullptr);
  interlock_recorder_set(nullptr, 0, 1, nullptr);
  interlock_recorder_await(nullptr, 0, 1);
  interlock_recorder_signal(nullptr, 0, &use, 1);
  interlock_recorder_wait(nullptr, 0, &use);
  interlock_recorder_split(nullptr, 0);
  interlock_recorder_submit(nullptr, 0);
  interlock_recorder_host(nullptr, INTERLOCK_HOST_READS, 0, 0, 1);
  interlock_recorder_host_idle(nullptr, INTERLOCK_HOST);
  interlock_recorder_end_tensor(nullptr, INTERLOCK_FREE, 0, 0);
}

TEST(RecorderQueueErrors, StagesBoundsAndStatementsStandWhereTheyMay) {
  expect_fails(INTERLOCK_BAD_SEQUENCE, "A stage stands outside a dispatch.",
               [](R r, const Things&) { interlock_recorder_in(r, INTERLOCK_IN_COPY); });
  expect_fails(INTERLOCK_BAD_SEQUENCE, "'approximate' stands outside a dispatch.",
               [](R r, const Things&) { interlock_recorder_approximate(r); });
  expect_fails(INTERLOCK_BAD_ACCESS, "In dispatch 0 (K), stage 3 is unknown.",
               [](R r, const Things&) {
                 interlock_recorder_dispatch(r, "K", nullptr);
                 interlock_recorder_in(r, static_cast<interlock_stage>(3));
               });
  expect_fails(INTERLOCK_BAD_BARRIER, "'!' are no stages, as 'copy|compute'; the host has none.",
               [](R r, const Things& t) {
                 const interlock_semaphore_use use = use_of(t.semaphore, 1, INTERLOCK_FROM_OUTSIDE);
                 interlock_recorder_signal(r, 0, &use, 1);
               });
  const auto statement = [](const char* text) {
    return [text](R r, const Things&) { interlock_recorder_statement(r, text); };
  };
  const std::string none = "A statement is empty, a dispatch, or inside one.";
  // Edges count the dispatches that the recorder wrote.
  for (const char* const text : {static_cast<const char*>(nullptr), "", "dispatch K writes a",
                                 "  dispatch K", "x:dispatch K", "x:  dispatch K writes a"}) {
    expect_fails(INTERLOCK_BAD_SEQUENCE, none, statement(text));
  }
  expect_fails(INTERLOCK_BAD_SEQUENCE,
               "In dispatch 0 (K), a statement is empty, a dispatch, or inside one.",
               [](R r, const Things&) {
                 interlock_recorder_dispatch(r, "K", nullptr);
                 interlock_recorder_statement(r, "submit");
               });
  const std::string rest = " of a scope or statement is not printable, or '#', or more than 4096.";
  expect_fails(INTERLOCK_BAD_BARRIER, "Byte 6" + rest, statement("submit\nsubmit"));
  expect_fails(INTERLOCK_BAD_BARRIER, "Byte 7" + rest, statement("submit # all"));
  const std::string text(4097, 'a');
  expect_fails(INTERLOCK_BAD_BARRIER, "Byte 4096" + rest, statement(text.c_str()));
}

}  // namespace
}  // namespace interlock::recorder_queue_errors_test
