#include "encoder/program/name_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/encoder/text/round_trip.h"

namespace interlock::name_table_test {
namespace {

using testing::ElementsAre;

void expect_all_found(const NameTable& table, const std::vector<std::string>& names) {
  for (size_t i = 0; i < names.size(); ++i) EXPECT_EQ(table.find(names, names[i]), NameId(i));
}

TEST(NameTable, NumbersNamesInTheOrderOfTheirAdding) {
  NameTable table;
  std::vector<std::string> names;
  EXPECT_FALSE(table.find(names, "x").is_some());
  EXPECT_EQ(table.add(names, "x"), NameId(0));
  EXPECT_EQ(table.add(names, "y"), NameId(1));
  EXPECT_EQ(table.add(names, "x"), NameId(0));
  EXPECT_THAT(names, ElementsAre("x", "y"));
}

TEST(NameTable, ForgetsNamesAndTheirMeanings) {
  NameTable table;
  std::vector<std::string> names;
  table.add(names, "x");
  table.meaning(table.add(names, "y")).memory = MemoryId(7);
  table.forget_from(names, 1);
  EXPECT_THAT(names, ElementsAre("x"));
  EXPECT_FALSE(table.find(names, "y").is_some());
  table.add(names, "y");
  EXPECT_FALSE(table.meaning_of(names, "y").memory.is_some());
}

TEST(NameTable, ListsTheNamesOfOneSortInAlphabeticalOrder) {
  NameTable table;
  std::vector<std::string> names;
  for (const char* name : {"c", "a", "d", "b"}) {
    NameMeaning& meaning = table.meaning(table.add(names, name));
    if (name[0] != 'd') meaning.tensor = TensorId(0);
  }
  EXPECT_THAT(table.first_names(names, &NameMeaning::tensor, 2), ElementsAre("a", "b"));
  EXPECT_THAT(table.first_names(names, &NameMeaning::tensor, 9), ElementsAre("a", "b", "c"));
}

// A file can choose names that want the same slots; they are found all the same.
TEST(NameTable, FindsNamesThatCrowdTheSameSlots) {
  NameTable table;
  std::vector<std::string> names;
  for (int i = 0; names.size() < 100; ++i) {
    const std::string name = "n" + std::to_string(i);
    const bool wants_slot_0 = (NameTable::hash_of(name) >> 32) % 512 == 0;
    if (wants_slot_0) table.add(names, name);
  }
  expect_all_found(table, names);
  table.forget_from(names, 50);
  expect_all_found(table, names);
  EXPECT_FALSE(table.find(names, "n").is_some());
}

TEST(NameTable, FindsTheSameNamesAfterRoomWasMade) {
  NameTable table;
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) table.add(names, "n" + std::to_string(i));
  table.reserve(names, 10'000);
  expect_all_found(table, names);
  table.reserve(names, 10);
  expect_all_found(table, names);
  table.forget_from(names, 0);
  EXPECT_FALSE(table.find(names, "n0").is_some());
}

// Names of every length, which differ in one byte only.
TEST(NameTable, TellsNamesApartByEveryByte) {
  NameTable table;
  std::vector<std::string> names;
  for (size_t size = 1; size < 40; ++size) {
    const std::string name(size, 'a');
    table.add(names, name);
    for (size_t place = 0; place < size; ++place) {
      std::string other = name;
      other[place] = 'b';
      EXPECT_FALSE(table.find(names, other).is_some());
      table.add(names, other);
    }
  }
  expect_all_found(table, names);
}

TEST(NameTable, AgreesWithASearchOfTheListWhateverIsAddedAndForgotten) {
  Numbers numbers(1);
  NameTable table;
  std::vector<std::string> names;
  for (int step = 0; step < 20'000; ++step) {
    if (numbers.below(100) == 0) table.forget_from(names, numbers.below(names.size() + 1));
    const std::string name = "n" + std::to_string(numbers.below(500));
    const auto listed = std::find(names.begin(), names.end(), name);
    const bool is_listed = listed != names.end();
    const NameId expected(static_cast<size_t>(listed - names.begin()));
    ASSERT_EQ(table.find(names, name).is_some(), is_listed);
    ASSERT_EQ(table.add(names, name), expected);
  }
  expect_all_found(table, names);
}

}  // namespace
}  // namespace interlock::name_table_test
