// An encoder can say all that the text can: random programs with every feature, issued statement by
// statement, are the same text again.
#include <gtest/gtest.h>

#include <map>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/program/draft.h"
#include "encoder/queues/queue_commands.h"
#include "encoder/sync/encoder.h"
#include "encoder/sync/recording_sink.h"
#include "encoder/sync/sync_command.h"
#include "encoder/text/printer.h"
#include "fuzz/generate/queue_generator.h"
#include "fuzz/generate/queue_launches.h"
#include "fuzz/generate/queue_meanings.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"

namespace interlock::said_again_test {
namespace {

// Issues each statement of a program, and knows what the numbers of its commands stand for.
class Saying {
 public:
  explicit Saying(const Program& program) : program_(program) {
    for (const Queue& queue : program.queues) {
      names_.queues.push_back({std::string(program.name(queue.name)), queue.kind});
    }
    if (names_.queues.empty()) names_.queues.push_back({std::string(kDefaultQueueName)});
    for (const Semaphore& semaphore : program.semaphores) {
      names_.semaphores.push_back(
          {{std::string(program.name(semaphore.name)), semaphore.is_binary, semaphore.initial},
           semaphore.is_declared});
    }
    for (const SyncStep& step : program.syncs) {
      if (!step.event.is_some()) continue;
      const auto number = static_cast<uint32_t>(events_.size());
      const auto [place, is_new] = events_.emplace(step.event, number);
      if (is_new) names_.events.emplace_back(program.name(step.event));
    }
  }

  const CommandNames& names() const { return names_; }

  void issue(CommandSink& sink) const {
    for (const Statement& statement : program_.statements) {
      if (statement.queue != kNoQueue) sink.use_queue(statement.queue);
      switch (statement.kind) {
        case StatementKind::kDispatch:
          issue_dispatch(DispatchId(size_t{statement.index}), sink);
          break;
        case StatementKind::kBarrier:
          sink.issue_sync(command_of(program_.barriers[statement.index]));
          break;
        case StatementKind::kLifetime:
          sink.issue_lifetime(LifetimeId(size_t{statement.index}));
          break;
        case StatementKind::kSync:
          sink.issue_sync(command_of(program_.syncs[statement.index]));
          break;
      }
    }
  }

 private:
  void issue_dispatch(DispatchId id, CommandSink& sink) const {
    if (program_.dispatch(id).is_transition()) return;
    for (const Edge& edge : program_.edges_to(id)) {
      if (edge.is_programmatic) {
        sink.issue_programmatic_edge(edge.from, id);
      } else {
        sink.issue_edge(edge.from, id);
      }
    }
    sink.issue_dispatch(id);
  }

  std::vector<DependencyCommand> commands_of(std::span<const Dependency> dependencies) const {
    std::vector<DependencyCommand> commands;
    for (const Dependency& dependency : dependencies) {
      const auto operands = program_.operands_of(dependency);
      commands.push_back({dependency.source,
                          dependency.destination,
                          {operands.begin(), operands.end()},
                          dependency.transition});
    }
    return commands;
  }

  SyncCommand command_of(const Barrier& barrier) const {
    return {.is_barrier = true,
            .barrier = barrier.kind,
            .dependencies = commands_of(program_.dependencies_of(barrier))};
  }

  SyncCommand command_of(const SyncStep& step) const {
    const auto operands = program_.operands_of(step);
    SyncCommand command{.kind = step.kind,
                        .barrier = step.barrier_kind,
                        .dependencies = commands_of(program_.dependencies_of(step)),
                        .is_from_outside = step.is_from_outside,
                        .idle_queue = step.idle_queue,
                        .operands = {operands.begin(), operands.end()}};
    for (const SignalPart& part : program_.parts_of(step)) {
      command.points.push_back({part.semaphore.index, part.value, part.stages});
    }
    if (step.semaphore.is_some()) {
      command.points.push_back({step.semaphore.index, step.value, step.stages});
    }
    if (step.event.is_some()) command.event = events_.at(step.event);
    return command;
  }

  const Program& program_;
  CommandNames names_;
  std::map<NameId, uint32_t> events_;
};

// Says all of it at the end.
class SayingEncoder final : public Encoder {
 public:
  explicit SayingEncoder(const Saying& saying) : saying_(saying) {}
  void encode(const EncoderDispatch& /*dispatch*/, CommandSink& /*sink*/) override {}
  void end_command_buffer(CommandSink& /*sink*/) override {}
  void wait_for(std::span<const Access> /*bytes*/, bool /*is_pending*/,
                CommandSink& /*sink*/) override {}
  void wait_for_all(CommandSink& /*sink*/) override {}
  void finish(CommandSink& sink) override { saying_.issue(sink); }

 private:
  const Saying& saying_;
};

// As it executes, and as an encoder can say it: sync has no labels.
Result<Program> without_sync_labels(const Program& program) {
  ProgramDraft draft = without_evidence(expanded_draft_of(program));
  for (ItemDraft& item : draft.items) {
    if (auto* const barrier = std::get_if<BarrierDraft>(&item)) barrier->label.clear();
    if (auto* const sync = std::get_if<SyncDraft>(&item)) sync->label.clear();
  }
  return build(draft);
}

void expect_same_text(const Program& program) {
  const Saying saying(program);
  RecordingSink issued;
  SayingEncoder encoder(saying);
  issue_all(program, encoder, issued);
  RecordingSink again;
  issued.issue_again(again);
  const Result<Program> said = program_by_rules(program, saying.names(), again);
  ASSERT_TRUE(said.has_value()) << said.error().message << "\n" << print(program);
  ASSERT_EQ(print(*said), print(program));
}

TEST(CommandSink, CanSayEveryProgramOfSeveralQueues) {
  const int count = share_count(4000, 2);
  SeededChoice choice(190);
  QueueFeatureCounts counts;
  for (int i = 0; i < count && !HasFatalFailure(); ++i) {
    ProgramDraft draft = generate_queues(choice, {}, &counts);
    if (i % 2 == 0) add_queue_meanings(draft, choice, &counts);
    if (i % 4 == 0) add_queue_launches(draft, choice, &counts);
    const Result<Program> generated = build(draft);
    ASSERT_TRUE(generated.has_value());
    const Result<Program> program = without_sync_labels(*generated);
    ASSERT_TRUE(program.has_value()) << program.error().message << "\n" << print(*generated);
    expect_same_text(*program);
  }
  if (is_slow_build()) return;
  for (int i = 0; i < kQueueFeatureCount; ++i) {
    EXPECT_GT(counts.counts[i], 0u) << word_of(static_cast<QueueFeature>(i));
  }
}

}  // namespace
}  // namespace interlock::said_again_test
