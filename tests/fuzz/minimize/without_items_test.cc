// What a draft is without some of its items, and what that saves a search for a small graph.
#include "fuzz/minimize/without_items.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "encoder/program/draft.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/generate/draft_positions.h"
#include "fuzz/minimize/minimizer.h"
#include "tests/corpus_files.h"

namespace interlock::without_items_test {
namespace {

std::string label_of(size_t node) { return "n" + std::to_string(node); }

DispatchDraft node_of_graph(size_t node, const std::vector<size_t>& after) {
  DispatchDraft dispatch;
  dispatch.label = label_of(node);
  for (const size_t other : after) dispatch.after.push_back(label_of(other));
  return dispatch;
}

// Edges lead backwards, `density` in 8 of all.
ProgramDraft random_graph(std::mt19937_64& random, size_t node_count, uint64_t density) {
  ProgramDraft draft;
  for (size_t node = 0; node < node_count; ++node) {
    std::vector<size_t> after;
    for (size_t other = 0; other < node; ++other) {
      if (random() % 8 < density) after.push_back(other);
    }
    draft.items.emplace_back(node_of_graph(node, after));
  }
  return draft;
}

// By label of what is kept: all that it comes after, over any number of edges.
std::map<std::string, std::set<std::string>> order_of(const ProgramDraft& draft) {
  std::map<std::string, std::set<std::string>> order;
  for (const ItemDraft& item : draft.items) {
    const auto& dispatch = std::get<DispatchDraft>(item);
    std::set<std::string>& before = order[dispatch.label];
    for (const std::string& name : dispatch.after) {
      before.insert(name);
      before.insert(order.at(name).begin(), order.at(name).end());
    }
  }
  return order;
}

TEST(WithoutItems, OrdersWhatIsLeftAsBefore) {
  std::mt19937_64 random(1);
  constexpr size_t kNodeCount = 12;
  for (int graph = 0; graph < 500; ++graph) {
    const ProgramDraft draft = random_graph(random, kNodeCount, 1 + random() % 4);
    std::vector<size_t> dropped;
    std::set<std::string> is_dropped;
    for (size_t node = 0; node < kNodeCount; ++node) {
      if (random() % 2 == 0) continue;
      dropped.push_back(node);
      is_dropped.insert(label_of(node));
    }
    std::map<std::string, std::set<std::string>> expected = order_of(draft);
    std::erase_if(expected, [&](const auto& entry) { return is_dropped.contains(entry.first); });
    for (auto& [name, before] : expected) {
      std::erase_if(before, [&](const std::string& other) { return is_dropped.contains(other); });
    }
    EXPECT_EQ(order_of(without_items(draft, dropped)), expected);
  }
}

TEST(WithoutItems, HandsOnOnlySoManyEdges) {
  ProgramDraft draft;
  std::vector<size_t> all;
  for (size_t node = 0; node < kHandedOnEdgesMax + 3; ++node) {
    draft.items.emplace_back(node_of_graph(node, {}));
    all.push_back(node);
  }
  draft.items.emplace_back(node_of_graph(all.size(), all));
  draft.items.emplace_back(node_of_graph(all.size() + 1, {all.size()}));
  const size_t join = all.size();
  const ProgramDraft rest = without_items(draft, {&join, 1});
  const auto& last = std::get<DispatchDraft>(rest.items.back());
  ASSERT_EQ(last.after.size(), kHandedOnEdgesMax);
  EXPECT_EQ(last.after.front(), "n0");
  EXPECT_EQ(last.after.back(), label_of(kHandedOnEdgesMax - 1));
}

TEST(WithoutItems, LeavesNoProgrammaticEdgeWithoutAnEdge) {
  ProgramDraft draft;
  draft.items.emplace_back(node_of_graph(0, {}));
  draft.items.emplace_back(node_of_graph(1, {0}));
  std::get<DispatchDraft>(draft.items.back()).is_programmatic = true;
  const size_t first = 0;
  const ProgramDraft rest = without_items(draft, {&first, 1});
  EXPECT_FALSE(std::get<DispatchDraft>(rest.items.front()).is_programmatic);
}

// The middle one is not ordered by memory, so the last one is not, either.
TEST(WithoutItems, HandsOnProgrammaticEdgesAsSuch) {
  ProgramDraft draft;
  draft.items.emplace_back(node_of_graph(0, {}));
  draft.items.emplace_back(node_of_graph(1, {0}));
  std::get<DispatchDraft>(draft.items.back()).is_programmatic = true;
  draft.items.emplace_back(node_of_graph(2, {1}));
  draft.items.emplace_back(node_of_graph(3, {0, 1}));
  const size_t middle = 1;
  const ProgramDraft rest = without_items(draft, {&middle, 1});
  const auto& last = std::get<DispatchDraft>(rest.items[1]);
  EXPECT_EQ(last.after, std::vector<std::string>{"n0"});
  EXPECT_TRUE(last.is_programmatic);
  EXPECT_FALSE(std::get<DispatchDraft>(rest.items[2]).is_programmatic);
}

// A chain of writers of two memories by turns, and one reader that comes too early.
std::string chain_with_a_race(size_t length) {
  std::string text = "interlock 1\ng: queue graph\nmemory a 64\nmemory b 64\n";
  for (size_t i = 0; i < length; ++i) {
    text += label_of(i) + ": dispatch Step updates " + (i % 2 == 0 ? "a" : "b");
    if (i >= 2) text += " after " + label_of(i - 2);
    text += " on g\n";
  }
  return text + "early: dispatch Early reads a after " + label_of(length / 2) + " on g\n";
}

// Each operation but the last is named by an edge, so that none can go without an edge of another.
TEST(WithoutItems, LetsASearchDropHalvesOfAGraph) {
  constexpr size_t kLength = 400;
  const Program program = parse(chain_with_a_race(kLength), "test", every_queue()).value();
  const Result<MinimizeReport> report = minimize_program(program, {});
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->program.dispatches.size(), 2u);
  EXPECT_LT(report->evaluation_count, kLength / 2);
}

}  // namespace
}  // namespace interlock::without_items_test
