// What the machine of counters keeps of the host's cache, against what the clocks look up, byte by
// byte: two methods that share nothing.
#include "simulator/schedules/machine_lines.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/order/host_atoms.h"
#include "simulator/order/host_moves.h"
#include "simulator/order/queue_order.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/shadow_program.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/queue_texts.h"
#include "tests/simulator/programs/random_host_programs.h"
#include "tests/simulator/programs/random_queue_programs.h"

namespace interlock::machine_lines_test {
namespace {

std::vector<StatementId> all_statements(const Program& program) {
  std::vector<StatementId> all;
  for (size_t i = 0; i < program.statements.size(); ++i) all.push_back(StatementId(i));
  return all;
}

// Three memories, whose last atoms may be cut off, and statements of the host, and writes of a
// device, all or in part, with up to three operands each.
std::string random_host_text(Choice& choice) {
  std::array<uint64_t, 3> sizes{};
  std::string text = "interlock 1\n";
  for (size_t m = 0; m < sizes.size(); ++m) {
    sizes[m] = 1 + choice.below(20);
    const uint64_t atom = uint64_t{1} << choice.below(4);
    const std::string sort = m == 2 ? "" : fmt::format(" noncoherent={}", atom);
    text += fmt::format("memory {} {}{}\n", "xyz"[m], sizes[m], sort);
  }
  const uint64_t count = 2 + choice.below(12);
  for (uint64_t i = 0; i < count; ++i) {
    constexpr const char* kWords[] = {"host writes",      "host reads",        "host flushes",
                                      "host invalidates", "dispatch A writes", "dispatch A writes"};
    const uint64_t word = choice.below(6);
    text += kWords[word];
    const uint64_t operand_count = 1 + choice.below(3);
    for (uint64_t k = 0; k < operand_count; ++k) {
      const size_t m = choice.below(3);
      const uint64_t begin = choice.below(sizes[m]);
      const uint64_t end = begin + 1 + choice.below(sizes[m] - begin);
      text += fmt::format(" {}[{}:{}]", "xyz"[m], begin, end);
    }
    text += word == 5 ? " partial\n" : "\n";
  }
  return text;
}

// The statement that the runs have of the byte; none if they have none.
StatementId statement_at(std::span<const HostMoves::Move> runs, MemoryId memory, uint64_t byte) {
  for (const HostMoves::Move& run : runs) {
    const bool has_it = run.memory == memory && run.bytes.begin <= byte && byte < run.bytes.end;
    if (has_it && run.at != HostMoves::kNever) return StatementId(size_t{run.at});
  }
  return {};
}

bool is_lost_at(const HostMoves& moves, DispatchId writer, MemoryId memory, uint64_t byte) {
  return std::ranges::any_of(moves.lost(), [&](const HostMoves::Lost& lost) {
    return lost.writer == writer && lost.memory == memory && lost.bytes.begin <= byte &&
           byte < lost.bytes.end;
  });
}

// A byte that is lost: who wrote it, and the statements that dropped and that overwrite it.
struct LostByte {
  DispatchId writer;
  MemoryId memory;
  uint64_t byte = 0;
  StatementId dropped;
  StatementId overwritten;

  auto operator<=>(const LostByte&) const = default;
};

std::vector<LostByte> lost_by_lines(const Program& program) {
  std::vector<LostByte> all;
  for (const LostContent& lost : lost_in_lines(program)) {
    const StatementId end =
        lost.overwriter.is_some() ? program.dispatch(lost.overwriter).statement : StatementId();
    for (uint64_t byte = lost.bytes.begin; byte < lost.bytes.end; ++byte) {
      all.push_back({lost.writer, lost.memory, byte, lost.dropped, end});
    }
  }
  std::ranges::sort(all);
  return all;
}

std::vector<LostByte> lost_by_clocks(const HostMoves& moves) {
  std::vector<LostByte> all;
  for (const HostMoves::Lost& lost : moves.lost()) {
    const StatementId end =
        lost.until == HostMoves::kNever ? StatementId() : StatementId(size_t{lost.until});
    for (uint64_t byte = lost.bytes.begin; byte < lost.bytes.end; ++byte) {
      all.push_back({lost.writer, lost.memory, byte, StatementId(size_t{lost.from}), end});
    }
  }
  std::ranges::sort(all);
  return all;
}

struct Seen {
  int dropped = 0;
  int flushed = 0;
  int lost = 0;
  int overwritten = 0;  // Of bytes that were lost.
  int lost_to_the_end = 0;
  int beside = 0;
};

void expect_the_same(const Program& program, Seen& seen) {
  const MachineLines lines(program, all_statements(program));
  const HostMoves moves(program);
  for (const DispatchId dispatch : program.host_dispatches) {
    const bool writes = program.dispatch(dispatch).host == HostAccess::kWrites;
    for (const Access& access : program.accesses_of(dispatch)) {
      const Memory& memory = program.memory(access.memory);
      if (memory.atom_bytes == 0 || access.range.is_empty()) continue;
      const ByteRange atoms = whole_lines(memory, access.range);
      ASSERT_EQ(atoms, in_whole_atoms(memory, access.range));
      for (uint64_t byte = atoms.begin; byte < atoms.end; ++byte) {
        const MachineLines::Stay stay = lines.stay_at(dispatch, access.memory, byte);
        ASSERT_EQ(stay.dropped,
                  statement_at(moves.last_invalidation(dispatch), access.memory, byte));
        seen.dropped += stay.dropped.is_some() ? 1 : 0;
        if (!writes) continue;
        ASSERT_EQ(stay.left, statement_at(moves.first_after(dispatch), access.memory, byte));
        seen.flushed += stay.left.is_some() && !stay.is_lost ? 1 : 0;
        // What somebody overwrites before it is dropped is not lost, and the move is the same.
        const bool is_own = access.range.begin <= byte && byte < access.range.end;
        if (!is_own || !is_lost_at(moves, dispatch, access.memory, byte)) continue;
        ASSERT_TRUE(stay.is_lost);
        ++seen.lost;
      }
    }
    const std::vector<LineContent> beside = beside_in_lines(program, dispatch);
    const std::vector<MemoryRange> by_clocks = beside_host_write(program, dispatch);
    ASSERT_EQ(beside.size(), by_clocks.size());
    for (size_t i = 0; i < beside.size(); ++i) {
      ASSERT_EQ(beside[i], (LineContent{by_clocks[i].memory, by_clocks[i].range}));
    }
    seen.beside += static_cast<int>(beside.size());
  }
  const std::vector<LostByte> lost = lost_by_lines(program);
  ASSERT_EQ(lost, lost_by_clocks(moves));
  for (const LostByte& byte : lost) {
    ++(byte.overwritten.is_some() ? seen.overwritten : seen.lost_to_the_end);
  }
}

TEST(MachineLines, AreMovedByTheStatementsThatTheClocksLookUp) {
  const int count = share_count(20'000, 10);
  Seen seen;
  int judged_count = 0;
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed) + 23'000'000);
    const std::string text = seed % 2 == 0 ? random_host_text(choice) : random_host_program(choice);
    const std::optional<Program> program = parse_queues(text);
    if (!program) continue;
    SCOPED_TRACE(text);
    expect_the_same(*program, seen);
    if (testing::Test::HasFatalFailure()) return;
    ++judged_count;
  }
  EXPECT_GT(judged_count, count * 3 / 5);
  EXPECT_GT(seen.dropped, count / 2);
  EXPECT_GT(seen.flushed, count / 2);
  EXPECT_GT(seen.lost, count / 4);
  EXPECT_GT(seen.beside, count / 4);
  EXPECT_GT(seen.overwritten, count / 16);
  EXPECT_GT(seen.lost_to_the_end, count / 4);
}

MachineLines::Stay stay_of_first(const std::string& statements, uint64_t byte) {
  const Program program =
      program_with_queues("interlock 1\nmemory x 7 noncoherent=2\n" + statements);
  const MachineLines lines(program, all_statements(program));
  return lines.stay_at(DispatchId(size_t{0}), MemoryId(size_t{0}), byte);
}

TEST(MachineLines, LeaveWithTheFirstFlushOfAByteOfTheirs) {
  const std::string text = "host writes x[1:5]\nhost flushes x[0:1]\nhost flushes x\n";
  EXPECT_EQ(stay_of_first(text, 1).left, StatementId(size_t{1}));
  EXPECT_EQ(stay_of_first(text, 2).left, StatementId(size_t{2}));
  EXPECT_FALSE(stay_of_first(text, 1).is_lost);
}

TEST(MachineLines, LoseWhatIsInThemWithAnInvalidation) {
  const std::string text = "host writes x[4:7]\nhost invalidates x[6:7]\nhost flushes x\n";
  EXPECT_TRUE(stay_of_first(text, 6).is_lost);
  EXPECT_FALSE(stay_of_first(text, 5).is_lost);
  EXPECT_FALSE(stay_of_first("host writes x\n", 6).left.is_some());
}

TEST(MachineLines, HaveLostWhatWasInThemUntilSomebodyOverwritesIt) {
  const Program program = program_with_queues(
      "interlock 1\nmemory x 7 noncoherent=2\n"
      "host writes x[1:5]\nhost flushes x[4:5]\nhost invalidates x\nhost writes x[2:4]\n");
  const DispatchId first(size_t{0});
  const DispatchId second(size_t{1});
  const MemoryId memory(size_t{0});
  const StatementId dropped(size_t{2});
  EXPECT_EQ(lost_in_lines(program),
            (std::vector<LostContent>{{first, memory, {2, 4}, dropped, second},
                                      {first, memory, {1, 2}, dropped, DispatchId()}}));
}

TEST(MachineLines, HaveLostWhatAPartialWriteMayHaveLeft) {
  const Program program = program_with_queues(
      "interlock 1\nmemory x 4 noncoherent=2\n"
      "host writes x\nhost invalidates x\ndispatch Add writes x partial\n");
  const MemoryId memory(size_t{0});
  EXPECT_EQ(lost_in_lines(program),
            (std::vector<LostContent>{
                {DispatchId(size_t{0}), memory, {0, 4}, StatementId(size_t{1}), DispatchId()}}));
}

// What the shadow machine keeps it keeps by what the text has, and not by asking for clocks.
TEST(ShadowProgram, KeepsTheSortsOfReadsWhereverClocksGoByQueues) {
  const int count = share_count(4'000, 10);
  int kept_count = 0;
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed) + 24'000'000);
    const std::string text =
        seed % 2 == 0 ? random_queue_program(choice) : random_host_program(choice);
    const std::optional<Program> program = parse_queues(text);
    if (!program || (program->dependencies.empty() && !needs_queue_order(*program))) continue;
    const ShadowProgram compiled = compile_shadow_program(*program);
    ASSERT_EQ(compiled.read_sorts.size(), compiled.reads.size()) << text;
    kept_count += compiled.reads.empty() ? 0 : 1;
  }
  EXPECT_GT(kept_count, count / 2);
}

TEST(ShadowProgram, KeepsTheSortsOfReadsForWhatClocksGoByQueues) {
  int kept_count = 0;
  for (const std::string statements :
       {"dispatch A reads x\n", "dispatch A reads x\nsubmit\n", "dispatch A indirect x[0:12]\n",
        "host reads x\n", "dispatch A in graphics reads x\n", "dispatch A reads x\nhost idle\n",
        "q: queue concurrent\ndispatch A reads x on q\n"}) {
    const Program program = program_with_queues("interlock 1\nmemory x 16\nmemory y 16\n" +
                                                statements + "dispatch B reads x writes y\n");
    const bool is_kept = !compile_shadow_program(program).read_sorts.empty();
    EXPECT_EQ(is_kept, needs_queue_order(program)) << statements;
    kept_count += is_kept ? 1 : 0;
  }
  EXPECT_EQ(kept_count, 5);
}

}  // namespace
}  // namespace interlock::machine_lines_test
