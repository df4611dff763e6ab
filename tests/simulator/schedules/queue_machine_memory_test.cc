// How much the machine of counters remembers of what it has taken: as much for each statement, in
// however long a program; and that what stands for several things orders what they would.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "simulator/order/reference_order.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/queue_machine.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/queue_texts.h"
#include "tests/simulator/programs/random_machine_programs.h"

namespace interlock::queue_machine_memory_test {
namespace {

// What stands on q1, for each of `count` in turn, after a wait that is not met: "#" is its number,
// "$" the next one.
struct Shape {
  const char* name;
  const char* each;
  const char* each_at_end = "";
};

constexpr Shape kShapes[] = {
    {"barriers with different operands",
     "barrier compute.write -> compute.read m[#:$] on q1\ndispatch K reads m[#:$] on q1\n"},
    {"barriers that do not chain",
     "barrier copy.write -> compute.read m[#:$] on q1\ndispatch K reads m[#:$] on q1\n"},
    {"waits for different semaphores", "wait s#=1 on q1\ndispatch K reads m[#:$] on q1\n",
     "signal s#=1\n"},
    {"dispatches before barriers for other stages",
     "dispatch K reads m[#:$] on q1\nbarrier compute -> copy on q1\n"},
    {"events with different operands",
     "set e# compute.write -> compute.read m[#:$] on q1\nawait e# on q1\n"
     "dispatch K reads m[#:$] on q1\n"},
};

std::string replaced(const std::string& text, size_t number) {
  std::string result;
  for (const char c : text) {
    result += c == '#'   ? std::to_string(number)
              : c == '$' ? std::to_string(number + 1)
                         : std::string(1, c);
  }
  return result;
}

std::string text_of(const Shape& shape, size_t count) {
  std::string text = fmt::format("interlock 1\nmemory m {}\nq1: queue concurrent\n", count);
  text += "wait go=1 on q1\n";
  std::string end = "dispatch Make writes m\nsignal go=1\n";
  for (size_t i = 0; i < count; ++i) {
    text += replaced(shape.each, i);
    end += replaced(shape.each_at_end, i);
  }
  return text + end;
}

size_t hold_count_of(const Shape& shape, size_t count, bool splits_memory, size_t joined_min) {
  const Program program = program_with_queues(text_of(shape, count));
  const QueueMachine machine(program, {.splits_memory = splits_memory, .joined_min = joined_min});
  EXPECT_FALSE(machine.is_done());
  return machine.hold_count();
}

TEST(QueueMachine, RemembersOfTwiceAsLongAProgramTwiceAsMuch) {
  const size_t count = is_slow_build() ? 200 : 400;
  for (const Shape& shape : kShapes) {
    for (const bool splits_memory : {false, true}) {
      SCOPED_TRACE(fmt::format("{}, split {}", shape.name, splits_memory));
      const size_t once = hold_count_of(shape, count, splits_memory, 32);
      const size_t twice = hold_count_of(shape, 2 * count, splits_memory, 32);
      EXPECT_GT(once, count);
      EXPECT_LT(twice, 5 * once / 2);
    }
  }
}

// What runs while `withheld` does not.
std::set<OperationPart> run_without(const Program& program, const OperationPart& withheld,
                                    const QueueMachineOptions& options) {
  QueueMachine machine(program, options);
  std::set<OperationPart> done;
  for (;;) {
    std::optional<OperationPart> next;
    for (const std::set<OperationPart>* parts : {&machine.early(), &machine.enabled()}) {
      for (const OperationPart& part : *parts) {
        if (part != withheld) next = part;
      }
    }
    if (!next) return done;
    machine.run(*next);
    done.insert(*next);
  }
}

TEST(QueueMachine, OrdersTheSameWhereOneThingStandsForSeveral) {
  int part_count = 0;
  for (int seed = 0; seed < share_count(400, 3); ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const std::string text = random_machine_program(choice);
    const std::optional<Program> program = parse_queues(text);
    if (!program || !find_reference_order(*program).cycle.empty()) continue;
    SCOPED_TRACE(text);
    for (const bool splits_memory : {false, true}) {
      const QueueMachineOptions apart = {.splits_memory = splits_memory,
                                         .joined_min = SIZE_MAX / 4};
      const QueueMachineOptions joined = {.splits_memory = splits_memory, .joined_min = 1};
      const QueueMachine machine(*program, apart);
      for (size_t i = 0; i < program->dispatches.size(); ++i) {
        for (const OperationPart& part : machine.parts_of(DispatchId(i))) {
          ASSERT_EQ(run_without(*program, part, apart), run_without(*program, part, joined));
          ++part_count;
        }
      }
    }
  }
  EXPECT_GT(part_count, share_count(400, 3));
}

}  // namespace
}  // namespace interlock::queue_machine_memory_test
