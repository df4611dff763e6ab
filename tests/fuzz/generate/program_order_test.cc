// Program order of generated programs: every order that data flow agrees with, and now and then one
// that it does not.
#include "fuzz/generate/program_order.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/generate/generator.h"
#include "simulator/hazards/data_flow.h"
#include "simulator/schedules/choice.h"
#include "tests/fuzz/generate/shares.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/choices.h"

namespace interlock::program_order_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsSupersetOf;

using Order = std::vector<uint64_t>;  // By dispatch.

// Answers as the enumeration does; but the first question, whether to ignore dependencies, is
// answered beforehand.
class FirstAnswered final : public Choice {
 public:
  FirstAnswered(uint64_t first, Choice& rest) : first_(first), rest_(rest) {}

 private:
  uint64_t answer(uint64_t n) override {
    if (is_answered_) return rest_.below(n);
    is_answered_ = true;
    EXPECT_EQ(n, 5u);
    return first_;
  }

  const uint64_t first_;
  Choice& rest_;
  bool is_answered_ = false;
};

Order order_of(const ProgramDraft& draft) {
  Order order;
  for (const ItemDraft& item : draft.items) {
    const auto* dispatch = std::get_if<DispatchDraft>(&item);
    if (dispatch != nullptr) order.push_back(dispatch->order.value());
  }
  return order;
}

void set_order(ProgramDraft& draft, const Order& order) {
  size_t position = 0;
  for (ItemDraft& item : draft.items) {
    if (auto* dispatch = std::get_if<DispatchDraft>(&item)) dispatch->order = order[position++];
  }
}

bool agrees_with_data_flow(const ProgramDraft& draft) {
  return find_reordered(build(draft).value()).empty();
}

// All orders that the draft can get; `first`: the answer to the question whether to ignore some.
std::set<Order> orders_given(const ProgramDraft& draft, uint64_t first) {
  std::set<Order> orders;
  ExhaustiveChoice every;
  do {
    ProgramDraft ordered = draft;
    FirstAnswered choice(first, every);
    give_program_order(ordered, choice);
    orders.insert(order_of(ordered));
  } while (every.advance());
  return orders;
}

struct AllOrders {
  std::set<Order> agreeing;
  std::set<Order> others;
};

AllOrders all_orders_of(ProgramDraft draft, size_t dispatch_count) {
  AllOrders all;
  Order order(dispatch_count);
  for (size_t i = 0; i < dispatch_count; ++i) order[i] = i;
  do {
    set_order(draft, order);
    (agrees_with_data_flow(draft) ? all.agreeing : all.others).insert(order);
  } while (std::next_permutation(order.begin(), order.end()));
  return all;
}

// Whatever is written is an output, so that each order that changes a byte shows.
class ProgramOrder : public testing::TestWithParam<const char*> {};

TEST_P(ProgramOrder, IsAnyThatDataFlowAgreesWithUnlessSomeIsIgnored) {
  const ProgramDraft draft =
      draft_of(parse(std::string("interlock 1\nmemory a 16\nmemory b 16\nmemory s 16 scratch\n") +
                     GetParam())
                   .value());
  const size_t count = build(draft).value().dispatches.size();
  const AllOrders all = all_orders_of(draft, count);
  for (uint64_t first = 0; first < 4; ++first) EXPECT_EQ(orders_given(draft, first), all.agreeing);
  const std::set<Order> ignoring = orders_given(draft, 4);
  EXPECT_THAT(ignoring, IsSupersetOf(all.agreeing));
  EXPECT_EQ(ignoring.size() > all.agreeing.size(), !all.others.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Programs, ProgramOrder,
    testing::Values(
        // A fork and a join.
        "dispatch A writes a[0:4]\ndispatch B reads a[0:4] writes a[4:8]\n"
        "dispatch C reads a[0:4] writes a[8:12]\ndispatch D reads a[4:12] writes b[0:4]\n",
        // Nothing in common.
        "dispatch A writes a[0:4]\ndispatch B writes a[4:8]\ndispatch C writes b[0:4]\n",
        // A write after a read, and after a write.
        "dispatch A reads a[0:4] writes b[0:4]\ndispatch B writes a[0:4]\n"
        "dispatch C reads a[0:4] writes b[0:4]\n",
        // Atomics that commute, and one that does not.
        "dispatch A atomics a[0:4] atomic=add\ndispatch B atomics a[0:4] atomic=add\n"
        "dispatch C atomics a[0:4] atomic=max\n",
        // Two values on scratch bytes: each reader stays after its writer.
        "dispatch A writes s[0:4]\ndispatch B reads s[0:4] writes a[0:4]\n"
        "dispatch C writes s[8:12]\ndispatch D reads s[8:12] writes b[0:4]\n",
        // Who keeps bytes of a scratch memory, or adds to them, is such a reader.
        "dispatch A writes s[0:4]\ndispatch B writes s[0:4] partial\n"
        "dispatch C writes s[0:4]\n",
        "dispatch A writes s[0:4]\ndispatch B atomics s[0:4] atomic=add\n"
        "dispatch C atomics s[0:4] atomic=add\ndispatch D reads s[0:4] writes a[0:4]\n"));

// Scratch bytes are placed after reordering: a value may take those of one that is read later in
// program order. On ordinary bytes there is one order only.
TEST(GiveProgramOrder, LetsScratchBytesBeUsedAgainInAnyOrder) {
  const auto draft_on = [](const std::string& memory) {
    const std::string text = fmt::format(
        "interlock 1\nmemory o 16\nmemory m 16{}\n"
        "dispatch A writes m[0:4]\ndispatch B reads m[0:4] writes o[0:4]\n"
        "dispatch C writes m[0:4]\ndispatch D reads m[0:4] writes o[4:8]\n",
        memory);
    return draft_of(parse(text).value());
  };
  const ProgramDraft scratch = draft_on(" scratch");
  const std::set<Order> orders = orders_given(scratch, 0);
  EXPECT_THAT(all_orders_of(scratch, 4).agreeing, IsSupersetOf(orders));
  EXPECT_THAT(orders, Contains(Order{0, 2, 1, 3}));
  EXPECT_THAT(orders, Contains(Order{1, 2, 0, 3}));
  EXPECT_THAT(orders_given(draft_on(""), 0), ElementsAre(Order{0, 1, 2, 3}));
}

ProgramDraft generated(uint64_t seed) {
  SeededChoice choice(seed);
  GeneratorOptions options;
  options.has_barriers = true;
  ProgramDraft draft = generate(choice, options);
  for (ItemDraft& item : draft.items) {
    if (auto* dispatch = std::get_if<DispatchDraft>(&item)) dispatch->order.reset();
  }
  return draft;
}

TEST(GiveProgramOrder, NumbersTheDispatchesAndLeavesTheRestAsItIs) {
  for (int seed = 0; seed < program_count(400); ++seed) {
    const ProgramDraft draft = generated(seed);
    ProgramDraft ordered = draft;
    SeededChoice choice(seed);
    give_program_order(ordered, choice);
    Order order = order_of(ordered);
    std::sort(order.begin(), order.end());
    for (size_t i = 0; i < order.size(); ++i) ASSERT_EQ(order[i], i) << print(ordered);
    EXPECT_TRUE(build(ordered)) << print(ordered);
    for (ItemDraft& item : ordered.items) {
      if (auto* dispatch = std::get_if<DispatchDraft>(&item)) dispatch->order.reset();
    }
    EXPECT_EQ(print(ordered), print(draft));
  }
}

TEST(GiveProgramOrder, AgreesWithDataFlowOfAnyProgramUnlessSomeIsIgnored) {
  for (int seed = 0; seed < program_count(400); ++seed) {
    ProgramDraft draft = generated(seed);
    SeededChoice rest(seed);
    FirstAnswered choice(seed % 4, rest);
    give_program_order(draft, choice);
    EXPECT_TRUE(agrees_with_data_flow(draft)) << "seed " << seed << "\n" << print(draft);
  }
}

// Twelve dispatches, each of which reads what the one before it wrote. One of five drafts ignores
// some of the eleven dependencies, each with odds of 1/4; that it keeps them all, or that what it
// ignores stays in order, has odds of some 1/16.
TEST(GiveProgramOrder, IgnoresSomeOfTheDataFlowInOneOfFiveDrafts) {
  std::string text = "interlock 1\nmemory a 64\n";
  for (int i = 0; i < 12; ++i) {
    text += fmt::format("dispatch K reads a[{}:{}] writes a[{}:{}]\n", 4 * i, 4 * i + 4, 4 * i + 4,
                        4 * i + 8);
  }
  const ProgramDraft draft = draft_of(parse(text).value());
  constexpr uint64_t kDraftCount = program_count(2000);
  uint64_t count = 0;
  for (uint64_t seed = 0; seed < kDraftCount; ++seed) {
    ProgramDraft ordered = draft;
    SeededChoice choice(seed);
    give_program_order(ordered, choice);
    count += !agrees_with_data_flow(ordered);
  }
  expect_share("reordered drafts", count, kDraftCount, 1.0 / 5 * 15 / 16);
}

}  // namespace
}  // namespace interlock::program_order_test
