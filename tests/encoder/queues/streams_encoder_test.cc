// StreamsEncoder: what it issues, and that it waits for what encode_semaphores() waits for, which
// sees the whole program.
#include "encoder/queues/streams_encoder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/program/draft.h"
#include "encoder/queues/minimal_encoders.h"
#include "encoder/sync/recording_sink.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/testing/programs.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/random_programs.h"

namespace interlock::streams_encoder_test {
namespace {

using testing::HasSubstr;

const std::string kMemories = "memory a 8\nmemory b 8\nmemory c 8\n";

Program parsed(const std::string& body) {
  ParseOptions options;
  options.reads_every_queue = true;
  return value_or_fail(parse("interlock 1\n" + kMemories + body, "test.ilk", options));
}

// Without the memories.
std::string encoded(const std::string& body, uint32_t queue_count = 0) {
  const std::string text = print(value_or_fail(encode_streams(parsed(body), queue_count)));
  const std::string start = "interlock 1\n" + kMemories;
  EXPECT_TRUE(text.starts_with(start));
  return text.substr(start.size());
}

std::string error_of(const std::string& body, uint32_t queue_count = 0) {
  const auto program = encode_streams(parsed(body), queue_count);
  return program ? "no error" : program.error().message;
}

TEST(EncodeStreams, SignalsAfterEachDispatchAndWaitsForTheLast) {
  EXPECT_EQ(encoded(R"(x: queue serial
y: queue serial
z: queue serial
first: dispatch K writes a b on x
dispatch K reads a on x
dispatch K reads a writes c on y
last: dispatch K writes a c on z
)"),
            R"(x: queue serial
y: queue serial
z: queue serial
first: dispatch K writes a b on x
signal s1=1 on x
dispatch K reads a on x
signal s1=2 on x
wait s1=1 on y
dispatch K reads a writes c on y
signal s2=1 on y
wait s1=2 on z
wait s2=1 on z
last: dispatch K writes a c on z
signal s3=1 on z
)");
}

TEST(EncodeStreams, DealsDispatchesToQueuesInTurn) {
  EXPECT_EQ(encoded("dispatch K writes a\ndispatch K writes b\ndispatch K reads a\n", 2),
            R"(q1: queue serial
q2: queue serial
dispatch K writes a on q1
signal s1=1 on q1
dispatch K writes b on q2
signal s2=1 on q2
dispatch K reads a on q1
signal s1=2 on q1
)");
  const std::string six =
      "dispatch K\ndispatch K\ndispatch K\ndispatch K\ndispatch K\ndispatch K\n";
  EXPECT_THAT(encoded(six), HasSubstr("signal s4=1 on q4\ndispatch K on q1"));
}

TEST(EncodeStreams, WantsSerialQueuesOrNone) {
  EXPECT_THAT(error_of("x: queue serial\ndispatch K writes a\n"),
              HasSubstr("queue 'q0' is concurrent"));
  EXPECT_THAT(error_of("x: queue serial\ndispatch K writes a on x\n", 2),
              HasSubstr("--queues asks to choose"));
}

// The others keep a bit for each pair.
TEST(EncodeStreams, TakesMoreDispatchesThanTheEncodersOfWholePrograms) {
  std::string text = "interlock 1\nmemory a 8\n";
  for (int i = 0; i < 70'000; ++i) text += "dispatch K reads a\n";
  const Program program = value_or_fail(parse(text, "test.ilk"));
  EXPECT_FALSE(encode_semaphores(program, 2));
  EXPECT_EQ(value_or_fail(encode_streams(program, 2)).dispatches.size(), 70'000u);
}

TEST(StreamsEncoder, HasEachQueueWaitForAllOthersIfAllMustBeOver) {
  const Program program = parsed("dispatch K writes a\ndispatch K writes a\n");
  StreamsEncoder encoder(3);
  RecordingSink sink;
  const auto encode_on = [&](size_t dispatch, QueueIndex queue) {
    const DispatchId id(dispatch);
    encoder.encode({.id = id, .accesses = program.declared_accesses_of(id), .queue = queue}, sink);
  };
  encode_on(0, 1);
  encoder.wait_for_all(sink);
  encode_on(1, 2);
  std::string issued;
  for (const Command& command : sink.commands()) {
    issued += fmt::format("{}{} ",
                          command.kind == StatementKind::kDispatch ? "dispatch"
                          : command.sync == SyncKind::kSignal      ? "signal"
                                                                   : "wait",
                          command.queue);
  }
  EXPECT_EQ(issued, "dispatch1 signal1 wait0 wait2 dispatch2 signal2 ");
}

// One that takes submissions as they come.
class SubmissionSink final : public CommandSink {
 public:
  void issue_dispatch(DispatchId /*id*/) override { ADD_FAILURE(); }
  void issue_barrier(BarrierKind /*kind*/) override { ADD_FAILURE(); }
  void issue_signal(const SemaphorePoint& /*point*/) override { ADD_FAILURE(); }
  void issue_wait(const SemaphorePoint& /*point*/) override { ADD_FAILURE(); }
  void issue_submission(QueueIndex queue, std::span<const QueuePoint> waits, DispatchId id,
                        uint64_t number) override {
    for (const QueuePoint& wait : waits) {
      said += wait_text(queue, {.semaphore = wait.queue, .value = wait.number});
    }
    said += dispatch_text(queue, id);
    said += signal_text(queue, {.semaphore = queue, .value = number});
  }

  static std::string wait_text(QueueIndex queue, const SemaphorePoint& point) {
    return fmt::format("{} waits {}={}\n", queue, point.semaphore, point.value);
  }
  static std::string dispatch_text(QueueIndex queue, DispatchId id) {
    return fmt::format("{} does {}\n", queue, id.index);
  }
  static std::string signal_text(QueueIndex queue, const SemaphorePoint& point) {
    return fmt::format("{} signals {}={}\n", queue, point.semaphore, point.value);
  }

  std::string said;
};

// The same one by one.
class StepSink final : public CommandSink {
 public:
  void use_queue(QueueIndex queue) override { queue_ = queue; }
  void issue_barrier(BarrierKind /*kind*/) override { ADD_FAILURE(); }
  void issue_wait(const SemaphorePoint& point) override {
    said += SubmissionSink::wait_text(queue_, point);
  }
  void issue_dispatch(DispatchId id) override { said += SubmissionSink::dispatch_text(queue_, id); }
  void issue_signal(const SemaphorePoint& point) override {
    said += SubmissionSink::signal_text(queue_, point);
  }

  std::string said;

 private:
  QueueIndex queue_ = kDefaultQueue;
};

TEST(StreamsEncoder, SaysOneByOneWhatItSubmitsAtOnce) {
  const Program program = parsed(
      "dispatch K writes a\ndispatch K writes b\ndispatch K reads a b writes c\n"
      "dispatch K reads c writes a\ndispatch K writes a b c\n");
  const auto issue = [&](auto sink) {
    StreamsEncoder encoder(3);
    for (size_t i = 0; i < program.dispatches.size(); ++i) {
      const DispatchId id(i);
      encoder.encode({.id = id,
                      .accesses = program.declared_accesses_of(id),
                      .queue = static_cast<QueueIndex>(i % 3)},
                     sink);
    }
    return sink.said;
  };
  const std::string said = issue(SubmissionSink());
  EXPECT_THAT(said, HasSubstr("2 waits 0=1\n2 waits 1=1\n2 does 2\n2 signals 2=1\n"));
  EXPECT_EQ(said, issue(StepSink()));
}

// By dispatch: those that it waits for, rising.
std::vector<std::vector<uint32_t>> waits_in(const Program& program) {
  std::vector<std::vector<uint32_t>> waits(program.dispatches.size());
  std::vector<uint32_t> last(program.queue_count(), 0);  // By queue: its last dispatch.
  std::vector<uint32_t> signaled(program.signal_parts.size(), 0);
  std::vector<std::vector<uint32_t>> waited(program.queue_count());
  for (const Statement& statement : program.statements) {
    if (statement.kind == StatementKind::kDispatch) {
      last[statement.queue] = statement.index;
      std::ranges::sort(waited[statement.queue]);
      waits[statement.index] = std::move(waited[statement.queue]);
      waited[statement.queue].clear();
      continue;
    }
    const SyncStep& step = program.syncs[statement.index];
    if (step.kind == SyncKind::kSignal) {
      signaled[step.first] = last[statement.queue];
    } else {
      waited[statement.queue].push_back(signaled[step.partner]);
    }
  }
  return waits;
}

// Puts every dispatch on one of the queues a, b and so on.
Program on_random_queues(Choice& choice, const Program& program, uint64_t queue_count) {
  ProgramDraft draft;
  const auto name_of = [](uint64_t queue) {
    return std::string(1, static_cast<char>('a' + queue));
  };
  for (uint64_t queue = 0; queue < queue_count; ++queue) {
    draft.items.emplace_back(QueueDraft{name_of(queue), QueueKind::kSerial});
  }
  for (ItemDraft& item : expanded_draft_of(program).items) {
    if (auto* const dispatch = std::get_if<DispatchDraft>(&item)) {
      dispatch->queue = name_of(choice.below(queue_count));
    }
    draft.items.push_back(std::move(item));
  }
  return build(draft).value();
}

TEST(EncodeStreams, PlacesTheWaitsThatSemaphoresPlacesForTheWholeProgram) {
  SeededChoice choice(95);
  const int count = share_count(4000, 2);
  uint64_t wait_count = 0;
  for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) {
    const Program given = on_random_queues(
        choice,
        random_program(choice, {.dispatch_count_max = 10, .memory_bytes = 8, .barrier_percent = 0}),
        1 + choice.below(6));
    const Program streams = value_or_fail(encode_streams(given, 0));
    const auto waits = waits_in(streams);
    ASSERT_EQ(waits, waits_in(value_or_fail(encode_semaphores(given, 0)))) << print(streams);
    for (const std::vector<uint32_t>& of_dispatch : waits) wait_count += of_dispatch.size();
  }
  EXPECT_GT(wait_count, static_cast<uint64_t>(count));
}

}  // namespace
}  // namespace interlock::streams_encoder_test
