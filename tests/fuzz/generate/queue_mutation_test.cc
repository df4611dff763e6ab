// Changes of programs of several queues: each comes, and what is left of a mutant is a program on
// which our methods agree.
#include "fuzz/generate/queue_mutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/generate/mutator.h"
#include "fuzz/judge/queue_judges.h"
#include "simulator/order/queue_order.h"
#include "simulator/order/signal_order.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock::queue_mutation_test {
namespace {

constexpr const char* kText = R"(interlock 1
memory m 8
q1: queue serial
g: queue graph
a: dispatch Make writes m[0:4]
barrier execution
signal s=1 after compute, t=1
wait s=1 on q1
b: dispatch Use reads m[0:4] on q1
c: dispatch Use reads m[0:4] on g
d: dispatch Use reads m[0:4] after c on g
host waits t=1
look: host reads m[0:4]
)";

// Each line of the text of a draft, once.
std::vector<std::string> lines_of_draft(const ProgramDraft& draft) {
  return text_lines_of(print(draft));
}

bool has_line(const ProgramDraft& draft, std::string_view line) {
  const std::vector<std::string> lines = lines_of_draft(draft);
  return std::ranges::find(lines, line) != lines.end();
}

size_t place_of(const ProgramDraft& draft, std::string_view line) {
  const std::vector<std::string> lines = lines_of_draft(draft);
  return static_cast<size_t>(std::ranges::find(lines, line) - lines.begin());
}

TEST(QueueMutation, MakesEveryChange) {
  const ProgramDraft draft = draft_of(program_with_queues(kText));
  const size_t line_count = lines_of_draft(draft).size();
  const size_t wait_place = place_of(draft, "wait s=1 on q1");
  const std::map<std::string, std::function<bool(const ProgramDraft&)>> changes = {
      {"drops a wait", [](const ProgramDraft& m) { return !has_line(m, "wait s=1 on q1"); }},
      {"drops a part of a signal",
       [](const ProgramDraft& m) { return has_line(m, "signal s=1 after compute"); }},
      {"doubles a wait",
       [&](const ProgramDraft& m) {
         const auto lines = lines_of_draft(m);
         return lines.size() > line_count && std::ranges::count(lines, "wait s=1 on q1") == 2;
       }},
      {"moves a wait",
       [&](const ProgramDraft& m) {
         return lines_of_draft(m).size() == line_count && has_line(m, "wait s=1 on q1") &&
                place_of(m, "wait s=1 on q1") > wait_place + 1;
       }},
      {"puts a dispatch on another queue",
       [](const ProgramDraft& m) { return has_line(m, "a: dispatch Make writes m[0:4] on q1"); }},
      {"puts a wait on another queue",
       [](const ProgramDraft& m) { return has_line(m, "wait s=1 on g"); }},
      {"changes a kind of queue",
       [](const ProgramDraft& m) { return has_line(m, "q1: queue concurrent"); }},
      {"makes memory unified",
       [](const ProgramDraft& m) { return has_line(m, "memory m 8 unified"); }},
      {"makes memory noncoherent",
       [](const ProgramDraft& m) { return has_line(m, "memory m 8 noncoherent=4"); }},
      {"raises a value", [](const ProgramDraft& m) { return has_line(m, "wait s=2 on q1"); }},
      {"narrows a wait to a stage",
       [](const ProgramDraft& m) { return has_line(m, "wait s=1 before copy on q1"); }},
      {"makes a barrier full", [](const ProgramDraft& m) { return has_line(m, "barrier"); }},
      {"drops an edge",
       [](const ProgramDraft& m) { return has_line(m, "d: dispatch Use reads m[0:4] on g"); }},
      {"adds an edge",
       [](const ProgramDraft& m) {
         return has_line(m, "d: dispatch Use reads m[0:4] after c a on g") ||
                has_line(m, "d: dispatch Use reads m[0:4] after c b on g");
       }},
      {"makes an edge programmatic",
       [](const ProgramDraft& m) {
         return has_line(m, "d: dispatch Use reads m[0:4] after c programmatic on g");
       }},
      {"puts in a signal", [](const ProgramDraft& m) { return has_line(m, "signal x0=1 on q1"); }},
      {"puts in a wait", [](const ProgramDraft& m) { return has_line(m, "wait x0=1 on q1"); }},
  };
  std::map<std::string, int> counts;
  SeededChoice choice(1);
  for (int i = 0; i < 4000; ++i) {
    ProgramDraft mutant = draft;
    mutate_queues(mutant, choice);
    for (const auto& [name, is_made] : changes) counts[name] += is_made(mutant);
  }
  // The rarest is made in one of some 250 cases; to be missed by chance has odds below 10^-6.
  for (const auto& [name, is_made] : changes) EXPECT_GT(counts[name], 0) << name;
}

TEST(QueueMutation, KnowsWhereItApplies) {
  EXPECT_TRUE(has_queue_items(draft_of(program_with_queues(kText))));
  EXPECT_FALSE(has_queue_items(
      draft_of(program_with_queues("interlock 1\nmemory m 8\ndispatch Use reads m\nbarrier\n"))));
}

// On programs that no generator would make.
TEST(QueueMutation, MakesProgramsOnWhichOurMethodsAgree) {
  SeededChoice choice(2);
  GeneratorOptions options;
  options.has_barriers = true;
  options.has_queues = true;
  options.max_dispatches = 8;
  ParseOptions lenient;
  lenient.skips_invalid_lines = true;
  lenient.reads_every_queue = true;
  ProgramDraft draft;
  int judged_count = 0;
  const int count = program_count(2500);
  for (int i = 0; i < count; ++i) {
    draft = mutate(draft, choice, options);
    const Program program = parse(print(draft), "mutant", lenient).value();
    const bool is_judged = needs_queue_order(program) && !find_unordered_signals(program) &&
                           program.statements.size() < 60;
    if (!is_judged) continue;
    ++judged_count;
    const QueueJudgement judgement = judge_queues(program, {}, static_cast<uint64_t>(i));
    for (const InternalDisagreement& d : judgement.disagreements) {
      FAIL() << word_of(d.stage) << ": " << d.message << "\n" << print(program);
    }
  }
  EXPECT_GT(judged_count, count / 5);
}

}  // namespace
}  // namespace interlock::queue_mutation_test
