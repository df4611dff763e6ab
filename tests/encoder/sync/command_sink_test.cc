// All that an encoder can say: on several queues as it says it, on one as barriers that do as much.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "encoder/queues/queue_commands.h"
#include "encoder/sync/encoder.h"
#include "encoder/sync/interlock_encoder.h"
#include "encoder/sync/interlock_scoped_encoder.h"
#include "encoder/sync/recording_sink.h"
#include "encoder/sync/sync_command.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"

namespace interlock::command_sink_test {
namespace {

Program parsed(const std::string& body) {
  ParseOptions options;
  options.reads_every_queue = true;
  Result<Program> program = parse("interlock 1\n" + body, "test.ilk", options);
  EXPECT_TRUE(program.has_value()) << (program ? "" : program.error().message);
  return program ? *std::move(program) : Program{};
}

// Says at the end what it is told to.
class Saying final : public Encoder {
 public:
  explicit Saying(std::function<void(CommandSink&)> say) : say_(std::move(say)) {}

  void encode(const EncoderDispatch& dispatch, CommandSink& /*sink*/) override {
    queues.push_back(dispatch.queue);
  }
  void end_command_buffer(CommandSink& /*sink*/) override { ++split_count; }
  void finish(CommandSink& sink) override { say_(sink); }

  std::vector<QueueIndex> queues;
  int split_count = 0;

 private:
  std::function<void(CommandSink&)> say_;
};

constexpr char kDispatches[] = "memory a 64\ndispatch A writes a\ndispatch B reads a\n";

void say_all(CommandSink& sink) {
  sink.issue_dispatch(DispatchId(0));
  sink.issue_set(0, *scope_of("compute.write"), *scope_of("compute.read"));
  sink.issue_await(0);
  sink.issue_scoped_barrier(*scope_of("compute"), *scope_of("copy"));
  sink.issue_barrier(BarrierKind::kExecution);
  sink.issue_split();
  sink.issue_signal({.semaphore = 0, .value = 3, .stages = bit_of(Stage::kCompute)});
  sink.use_queue(1);
  sink.issue_wait({.semaphore = 0, .value = 2});
  sink.issue_dispatch(DispatchId(1));
}

constexpr char kAllSaid[] = R"(interlock 1
memory a 64
q1: queue concurrent
q2: queue concurrent
dispatch A writes a on q1
set e1 compute.write -> compute.read on q1
await e1 on q1
barrier compute -> copy on q1
barrier execution on q1
split on q1
signal s1=3 after compute on q1
wait s1=2 on q2
dispatch B reads a on q2
)";

TEST(CommandSink, CanSayAllOfTheSync) {
  Saying encoder(say_all);
  const Result<Program> program =
      encode_on_queues(parsed(kDispatches), encoder, QueueKind::kConcurrent);
  ASSERT_TRUE(program.has_value()) << program.error().message;
  EXPECT_EQ(print(*program), kAllSaid);
}

TEST(CommandSink, CanSayEdges) {
  Saying encoder([](CommandSink& sink) {
    sink.issue_dispatch(DispatchId(0));
    sink.issue_edge(DispatchId(0), DispatchId(1));
    sink.issue_dispatch(DispatchId(1));
  });
  const Result<Program> program = encode_on_queues(parsed(kDispatches), encoder, QueueKind::kGraph);
  ASSERT_TRUE(program.has_value()) << program.error().message;
  EXPECT_EQ(print(*program),
            "interlock 1\nmemory a 64\nq1: queue graph\ndispatch A writes a on q1\n"
            "dispatch B reads a after 0 on q1\n");
}

TEST(RecordingSink, IssuesAgainWhatWasIssued) {
  RecordingSink first;
  say_all(first);
  first.issue_edge(DispatchId(0), DispatchId(1));
  RecordingSink second;
  first.issue_again(second);
  EXPECT_EQ(first.commands(), second.commands());
  EXPECT_EQ(first.details(), second.details());
  ASSERT_EQ(second.edges().size(), 1u);
  EXPECT_EQ(second.edges()[0].from, DispatchId(0));
  EXPECT_EQ(second.edges()[0].to, DispatchId(1));
}

// A sink of one queue makes a full barrier of whatever waits, and lets the rest be.
TEST(CommandSink, OfOneQueueDoesAsMuchWithBarriers) {
  class OneQueue final : public CommandSink {
   public:
    void issue_dispatch(DispatchId id) override { said += static_cast<char>('A' + id.index); }
    void issue_barrier(BarrierKind kind) override {
      said += kind == BarrierKind::kFull ? '|' : '-';
    }
    std::string said;
  };
  OneQueue sink;
  say_all(sink);
  EXPECT_EQ(sink.said, "A||-|B")
      << "the await, the scoped barrier, the execution barrier, the wait";
  sink.issue_edge(DispatchId(0), DispatchId(1));
  EXPECT_EQ(sink.said, "A||-|B|");
}

// The same of whole statements of sync.
std::string said_on_one_queue(const SyncCommand& command) {
  class OneQueue final : public CommandSink {
   public:
    void issue_dispatch(DispatchId /*id*/) override { said += 'D'; }
    void issue_barrier(BarrierKind kind) override {
      said += kind == BarrierKind::kFull ? '|' : '-';
    }
    void issue_scoped_barrier(const Scope& /*source*/, const Scope& /*destination*/) override {
      said += 's';
    }
    void issue_split() override { said += '/'; }
    std::string said;
  };
  OneQueue sink;
  sink.issue_sync(command);
  return sink.said;
}

TEST(CommandSink, OfOneQueueDoesAsMuchAsAnyStatement) {
  const auto barrier = [](BarrierKind kind, std::vector<DependencyCommand> dependencies) {
    return said_on_one_queue(
        {.is_barrier = true, .barrier = kind, .dependencies = std::move(dependencies)});
  };
  const DependencyCommand all_bytes{*scope_of("compute.write"), *scope_of("copy.read")};
  DependencyCommand some_bytes = all_bytes;
  some_bytes.operands.push_back({.memory = MemoryId(0), .range = {0, 8}});
  EXPECT_EQ(barrier(BarrierKind::kFull, {}), "|");
  EXPECT_EQ(barrier(BarrierKind::kExecution, {}), "-");
  EXPECT_EQ(barrier(BarrierKind::kScoped, {all_bytes}), "s");
  EXPECT_EQ(barrier(BarrierKind::kScoped, {some_bytes}), "|");
  EXPECT_EQ(barrier(BarrierKind::kScoped, {all_bytes, all_bytes}), "|");
  const auto sync = [](SyncKind kind, bool is_from_outside = false) {
    return said_on_one_queue(
        {.kind = kind, .points = {{}, {}}, .is_from_outside = is_from_outside});
  };
  EXPECT_EQ(sync(SyncKind::kWait), "||");
  EXPECT_EQ(sync(SyncKind::kWait, true), "");
  EXPECT_EQ(sync(SyncKind::kAwait), "|");
  EXPECT_EQ(sync(SyncKind::kSplit), "/");
  EXPECT_EQ(sync(SyncKind::kHostWaits), "|");
  EXPECT_EQ(sync(SyncKind::kHostIdle), "|");
  for (const SyncKind kind : {SyncKind::kSignal, SyncKind::kSet, SyncKind::kSubmit,
                              SyncKind::kHostSignals, SyncKind::kHostFlushes}) {
    EXPECT_EQ(sync(kind), "") << word_of(kind);
  }
}

// What the pass for one queue makes of it.
TEST(Encode, MakesBarriersOfWhatIsAboutSeveralQueues) {
  Saying all(say_all);
  EXPECT_EQ(print(encode(parsed(kDispatches), all)),
            "interlock 1\nmemory a 64\ndispatch A writes a\nbarrier\n"
            "barrier compute -> copy\nbarrier execution\nsplit\nbarrier\ndispatch B reads a\n");
  Saying edges([](CommandSink& sink) {
    sink.issue_dispatch(DispatchId(0));
    sink.issue_edge(DispatchId(0), DispatchId(1));
    sink.issue_dispatch(DispatchId(1));
  });
  EXPECT_EQ(print(encode(parsed(kDispatches), edges)),
            "interlock 1\nmemory a 64\ndispatch A writes a\nbarrier\ndispatch B reads a\n");
}

TEST(Encoder, IsToldOfQueuesAndCommandBuffers) {
  Saying encoder([](CommandSink& sink) {
    for (size_t i = 0; i < 3; ++i) sink.issue_dispatch(DispatchId(i));
  });
  RecordingSink sink;
  issue_all(parsed("memory a 64\nq1: queue serial\ndispatch A reads a\nsplit\n"
                   "dispatch B reads a on q1\nsplit on q1\nsplit\ndispatch C reads a\n"),
            encoder, sink);
  EXPECT_EQ(encoder.split_count, 3);
  EXPECT_EQ(encoder.queues, (std::vector<QueueIndex>{0, 1, 0}));
}

// Barriers cover what earlier command buffers of the queue have, so nothing is forgotten there.
TEST(Encode, KeepsSplitsAndWhatIsKnownAcrossThem) {
  const Program program = parsed(
      "memory a 64\nmemory b 64\ndispatch A writes a\nsplit\ndispatch B writes b\nsplit\n"
      "dispatch C reads a\nsplit\n");
  InterlockEncoder full;
  EXPECT_EQ(print(encode(program, full)),
            "interlock 1\nmemory a 64\nmemory b 64\ndispatch A writes a\nsplit\n"
            "dispatch B writes b\nsplit\nbarrier\ndispatch C reads a\nsplit\n");
  InterlockScopedEncoder scoped;
  EXPECT_EQ(print(encode(program, scoped)),
            "interlock 1\nmemory a 64\nmemory b 64\ndispatch A writes a\nsplit\n"
            "dispatch B writes b\nsplit\nbarrier compute.write -> compute.read\n"
            "dispatch C reads a\nsplit\n");
}

}  // namespace
}  // namespace interlock::command_sink_test
