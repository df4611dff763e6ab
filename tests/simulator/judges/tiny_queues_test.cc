// All programs of two operations on two queues and one byte, with a few statements that order them:
// the exact check, the search of chains and the machine of counters agree on every one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/judge/queue_comparisons.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/queue_order.h"
#include "simulator/order/signal_order.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock::tiny_queues_test {
namespace {

constexpr std::string_view kScopes[] = {"",
                                        " execution",
                                        " compute.write -> compute.read",
                                        " compute.write -> copy.write",
                                        " copy.write -> compute.read|compute.write",
                                        " compute -> copy"};
constexpr std::string_view kStageWords[] = {"all", "compute", "copy"};
constexpr std::string_view kOperations[] = {"dispatch Work reads m", "dispatch Work writes m",
                                            "dispatch fill writes m value=7"};

// What a statement needs of others, or it orders nothing and the program is a smaller one.
enum class Sort : uint8_t { kAlone, kSignal, kWait, kSet, kAwait };

struct Statement {
  Sort sort = Sort::kAlone;
  size_t queue = 0;  // Of an event.
  ItemDraft item;
};

// The items of a text after its first line.
ItemDraft item_of(const std::string& line) {
  const Program program = program_with_queues(
      "interlock 1\nmemory m 1\nq1: queue concurrent\nset e\nset e on q1\nsignal s=1\nwait s=1\n" +
      line + "\n");
  return draft_of(program).items.back();
}

std::vector<Statement> all_statements() {
  std::vector<Statement> all;
  const auto add = [&](Sort sort, size_t queue, const std::string& line) {
    Statement statement{sort, queue, ItemDraft()};
    if (sort == Sort::kSignal) {  // Values come with the program.
      SyncDraft step;
      step.kind = line == "host signals" ? SyncKind::kHostSignals : SyncKind::kSignal;
      step.semaphores = {{"s", 0, kAllStages}};
      statement.item = step;
    } else {
      statement.item = item_of(line);
    }
    all.push_back(std::move(statement));
    return &all.back();
  };
  for (size_t q = 0; q < 2; ++q) {
    for (const std::string_view scope : kScopes) {
      add(Sort::kAlone, q, fmt::format("barrier{} on q{}", scope, q));
      add(Sort::kSet, q, fmt::format("set e{} on q{}", scope, q));
    }
    add(Sort::kAwait, q, fmt::format("await e on q{}", q));
    for (const std::string_view stage : kStageWords) {
      auto& step = std::get<SyncDraft>(add(Sort::kSignal, q, "signal")->item);
      step.queue = q == 0 ? "" : "q1";
      step.semaphores[0].stages = stage == "all" ? kAllStages : scope_of(stage)->stages;
      add(Sort::kWait, q, fmt::format("wait s=1 before {} on q{}", stage, q));
    }
    add(Sort::kAlone, q, fmt::format("submit on q{}", q));
    add(Sort::kAlone, q, fmt::format("host idle on q{}", q));
  }
  add(Sort::kSignal, 0, "host signals");
  add(Sort::kWait, 0, "host waits s=1");
  return all;
}

// Whether each part has its other part: events in the order of the text.
bool is_whole(const std::vector<const Statement*>& chosen) {
  int signals = 0;
  int waits = 0;
  int sets[2] = {0, 0};
  int open[2] = {0, 0};  // Sets that nobody has awaited.
  for (const Statement* statement : chosen) {
    signals += statement->sort == Sort::kSignal;
    waits += statement->sort == Sort::kWait;
    if (statement->sort == Sort::kSet) {
      ++sets[statement->queue];
      ++open[statement->queue];
    }
    if (statement->sort == Sort::kAwait) {
      if (sets[statement->queue] == 0) return false;
      open[statement->queue] = 0;
    }
  }
  return (signals == 0) == (waits == 0) && open[0] == 0 && open[1] == 0;
}

class TinyQueues {
 public:
  // Every so manieth program is judged.
  explicit TinyQueues(uint64_t stride) : stride_(stride), statements_(all_statements()) {}

  void judge_all(size_t sync_count_max) {
    for (size_t count = 0; count <= sync_count_max; ++count) {
      std::vector<const Statement*> chosen;
      choose(count, chosen);
    }
  }

  uint64_t tried_count() const { return tried_count_; }
  uint64_t judged_count() const { return judged_count_; }
  uint64_t hazard_count() const { return hazard_count_; }

 private:
  void choose(size_t left, std::vector<const Statement*>& chosen) {
    if (testing::Test::HasFailure()) return;
    if (left == 0) {
      if (is_whole(chosen)) place_operations(chosen);
      return;
    }
    for (const Statement& statement : statements_) {
      chosen.push_back(&statement);
      choose(left - 1, chosen);
      chosen.pop_back();
    }
  }

  // Two of the slots, of any sort and queue; the first is of q0, as names do not matter.
  void place_operations(const std::vector<const Statement*>& chosen) {
    for (size_t a = 0; a <= chosen.size(); ++a) {
      for (size_t b = a; b <= chosen.size(); ++b) {
        for (size_t what = 0; what < 9; ++what) {
          for (const size_t queue : {0, 1}) {
            if (tried_count_++ % stride_ == 0) judge(chosen, a, b, what, queue);
          }
        }
      }
    }
  }

  void judge(const std::vector<const Statement*>& chosen, size_t a, size_t b, size_t what,
             size_t queue) {
    ProgramDraft draft;
    draft.items.emplace_back(MemoryDraft{"m", 1});
    draft.items.emplace_back(QueueDraft{"q1"});
    uint64_t value = 0;
    for (size_t k = 0; k <= chosen.size(); ++k) {
      if (k == a) draft.items.push_back(operation(what / 3, 0));
      if (k == b) draft.items.push_back(operation(what % 3, queue));
      if (k == chosen.size()) break;
      draft.items.push_back(chosen[k]->item);
      if (chosen[k]->sort != Sort::kSignal) continue;
      std::get<SyncDraft>(draft.items.back()).semaphores[0].value = ++value;
    }
    const Result<Program> program = build(draft);
    ASSERT_TRUE(program) << program.error().message << "\n" << print(draft);
    if (find_unordered_signals(*program)) return;
    ++judged_count_;
    expect_agreement(*program);
  }

  static ItemDraft operation(size_t what, size_t queue) {
    static const std::vector<ItemDraft> kItems = [] {
      std::vector<ItemDraft> items;
      for (const std::string_view operation : kOperations) {
        items.push_back(item_of(std::string(operation)));
      }
      return items;
    }();
    ItemDraft item = kItems[what];
    if (queue == 1) std::get<DispatchDraft>(item).queue = "q1";
    return item;
  }

  void expect_agreement(const Program& program) {
    const ReferenceOrder reference = find_reference_order(program);
    const auto expect_none = [&](const Difference& difference) {
      ASSERT_FALSE(difference) << *difference << "\n" << print(program);
    };
    expect_none(compare_runs(program, reference));
    uint64_t work_left = UINT64_MAX;
    const OrderFindings findings = find_order_findings(program, HazardsListed::kAll, work_left);
    expect_none(compare_hazards(program, findings));
    hazard_count_ += !findings.hazards.empty();
    if (!reference.cycle.empty()) return;
    const Program run = in_reference_order(program, reference);
    if (!needs_queue_order(run)) return;
    expect_none(compare_orders(run));
    expect_none(compare_reversals(run));
  }

  const uint64_t stride_;
  const std::vector<Statement> statements_;
  uint64_t tried_count_ = 0;
  uint64_t judged_count_ = 0;
  uint64_t hazard_count_ = 0;
};

// The whole of the space, or every so manieth of it: a prime, which goes through all positions.
TEST(TinyQueues, AllMethodsAgreeOnTwoOperations) {
  const int stride = proof_count(1, 997, 1);
  TinyQueues programs(static_cast<uint64_t>(is_slow_build() && stride > 1 ? 99'991 : stride));
  programs.judge_all(3);
  if (HasFailure()) return;
  fmt::print("{} programs of two operations and at most three sync statements, {} of them judged\n",
             programs.tried_count(), programs.judged_count());
  EXPECT_GT(programs.hazard_count(), programs.judged_count() / 10);
  EXPECT_LT(programs.hazard_count(), programs.judged_count() * 9 / 10);
  const int judged_count = static_cast<int>(programs.judged_count());
  print_proof(
      judged_count,
      "all programs of two operations on two queues and a byte: clocks, chains and counters "
      "agree");
}

}  // namespace
}  // namespace interlock::tiny_queues_test
