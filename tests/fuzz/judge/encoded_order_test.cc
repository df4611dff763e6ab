// Encoders for several queues are given what the sync of a program orders, not what its text has
// first: what they make computes the same as the program did.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backends/registry.h"
#include "encoder/queues/queue_encoder.h"
#include "encoder/text/printer.h"
#include "fuzz/judge/queue_oracle.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/reference_order.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock::encoded_order_test {
namespace {

using testing::HasSubstr;

constexpr std::string_view kMemories =
    "interlock 1\nmemory x 64\nmemory y 64\nmemory z 64\n"
    "a: queue serial\nb: queue serial\nc: queue serial\n";

Program program_of_queues(std::string_view body) {
  return program_with_queues(std::string(kMemories) + std::string(body));
}

// What the reference run leaves in memory, and what its host reads.
uint64_t digest_of(const Program& program) {
  const Program run = reference_run(program);
  const auto image =
      find_backend("cpu")->run(run, reference_order_schedule(run), ExecutionMode::kWitness);
  if (!image) {
    ADD_FAILURE() << image.error().message << "\n" << print(program);
    return 0;
  }
  return output_digest(run, *image);
}

// Statements of three queues and the host, with sync among them, put into a text that keeps the
// order of each of the four and no other: so waits stand before their signals, statements before
// the host's that they come after, and some texts have no run at all. Everything has a label, as
// what an opaque dispatch writes hangs on its name.
std::string random_text(Choice& choice) {
  constexpr uint64_t kHost = 3;
  constexpr std::string_view kQueues = "abc";
  constexpr std::string_view kNames = "xyz";
  std::vector<std::vector<std::string>> lines(4);
  std::vector<uint64_t> values(3, 0);
  const bool has_host = choice.chance(1, 2);
  const auto memory = [&] { return kNames[choice.below(3)]; };
  const uint64_t count = 3 + choice.below(6);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t owner = has_host && choice.chance(1, 4) ? kHost : choice.below(3);
    const uint64_t other = choice.below(3);
    if (other != owner && choice.chance(2, 3)) {
      const std::string point = fmt::format("s{}={}", other, ++values[other]);
      lines[other].push_back(fmt::format("signal {} on {}", point, kQueues[other]));
      lines[owner].push_back(owner == kHost ? "host waits " + point
                                            : fmt::format("wait {} on {}", point, kQueues[owner]));
    }
    if (owner == kHost) {
      lines[owner].push_back(
          fmt::format("h{}: host {} {}", i, choice.chance(1, 3) ? "reads" : "writes", memory()));
    } else {
      lines[owner].push_back(fmt::format("d{}: dispatch K reads {} writes {} on {}", i, memory(),
                                         memory(), kQueues[owner]));
    }
    if (has_host && choice.chance(1, 4)) {
      lines[kHost].push_back(fmt::format("submit on {}", kQueues[choice.below(3)]));
    }
  }
  std::string text(kMemories);
  std::vector<size_t> next(4, 0);
  for (;;) {
    std::vector<size_t> left;
    for (size_t owner = 0; owner < 4; ++owner) {
      if (next[owner] < lines[owner].size()) left.push_back(owner);
    }
    if (left.empty()) return text;
    const size_t owner = left[choice.below(left.size())];
    text += lines[owner][next[owner]++] + "\n";
  }
}

// Most programs are reordered, so that an encoder that takes the order of the text is caught at
// once: of the first hundred, by dozens.
TEST(EncodedOrder, ComputesWhatTheProgramComputes) {
  const int count = proof_count(2'000, 500);
  int reordered_count = 0;
  int deadlock_count = 0;
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const std::string text = random_text(choice);
    const auto program = parse_queues(text);
    ASSERT_TRUE(program) << text;
    const ReferenceOrder order = find_reference_order(*program);
    reordered_count += !order.is_text_order;
    deadlock_count += !order.cycle.empty();
    const uint64_t digest = order.cycle.empty() ? digest_of(*program) : 0;
    for (const QueueEncoderEntry& encoder : queue_encoder_registry()) {
      if (encoder.is_broken) continue;
      const auto encoded = encode_in_run_order(*program, encoder, 0);
      ASSERT_EQ(encoded.has_value(), order.cycle.empty()) << encoder.name << "\n" << text;
      if (!encoded) {
        EXPECT_THAT(encoded.error().message, HasSubstr("the program has a deadlock"));
        continue;
      }
      ASSERT_EQ(digest_of(encoded->program), digest) << encoder.name << "\n"
                                                     << text << print(encoded->program);
    }
  }
  EXPECT_GT(reordered_count, count / 4);
  EXPECT_GE(deadlock_count, is_slow_build() ? 0 : 1);
  print_proof(count, "encoders for several queues keep what the reference run computes");
}

// The smallest of each sort, so that a failure says what it is about.
TEST(EncodedOrder, IsThatOfTheRun) {
  const std::string_view wait_first =
      "wait e=1 on b\nuse: dispatch copy reads x writes y on b\n"
      "make: dispatch fill writes x value=7 on a\nsignal e=1 on a\n";
  const std::string_view submit_late =
      "use: dispatch Use reads x writes y on a\nfill: host writes x\nsubmit on a\n";
  for (const QueueEncoderEntry& encoder : queue_encoder_registry()) {
    if (encoder.is_broken) continue;
    for (const std::string_view body : {wait_first, submit_late}) {
      const Program program = program_of_queues(body);
      const auto encoded = encode_in_run_order(program, encoder, 0);
      ASSERT_TRUE(encoded) << encoder.name << ": " << encoded.error().message;
      EXPECT_EQ(digest_of(encoded->program), digest_of(program)) << encoder.name << "\n"
                                                                 << print(encoded->program);
    }
  }
}

TEST(EncodedOrder, KeepsWhatOrderSays) {
  const Program program = program_of_queues(
      "wait e=1 on b\nuse: dispatch Use order=1 reads x writes y on b\n"
      "make: dispatch Make order=0 writes x on a\nsignal e=1 on a\n");
  for (const QueueEncoderEntry& encoder : queue_encoder_registry()) {
    if (encoder.is_broken) continue;
    const QueueReport report = judge_on_queues(program, encoder, 0);
    EXPECT_TRUE(report.facts.empty()) << encoder.name << "\n" << print(report.program);
    EXPECT_THAT(print(report.program), HasSubstr("use: dispatch Use order=1 reads"));
  }
}

}  // namespace
}  // namespace interlock::encoded_order_test
