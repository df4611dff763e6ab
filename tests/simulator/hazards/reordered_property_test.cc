// What is `reordered`, judged once more by running the dispatches for one byte at a time, in two
// orders, and comparing who has written what a reader finds. Ordinary bytes: in issue order and in
// program order. Scratch bytes: in issue order with and without the dispatches that are later in
// program order than the reader; if it can tell, it depends on one of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/text/printer.h"
#include "simulator/hazards/data_flow.h"
#include "simulator/report/explain.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/queue_texts.h"
#include "tests/simulator/programs/random_programs.h"

namespace interlock::reordered_property_test {
namespace {

using ::testing::ContainerEq;
using ::testing::HasSubstr;

// One byte of one memory.
struct Place {
  uint32_t memory = 0;
  uint64_t byte = 0;
};

// Wrote the byte; with an operation: changed it, and kept what it was changed from.
struct Writer {
  uint32_t dispatch = 0;
  AtomicOp op = AtomicOp::kNone;

  auto operator<=>(const Writer&) const = default;
};

bool touches(const Access& access, Place place) {
  return access.memory.index == place.memory && access.range.begin <= place.byte &&
         place.byte < access.range.end;
}

// All that the byte is made of: the last that overwrote it, and those that changed it since.
using Writers = std::vector<Writer>;

void run(const Program& program, uint32_t dispatch, Place place, Writers& writers) {
  const Dispatch& d = program.dispatches[dispatch];
  for (const Access& access : program.accesses_of(d)) {
    if (!touches(access, place) || access.only_reads()) continue;
    const AtomicOp op = access.is_atomic() ? d.atomic_op : AtomicOp::kNone;
    const Writer writer{dispatch, op};
    if (op == AtomicOp::kNone) writers.clear();
    const bool is_known = !writers.empty() && writers.back() == writer;
    if (!is_known) writers.push_back(writer);
  }
}

// Equal for those whose order leaves no trace: neighbours of one operation.
Writers canonical(Writers writers) {
  for (auto begin = writers.begin(); begin != writers.end();) {
    const auto end = std::find_if(begin, writers.end(),
                                  [op = begin->op](const Writer& w) { return w.op != op; });
    std::sort(begin, end);
    begin = end;
  }
  return writers;
}

std::vector<uint32_t> in_issue_order(const Program& program) {
  std::vector<uint32_t> order(program.dispatches.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  return order;
}

std::vector<uint32_t> in_program_order(const Program& program) {
  std::vector<uint32_t> order = in_issue_order(program);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return program.dispatches[a].order < program.dispatches[b].order;
  });
  return order;
}

// Before `reader` runs; at the end if it is none of them.
Writers found_by(const Program& program, const std::vector<uint32_t>& order, uint32_t reader,
                 Place place) {
  Writers writers;
  for (const uint32_t dispatch : order) {
    if (dispatch == reader) break;
    run(program, dispatch, place, writers);
  }
  return writers;
}

bool is_wrong_on_scratch(const Program& program, uint32_t reader, const Access& access,
                         Place place) {
  const Dispatch& d = program.dispatches[reader];
  std::vector<uint32_t> earlier = in_issue_order(program);
  std::erase_if(earlier, [&](uint32_t i) { return program.dispatches[i].order > d.order; });
  Writers all = found_by(program, in_issue_order(program), reader, place);
  Writers kept = found_by(program, earlier, reader, place);
  // It cannot tell which of its own kind came before it.
  for (Writers* writers : {&all, &kept}) {
    while (access.is_atomic() && !writers->empty() && writers->back().op == d.atomic_op) {
      writers->pop_back();
    }
  }
  return all != kept;
}

constexpr uint32_t kEndOfProgram = UINT32_MAX;

// Reader, access, memory: with the lowest byte that is wrong.
using WrongReads = std::set<std::tuple<uint32_t, uint32_t, uint32_t, uint64_t>>;

void judge_reader(const Program& program, uint32_t reader, uint32_t k, WrongReads& wrong) {
  const Dispatch& d = program.dispatches[reader];
  const Access& access = program.accesses_of(d)[k];
  const bool is_scratch = program.memory(access.memory).is_scratch;
  const bool keeps = access.reads_plainly() || (access.writes_plainly() && d.is_partial);
  if (!keeps && !(access.is_atomic() && is_scratch)) return;
  for (uint64_t byte = access.range.begin; byte < access.range.end; ++byte) {
    const Place place{access.memory.index, byte};
    const bool is_wrong =
        is_scratch ? is_wrong_on_scratch(program, reader, access, place)
                   : canonical(found_by(program, in_issue_order(program), reader, place)) !=
                         canonical(found_by(program, in_program_order(program), reader, place));
    if (!is_wrong) continue;
    wrong.insert({reader, k, place.memory, byte});
    return;
  }
}

WrongReads interpreted(const Program& program) {
  WrongReads wrong;
  for (uint32_t reader = 0; reader < program.dispatches.size(); ++reader) {
    for (uint32_t k = 0; k < program.dispatches[reader].access_count; ++k) {
      judge_reader(program, reader, k, wrong);
    }
  }
  for (uint32_t m = 0; m < program.memories.size(); ++m) {
    for (uint64_t byte = 0; byte < program.memories[m].size_bytes; ++byte) {
      if (program.memories[m].is_scratch) break;
      const Place place{m, byte};
      if (canonical(found_by(program, in_issue_order(program), kEndOfProgram, place)) ==
          canonical(found_by(program, in_program_order(program), kEndOfProgram, place))) {
        continue;
      }
      wrong.insert({kEndOfProgram, 0, m, byte});
      break;
    }
  }
  return wrong;
}

WrongReads found(const Program& program) {
  WrongReads all;
  for (const ReorderedRead& read : find_reordered(program)) {
    const uint32_t reader = read.reader.is_some() ? read.reader.index : kEndOfProgram;
    all.insert({reader, read.access, read.memory.index, read.bytes.begin});
  }
  WrongReads lowest;
  for (const auto& [reader, access, memory, byte] : all) {
    const auto first = all.lower_bound({reader, access, memory, 0});
    lowest.insert(*first);
  }
  return lowest;
}

// Half of the memories are scratch; the order is near issue order or far from it.
Program random_ordered_program(Choice& choice) {
  ProgramDraft draft = random_draft(choice, {.dispatch_count_max = 8, .range_bytes_max = 4});
  const uint64_t spread = choice.below(4) * choice.below(8);
  uint64_t index = 0;
  for (ItemDraft& item : draft.items) {
    if (auto* memory = std::get_if<MemoryDraft>(&item)) {
      memory->is_scratch = choice.chance(1, 2);
    } else if (auto* dispatch = std::get_if<DispatchDraft>(&item)) {
      dispatch->order = (index + choice.below(spread + 1)) * 100 + index;
      ++index;
    }
  }
  return build(draft).value();
}

bool has_atomics(const Program& program) {
  return std::any_of(program.accesses.begin(), program.accesses.end(),
                     [](const Access& access) { return access.is_atomic(); });
}

// The pair that an `expect` line names is the one that the sentences speak of, the one issued first
// named first; and its order is wrong. Rows of atomics may differ where no order is.
void expect_the_pair_of_the_sentences(const Program& program, const ReorderedRead& read) {
  const HappensBefore order(program);
  ExplainContext context{order, 0};
  const Finding finding = explain(program, read, context);
  ASSERT_TRUE(finding.second.has_value());
  const DispatchId first = finding.first.dispatch;
  const DispatchId second = finding.second->dispatch;
  EXPECT_LT(first, second);
  std::string sentences = finding.headline;
  for (const std::string& detail : finding.details) sentences += detail;
  EXPECT_THAT(sentences, HasSubstr(program.description_of(first)));
  EXPECT_THAT(sentences, HasSubstr(program.description_of(second)));
  const bool is_inverted = program.dispatch(first).order > program.dispatch(second).order;
  EXPECT_EQ(is_inverted, !finding.details.empty());
  EXPECT_TRUE(is_inverted || has_atomics(program));
}

bool has_scratch_atomic(const Program& program, const WrongReads& wrong) {
  return std::any_of(wrong.begin(), wrong.end(), [&](const auto& read) {
    const auto [reader, access, memory, byte] = read;
    return reader != kEndOfProgram && program.memories[memory].is_scratch &&
           program.accesses_of(DispatchId(reader))[access].is_atomic();
  });
}

TEST(FindReordered, AgreesWithAnInterpreterThatRunsEachByteInTwoOrders) {
  const int count = proof_count(40'000, 2000, 20);
  SeededChoice choice(77);
  int atomic_count = 0;
  int clean_count = 0;
  for (int i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
    const Program program = random_ordered_program(choice);
    const WrongReads expected = interpreted(program);
    EXPECT_THAT(found(program), ContainerEq(expected)) << print(program);
    for (const ReorderedRead& read : find_reordered(program)) {
      expect_the_pair_of_the_sentences(program, read);
    }
    atomic_count += has_scratch_atomic(program, expected);
    clean_count += expected.empty();
  }
  EXPECT_GT(atomic_count, count / 40);
  EXPECT_GT(clean_count, count / 10);
  if (HasFailure()) return;
  print_proof(count, "reordered reads, atomics on scratch among them, are those of an interpreter");
}

// A transition puts back what it finds, and the host has no place in program order.
bool is_plain(const Program& program) {
  return std::ranges::all_of(program.dispatches, [](const Dispatch& dispatch) {
    return dispatch.host == HostAccess::kNone && !dispatch.is_transition();
  });
}

TEST(FindReordered, AgreesWithTheInterpreterInTheReferenceRunsOfSeveralQueues) {
  const int count = proof_count(40'000, 2000, 20);
  std::array<int, 2> judged = {0, 0};
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed) + 29'000'000);
    const std::optional<Program> run = generated_run_with_meanings(choice);
    if (!run || !run->has_program_order || !is_plain(*run)) continue;
    const WrongReads expected = interpreted(*run);
    ASSERT_THAT(found(*run), ContainerEq(expected)) << "seed " << seed << "\n" << print(*run);
    ++judged[!expected.empty()];
  }
  EXPECT_GT(judged[0], count / 40);
  EXPECT_GT(judged[1], count / 40);
  print_proof(judged[0] + judged[1],
              "reordered reads of several queues are those of an interpreter");
}

}  // namespace
}  // namespace interlock::reordered_property_test
