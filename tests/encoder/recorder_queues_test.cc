// Queues, semaphores, events, edges, tensors and the host: what is recorded is the text that one
// writes by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "encoder/recorder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "tests/encoder/recording.h"

namespace interlock::recorder_queues_test {
namespace {

using testing::SizeIs;
using Calls = std::function<void(interlock_recorder*)>;

// Expects the text, and that it parses and is canonical but for its declarations.
void expect_recorded(const Calls& calls, const std::string& text) {
  const Recording recording = recording_of(calls);
  EXPECT_EQ(recording.status, INTERLOCK_OK) << recording.error;
  EXPECT_EQ(recording.text, text);
  ParseOptions options;
  options.reads_every_queue = true;
  const Result<Program> program = parse("interlock 1\n" + recording.text, "step.ilk", options);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(print(*program), "interlock 1\n" + text);
}

interlock_semaphore_use use_of(interlock_semaphore semaphore, uint64_t value,
                               const char* stages = nullptr) {
  return {semaphore, value, stages};
}

void record_write(interlock_recorder* r, interlock_queue queue, interlock_memory memory) {
  interlock_recorder_dispatch(r, "Work", nullptr);
  interlock_recorder_access(r, INTERLOCK_WRITE, memory, 0, 64);
  interlock_recorder_on(r, queue);
  interlock_recorder_end(r);
}

TEST(RecorderQueues, AreOfEveryKind) {
  expect_recorded(
      [](interlock_recorder* r) {
        const interlock_memory a = interlock_recorder_memory(r, "a", 0, 64, 0);
        const interlock_queue_kind kinds[] = {INTERLOCK_CONCURRENT, INTERLOCK_SERIAL,
                                              INTERLOCK_SERIAL_BLOCKING, INTERLOCK_LEGACY_DEFAULT,
                                              INTERLOCK_GRAPH};
        std::vector<interlock_queue> queues = {0};
        for (const interlock_queue_kind kind : kinds) {
          queues.push_back(interlock_recorder_queue(r, "stream", kind));
        }
        for (const interlock_queue queue : queues) record_write(r, queue, a);
      },
      "memory a 64\n"
      "stream: queue concurrent\nstream.3: queue serial\nstream.4: queue serial blocking\n"
      "stream.5: queue legacy-default\nstream.6: queue graph\n"
      "dispatch Work writes a\ndispatch Work writes a on stream\n"
      "dispatch Work writes a on stream.3\ndispatch Work writes a on stream.4\n"
      "dispatch Work writes a on stream.5\ndispatch Work writes a on stream.6\n");
}

TEST(RecorderQueues, AreNeverTakenForTheDefaultOne) {
  const Recording recording = recording_of([](interlock_recorder* r) {
    interlock_recorder_split(r, interlock_recorder_queue(r, "q0", INTERLOCK_SERIAL));
    interlock_recorder_split(r, interlock_recorder_queue(r, nullptr, INTERLOCK_SERIAL));
  });
  EXPECT_EQ(recording.text,
            "q0.1: queue serial\nsplit on q0.1\nqueue: queue serial\nsplit on queue\n");
}

TEST(RecorderQueues, TakeSemaphoresInBatchesAndByStages) {
  expect_recorded(
      [](interlock_recorder* r) {
        const interlock_queue q = interlock_recorder_queue(r, "q", INTERLOCK_CONCURRENT);
        const interlock_semaphore done = interlock_recorder_semaphore(r, "done", 0);
        const interlock_semaphore late = interlock_recorder_semaphore(r, "late", 7);
        const interlock_semaphore ready =
            interlock_recorder_semaphore(r, "ready", INTERLOCK_BINARY);
        const interlock_semaphore_use batch[] = {use_of(done, 1, "copy"),
                                                 use_of(ready, 0, "compute|indirect"),
                                                 use_of(late, UINT64_MAX)};
        interlock_recorder_signal(r, q, batch, 3);
        const interlock_semaphore_use next = use_of(done, 2);
        interlock_recorder_signal(r, 0, &next, 1);
        interlock_recorder_submit(r, 0);
        interlock_recorder_wait(r, 0, &batch[0]);
        interlock_recorder_wait(r, q, &batch[1]);
        interlock_recorder_wait(r, INTERLOCK_HOST, &next);
        const interlock_semaphore_use by_host = use_of(done, 3);
        interlock_recorder_signal(r, INTERLOCK_HOST, &by_host, 1);
        interlock_recorder_wait(r, q, &by_host);
        interlock_recorder_host_idle(r, q);
        interlock_recorder_host_idle(r, 0);
        interlock_recorder_host_idle(r, INTERLOCK_HOST);
      },
      "q: queue concurrent\n"
      "done: semaphore = 0\nlate: semaphore = 7\nready: semaphore binary\n"
      "signal done=1 after copy, ready after compute|indirect, late=18446744073709551615 on q\n"
      "signal done=2\n"
      "submit\n"
      "wait done=1 before copy\n"
      "wait ready before compute|indirect on q\n"
      "host waits done=2\n"
      "host signals done=3\n"
      "wait done=3 on q\n"
      "host idle on q\nhost idle on q0\nhost idle\n");
}

TEST(RecorderQueues, TakeBarriersAndTheirHalves) {
  expect_recorded(
      [](interlock_recorder* r) {
        const interlock_memory a = interlock_recorder_memory(r, "a", 0, 64, 0);
        const interlock_queue q = interlock_recorder_queue(r, "q", INTERLOCK_CONCURRENT);
        const interlock_event copied = interlock_recorder_event(r, "copied");
        interlock_recorder_dispatch(r, "Work", "after_all");
        interlock_recorder_on(r, q);
        interlock_recorder_access(r, INTERLOCK_READ, a, 0, 64);
        interlock_recorder_barrier_on(r, q, "copy.write -> compute.read a[0:16]");
        interlock_recorder_set(r, q, copied, "execution");
        interlock_recorder_end(r);
        interlock_recorder_await(r, q, copied);
        interlock_recorder_set(r, 0, copied, nullptr);
        interlock_recorder_await(r, 0, copied);
        interlock_recorder_split(r, q);
      },
      "memory a 64\n"
      "q: queue concurrent\n"
      "barrier copy.write -> compute.read a[0:16] on q\n"
      "set copied execution on q\n"
      "after_all: dispatch Work reads a on q\n"
      "await copied on q\n"
      "set copied\n"
      "await copied\n"
      "split on q\n");
}

TEST(RecorderQueues, TakeEdgesOfAGraph) {
  expect_recorded(
      [](interlock_recorder* r) {
        const interlock_memory a = interlock_recorder_memory(r, "a", 0, 64, 0);
        const interlock_queue g = interlock_recorder_queue(r, "g", INTERLOCK_GRAPH);
        std::vector<interlock_dispatch> nodes;
        for (int i = 0; i < 4; ++i) {
          nodes.push_back(interlock_recorder_dispatch(r, "Work", nullptr));
          interlock_recorder_access(r, INTERLOCK_READ, a, 0, 64);
          if (i == 1) interlock_recorder_after(r, nodes[0]);
          if (i == 2) interlock_recorder_after(r, nodes[0]);
          if (i == 2) interlock_recorder_programmatic(r);
          for (int k = 0; i == 3 && k < 3; ++k) interlock_recorder_after(r, nodes[2 - k % 2]);
          interlock_recorder_on(r, g);
          interlock_recorder_end(r);
        }
      },
      "memory a 64\n"
      "g: queue graph\n"
      "dispatch Work reads a on g\n"
      "dispatch Work reads a after 0 on g\n"
      "dispatch Work reads a after 0 programmatic on g\n"
      "dispatch Work reads a after 2 1 on g\n");
}

TEST(RecorderQueues, TakeIndirectArgumentsAndRows) {
  expect_recorded(
      [](interlock_recorder* r) {
        const interlock_memory a = interlock_recorder_memory(r, "a", 4096, 4096, 0);
        interlock_recorder_dispatch(r, "Draw", nullptr);
        interlock_recorder_access(r, INTERLOCK_READ, a, 64, 3136);
        interlock_recorder_rows(r, 13, 256, 64);
        interlock_recorder_access_at(r, INTERLOCK_WRITE, 4096, 0, 4096);
        interlock_recorder_rows(r, 16, 256, 16);
        interlock_recorder_access(r, INTERLOCK_INDIRECT, a, 0, 12);
        interlock_recorder_end(r);
      },
      "memory a 4096\n"
      "dispatch Draw indirect a[0:12] reads a[64:3200 rows 13 pitch 256 width 64] "
      "writes a[0:4096 rows 16 pitch 256 width 16]\n");
}

TEST(RecorderHost, ReadsWritesFlushesAndInvalidates) {
  expect_recorded(
      [](interlock_recorder* r) {
        const interlock_memory a = interlock_recorder_memory(r, "a", 0, 64, INTERLOCK_UNIFIED);
        const interlock_memory b =
            interlock_recorder_memory(r, "b", 8192, 512, INTERLOCK_SCRATCH | 64u);
        interlock_recorder_host(r, INTERLOCK_HOST_WRITES, a, 0, 64);
        uint64_t offset = 0;
        EXPECT_EQ(interlock_recorder_find(r, 8192 + 64, &offset), b);
        interlock_recorder_host(r, INTERLOCK_HOST_WRITES, b, offset, 64);
        interlock_recorder_host(r, INTERLOCK_HOST_FLUSHES, b, 0, 512);
        interlock_recorder_host(r, INTERLOCK_HOST_INVALIDATES, b, 0, 128);
        interlock_recorder_host(r, INTERLOCK_HOST_READS, a, 16, 4);
      },
      "memory a 64 unified\n"
      "memory b 512 scratch noncoherent=64\n"
      "host writes a\n"
      "host writes b[64:128]\n"
      "host flushes b\n"
      "host invalidates b[0:128]\n"
      "host reads a[16:20]\n");
}

TEST(RecorderTensors, EndInTheOrderOfAQueueOrOfTheHost) {
  expect_recorded(
      [](interlock_recorder* r) {
        const interlock_memory pool = interlock_recorder_memory(r, "pool", 0, 256, 0);
        const interlock_memory a =
            interlock_recorder_tensor(r, "x", pool, 0, 64, INTERLOCK_HOLDS_VALUE);
        const interlock_memory b = interlock_recorder_tensor(r, "x", pool, 64, 64, 0);
        const interlock_queue q = interlock_recorder_queue(r, "q", INTERLOCK_SERIAL);
        interlock_recorder_output(r, b, 0, 64);
        interlock_recorder_dispatch(r, "Work", nullptr);
        interlock_recorder_access(r, INTERLOCK_READ, a, 16, 16);
        interlock_recorder_access(r, INTERLOCK_WRITE, b, 0, 64);
        interlock_recorder_end(r);
        interlock_recorder_end_tensor(r, INTERLOCK_FREE, a, q);
        interlock_recorder_end_tensor(r, INTERLOCK_FREE, b, 0);
        interlock_recorder_end_tensor(r, INTERLOCK_DESTROY, a, INTERLOCK_HOST);
      },
      "memory pool 256\n"
      "tensor x u8[64] at pool+0 = zeros\n"
      "tensor x.3 u8[64] at pool+64\n"
      "q: queue serial\n"
      "output x.3\n"
      "dispatch Work reads x[16:32] writes x.3\n"
      "free x on q\n"
      "free x.3 on q0\n"
      "destroy x\n");
}

// Threads that encode side by side take turns: the lock is theirs, and a dispatch is one turn.
TEST(RecorderQueues, AreFedByThreadsThatTakeTurns) {
  constexpr int kThreadCount = 3;
  constexpr int kDispatchCount = 500;
  const Recording recording = recording_of([](interlock_recorder* r) {
    const interlock_memory a = interlock_recorder_memory(r, "a", 0, 64, 0);
    std::mutex turn;
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreadCount; ++i) {
      const interlock_queue queue = [r, &turn] {
        const std::lock_guard lock(turn);  // The threads before it encode already.
        return interlock_recorder_queue(r, "stream", INTERLOCK_SERIAL);
      }();
      threads.emplace_back([r, a, queue, &turn] {
        for (int k = 0; k < kDispatchCount; ++k) {
          const std::lock_guard lock(turn);
          record_write(r, queue, a);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  ParseOptions options;
  options.reads_every_queue = true;
  const Result<Program> program = parse("interlock 1\n" + recording.text, "step.ilk", options);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_THAT(program->dispatches, SizeIs(kThreadCount * kDispatchCount));
}

TEST(RecorderQueues, StagesBoundsAndWaitsFromOutsideAreRecorded) {
  expect_recorded(
      [](interlock_recorder* r) {
        const interlock_memory a = interlock_recorder_memory(r, "a", 0, 64, 0);
        const interlock_semaphore s = interlock_recorder_semaphore(r, "s", 0);
        const interlock_semaphore_use use = use_of(s, 3, INTERLOCK_FROM_OUTSIDE);
        interlock_recorder_wait(r, 0, &use);
        interlock_recorder_wait(r, INTERLOCK_HOST, &use);
        for (const interlock_stage stage :
             {INTERLOCK_IN_COMPUTE, INTERLOCK_IN_COPY, INTERLOCK_IN_GRAPHICS}) {
          interlock_recorder_dispatch(r, "Work", nullptr);
          interlock_recorder_access(r, INTERLOCK_WRITE, a, 0, 64);
          interlock_recorder_in(r, stage);
          interlock_recorder_order(r, stage);
          interlock_recorder_partial(r);
          interlock_recorder_approximate(r);
          interlock_recorder_end(r);
        }
      },
      "memory a 64\n"
      "s: semaphore = 0\n"
      "wait s=3 from outside\n"
      "host waits s=3 from outside\n"
      "dispatch Work order=0 writes a partial approximate\n"
      "dispatch Work in copy order=1 writes a partial approximate\n"
      "dispatch Work in graphics order=2 writes a partial approximate\n");
}

// What has no call of its own is said in the words of the format.
TEST(RecorderQueues, StatementsAreRecordedAsTheyAre) {
  expect_recorded(
      [](interlock_recorder* r) {
        const interlock_memory a = interlock_recorder_memory(r, "a b", 0, 1024, 0);
        const interlock_queue queue = interlock_recorder_queue(r, "copies", INTERLOCK_CONCURRENT);
        const std::string memory = interlock_recorder_name(r, a);
        interlock_recorder_statement(r, ("host writes " + memory + "[0:16] = zeros").c_str());
        interlock_recorder_statement(
            r, ("rows: host reads " + memory + "[0:576 rows 3 pitch 256 width 64] approximate")
                   .c_str());
        interlock_recorder_statement(
            r, (std::string("submit on ") + interlock_recorder_name(r, queue)).c_str());
      },
      "memory a_b 1024\n"
      "copies: queue concurrent\n"
      "host writes a_b[0:16] = zeros\n"
      "rows: host reads a_b[0:576 rows 3 pitch 256 width 64] approximate\n"
      "submit on copies\n");
}

}  // namespace
}  // namespace interlock::recorder_queues_test
