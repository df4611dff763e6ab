// The encode pass: what it keeps, what it drops, and that its result is a program like any other.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "encoder/sync/encoder.h"
#include "encoder/sync/interlock_encoder.h"
#include "encoder/sync/trivial_encoders.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/testing/matchers.h"

namespace interlock::encode_test {
namespace {

using testing::ElementsAre;

std::string encoded(const std::string& text, Encoder& encoder) {
  return print(encode(program_of(text), encoder));
}

// Issues everything at the end, last dispatch first.
class ReversingEncoder final : public Encoder {
 public:
  void encode(const EncoderDispatch& dispatch, CommandSink& /*sink*/) override {
    held_.push_back(dispatch.id);
  }
  void finish(CommandSink& sink) override {
    for (; !held_.empty(); held_.pop_back()) {
      sink.issue_dispatch(held_.back());
      if (held_.size() > 1) sink.issue_barrier(BarrierKind::kExecution);
    }
  }

 private:
  std::vector<DispatchId> held_;
};

TEST(Encode, ReplacesSyncAndKeepsEverythingElse) {
  InterlockEncoder encoder;
  EXPECT_EQ(encoded(R"(interlock 1
memory a 256
memory b 64
tensor x f32[4,16] at a+0 = random(1)
tensor gb f32[16] at b+0
output gb
dispatch Produce updates a
barrier
barrier execution
reduce: dispatch col_sum reads x writes gb
start: dispatch scale reads gb writes gb factor=2
)",
                    encoder),
            R"(interlock 1
memory a 256
memory b 64
tensor x f32[4,16] at a+0 = random(1)
tensor gb f32[16] at b+0
output gb
dispatch Produce updates a
barrier
reduce: dispatch col_sum reads x writes gb
barrier
start: dispatch scale reads gb writes gb factor=2
)");
}

TEST(Encode, DropsTheWitnessAndWhatWasExpectedOfTheOldSync) {
  InterlockEncoder encoder;
  EXPECT_EQ(encoded(R"(interlock 1
memory a 64
first: dispatch First reads a[0:4]
second: dispatch Second writes a[0:4]
witness second before first
expect WAR first second
expect encoder=mlx-2024 WAR first second
)",
                    encoder),
            R"(interlock 1
memory a 64
first: dispatch First reads a[0:4]
barrier
second: dispatch Second writes a[0:4]
expect encoder=mlx-2024 WAR first second
)");
}

TEST(Encode, KeepsTheGivenIssueOrderAndItsProgramOrder) {
  SerialEncoder encoder;
  EXPECT_EQ(encoded(R"(interlock 1
memory a 64
dispatch Late order=7 reads a
dispatch Early order=3 reads a
)",
                    encoder),
            R"(interlock 1
memory a 64
dispatch Late order=7 reads a
barrier
dispatch Early order=3 reads a
)");
}

TEST(Encode, StatesProgramOrderWhereTheEncoderReorders) {
  ReversingEncoder encoder;
  EXPECT_EQ(encoded(R"(interlock 1
memory a 64
memory b 64
first: dispatch First reads a[0:4] writes b[8:9]
barrier
dispatch Second writes a[0:4]
last: dispatch copy reads a[0:4] writes b[0:4]
expect encoder=mlx-2024 WAR first 1
)",
                    encoder),
            R"(interlock 1
memory a 64
memory b 64
last: dispatch copy order=2 reads a[0:4] writes b[0:4]
barrier execution
dispatch Second order=1 writes a[0:4]
barrier execution
first: dispatch First order=0 reads a[0:4] writes b[8:9]
expect encoder=mlx-2024 WAR first 1
)");
}

TEST(Encode, KeepsStatedProgramOrderWhereTheEncoderReorders) {
  ReversingEncoder encoder;
  EXPECT_EQ(encoded(R"(interlock 1
memory a 64
dispatch A order=10 reads a
dispatch B order=5 reads a
)",
                    encoder),
            R"(interlock 1
memory a 64
dispatch B order=5 reads a
barrier execution
dispatch A order=10 reads a
)");
}

TEST(Encode, LeavesAnEmptyProgramEmpty) {
  SerialEncoder encoder;
  EXPECT_EQ(encoded("interlock 1\nmemory a 64\n", encoder), "interlock 1\nmemory a 64\n");
}

TEST(Encode, GivesProgramsThatParseBack) {
  const Program program = program_of(R"(interlock 1
memory a 64
d0: dispatch Produce writes a[0:8]
dispatch Consume reads a[4:12] writes a[32:40]
dispatch Count atomics a[0:4] atomic=add
dispatch Count atomics a[0:4] atomic=max
)");
  for (const EncoderEntry& entry : encoder_registry()) {
    const std::string text = print(encode(program, *entry.create()));
    const Result<Program> again = parse(text);
    ASSERT_TRUE(again.has_value()) << entry.name << ": " << again.error().message;
    EXPECT_EQ(print(*again), text) << entry.name;
    EXPECT_EQ(print(encode(*again, *entry.create())), text) << entry.name;
  }
}

// Of everything that the pass keeps.
TEST(Encode, GivesTheSameOfAProgramThatIsNeededNoMore) {
  const Program program = program_of(R"(interlock 1
memory a 64
memory b 64
tensor x f32[4] at a+0 = iota
tensor y f32[4] donates x
output y
d0: dispatch Produce writes x
free x
dispatch Consume reads a[4:12] writes y
barrier
dispatch Count atomics b[0:4] atomic=add
expect encoder=mlx-2024 WAR d0 1
)");
  for (const EncoderEntry& entry : encoder_registry()) {
    const Program copied = encode(program, *entry.create());
    Program given = program;
    const Program moved = encode(std::move(given), *entry.create());
    EXPECT_EQ(print(moved), print(copied)) << entry.name;
    EXPECT_EQ(moved.lifetimes.size(), 1u) << entry.name;
    EXPECT_EQ(moved.expectations.size(), 1u) << entry.name;
  }
}

TEST(SerialEncoder, PartsAllDispatches) {
  EXPECT_THAT("memory a 64\ndispatch A\ndispatch B\ndispatch C\n",
              EncodedBy("serial", HasBarrierCount(2)));
}

TEST(NoneEncoder, PartsNoDispatches) {
  EXPECT_THAT("memory a 64\ndispatch A writes a\nbarrier\ndispatch B reads a\n",
              EncodedBy("none", HasBarrierCount(0)));
}

TEST(EncoderRegistry, FindsEveryEncoderByItsName) {
  std::vector<std::string_view> names;
  for (const EncoderEntry& entry : encoder_registry()) {
    names.push_back(entry.name);
    EXPECT_EQ(find_encoder(entry.name), &entry);
    EXPECT_FALSE(entry.summary.empty()) << entry.name;
    EXPECT_NE(entry.create(), nullptr) << entry.name;
  }
  EXPECT_THAT(names,
              ElementsAre("interlock", "interlock-scoped", "serial", "none", "ggml-metal",
                          "ggml-vulkan-27805", "ggml-vulkan-reorder", "mlx-2024", "mlx-2026"));
  EXPECT_EQ(find_encoder("metal"), nullptr);
  EXPECT_EQ(find_encoder(""), nullptr);
}

}  // namespace
}  // namespace interlock::encode_test
