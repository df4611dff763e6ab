// Models of runtimes with several queues beside the host: what each has it wait for, and that the
// repaired ones leave nothing open.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/program/draft.h"
#include "encoder/queues/queue_encoder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/generate/generator.h"
#include "fuzz/generate/program_host.h"
#include "fuzz/generate/program_splits.h"
#include "fuzz/judge/queue_oracle.h"
#include "fuzz/testing/programs.h"
#include "simulator/facts/find_facts.h"
#include "simulator/order/reference_order.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"

namespace interlock::model_host_test {
namespace {

const std::string kHead =
    "interlock 1\nmemory a 8\nmemory b 8\nmemory c 8\nmemory u 8 unified\n"
    "tensor t f32[2]\n";

// The statements, without what declares.
std::string encoded(std::string_view encoder, const std::string& body) {
  const Program given = value_or_fail(parse(kHead + body, "test.ilk", {.reads_every_queue = true}));
  const std::string text = print(value_or_fail(find_queue_encoder(encoder)->encode(given, 0)));
  const size_t queues = text.rfind(": queue ");
  return text.substr(text.find('\n', queues) + 1);
}

constexpr const char* kBranches =
    "dispatch K writes a\ndispatch K reads a writes b\ndispatch K reads a writes c\n"
    "host reads c\ndispatch K writes a\n";

TEST(PytorchStreams, LetTheHostWaitForWhatAConflictIsWith) {
  for (const char* encoder : {"pytorch-no-record", "pytorch-record-stream"}) {
    EXPECT_EQ(encoded(encoder, kBranches),
              "dispatch K writes a on q1\nsignal s1=1 on q1\nwait s1=1 on q2\n"
              "dispatch K reads a writes b on q2\nwait s1=1 on q3\n"
              "dispatch K reads a writes c on q3\nsignal s3=1 on q3\nhost waits s3=1\n"
              "host reads c\ndispatch K writes a on q2\n")
        << encoder;
  }
}

// The allocator of pinned memory records an event of each copy; that of the device knows the stream
// of the owner alone.
TEST(PytorchStreams, OrderTheReuseOfPinnedMemoryWithoutRecordStream) {
  const std::string reuse =
      "tensor x f32[2] at b+0\ntensor y f32[2] at b+0\ndispatch K writes x\n"
      "dispatch K reads x writes c\ndispatch K writes y\n";
  const std::string waits = "wait s3=1 on q2\n";
  EXPECT_EQ(encoded("pytorch-no-record", reuse).find(waits), std::string::npos);
  EXPECT_NE(encoded("pytorch-record-stream", reuse).find(waits), std::string::npos);
  EXPECT_NE(encoded("pytorch-no-record", "host writes b\n" + reuse).find(waits), std::string::npos);
}

TEST(GgmlCudaForks, JoinTheBranchesBeforeTheHostActs) {
  const std::string branches =
      "dispatch K writes a on q1\nsignal s1=1 on q1\nwait s1=1 on q2\n"
      "dispatch K reads a writes b on q2\nsignal s2=1 on q2\nwait s1=1 on q3\n"
      "dispatch K reads a writes c on q3\n";
  EXPECT_EQ(encoded("ggml-cuda-fork-join", kBranches),
            branches +
                "signal s3=1 on q3\nhost waits s2=1\nhost waits s3=1\nhost reads c\n"
                "dispatch K writes a on q1\n");
  EXPECT_EQ(encoded("ggml-cuda-lost-join", kBranches),
            branches + "host waits s2=1\nhost reads c\ndispatch K writes a on q1\n");
}

// b takes no value of the other branch, and is written there.
TEST(GgmlCudaForks, KnowNoReuseByValuesAlone) {
  constexpr const char* kReuse =
      "dispatch K writes a\ndispatch K reads a b writes c\ndispatch K reads a writes b\n";
  EXPECT_THAT(encoded("ggml-cuda-21897", kReuse),
              testing::HasSubstr("dispatch K reads a writes b on q3\n"));
  EXPECT_THAT(encoded("ggml-cuda-fork-join", kReuse),
              testing::HasSubstr("dispatch K reads a writes b on q2\n"));
}

TEST(GgmlCudaForks, BeginAGraphAfterTheHost) {
  EXPECT_EQ(encoded("ggml-cuda-fork-join",
                    "dispatch K writes a\nhost reads a\nhost writes a\ndispatch K reads a\n"),
            "dispatch K writes a on q1\nsignal s1=1 on q1\nhost waits s1=1\nhost reads a\n"
            "host writes a\ndispatch K reads a on q1\n");
}

TEST(GgmlVulkanQueues, LetTheHostWaitForBothQueues) {
  constexpr const char* kUpload =
      "dispatch fill writes b value=1\ndispatch K writes a\nhost writes a\n"
      "dispatch fill writes a value=1\n";
  for (const char* encoder : {"ggml-vulkan-25229", "ggml-vulkan-queues"}) {
    EXPECT_EQ(encoded(encoder, kUpload),
              "dispatch fill writes b value=1 on q2\nsignal s2=1 on q2\ndispatch K writes a on q1\n"
              "signal s1=1 on q1\nhost waits s2=1\nhost waits s1=1\nhost writes a\n"
              "dispatch fill writes a value=1 on q2\n")
        << encoder;
  }
}

TEST(MlxCuda, CommitsWhereACommandBufferEnds) {
  EXPECT_EQ(encoded("mlx-cuda", "dispatch K writes a\nsplit\nsplit\ndispatch K writes a\nsplit\n"),
            "dispatch K writes a on q1\nsignal s1=1 on q1\nwait s1=1 on q2\nsignal s2=1 on q2\n"
            "wait s2=1 on q1\ndispatch K writes a on q1\nsignal s1=2 on q1\nwait s1=2 on q2\n"
            "signal s2=2 on q2\n");
}

TEST(MlxCuda, CommitsAndSynchronizesBeforeTheHostActs) {
  EXPECT_EQ(encoded("mlx-cuda-readers",
                    "dispatch K writes a\ndispatch K reads a\nhost writes a\nhost reads a\n"
                    "dispatch K reads a\n"),
            "dispatch K writes a on q1\ndispatch K reads a after 0 on q1\nsignal s1=1 on q1\n"
            "wait s1=1 on q2\nsignal s2=1 on q2\nhost waits s2=1\nhost writes a\nhost reads a\n"
            "dispatch K reads a on q1\n");
}

TEST(MlxFences, EndTheMetalEncoderBeforeTheHostActs) {
  EXPECT_EQ(encoded("mlx-fences",
                    "dispatch K writes u\nsplit\ndispatch K reads u\nhost writes u\n"
                    "dispatch K reads u\n"),
            "dispatch K writes u on q1\nsignal s1=1 on q1\nwait s1=1 on q2\n"
            "dispatch K reads u on q2\nsignal s2=1 on q2\nhost waits s1=1\nhost waits s2=1\n"
            "host writes u\ndispatch K reads u on q3\nsignal s3=1 on q3\n");
  EXPECT_EQ(encoded("mlx-fences", "dispatch K writes a\nhost reads a\n"),
            "dispatch K writes a on q1\nbarrier on q1\nsignal s1=1 on q1\nhost waits s1=1\n"
            "host reads a\n");
}

// What the host reads leaves the Metal encoder.
TEST(MlxFences, TakeNoTensorOfTheHostForATemporary) {
  const std::string donated =
      "tensor i u8[4]\ntensor o u8[4] donates i\ndispatch K writes i\nsplit\n"
      "dispatch K reads i writes o\ndispatch K reads o updates a\n";
  const std::string fence = "wait s1=1 on q2\n";
  EXPECT_EQ(encoded("mlx-fences-4099", donated).find(fence), std::string::npos);
  EXPECT_NE(encoded("mlx-fences-4099", donated + "host reads o\n").find(fence), std::string::npos);
}

TEST(Models, WaitBeforeADestroyAndNotBeforeAFree) {
  const std::string uses = "dispatch K writes t\ndispatch K reads b\n";
  const std::map<std::string_view, std::string> waits = {
      {"pytorch-no-record", "host waits s2=1\n"},
      {"ggml-cuda-lost-join", "host waits s1=1\nhost waits s2=1\n"},
      {"ggml-vulkan-25229", "host waits s1=1\n"},
      {"mlx-cuda", "host waits s2=1\n"},
      {"mlx-fences-2026", "host waits s1=1\n"}};
  for (const auto& [encoder, expected] : waits) {
    const std::string destroyed = encoded(encoder, uses + "destroy t\n");
    EXPECT_TRUE(destroyed.ends_with(expected + "destroy t\n")) << encoder << "\n" << destroyed;
    const std::string freed = encoded(encoder, uses + "free t\n");
    EXPECT_EQ(freed.find("host waits"), std::string::npos) << encoder;
    EXPECT_NE(freed.find("free t\n"), std::string::npos) << encoder;
  }
}

bool is_of_host(const Program& program, const Fact& fact) {
  const auto* const hazard = std::get_if<Hazard>(&fact);
  return hazard != nullptr && program.dispatch(hazard->second.dispatch).host != HostAccess::kNone;
}

struct ModelCounts {
  uint64_t host_wait_count = 0;
  uint64_t hazard_count = 0;
  uint64_t host_hazard_count = 0;
};

// Judged by clocks, by a search for paths, and by what is under way where values end.
void judge(const QueueEncoderEntry& entry, const Program& program, ModelCounts& counts) {
  ASSERT_TRUE(find_reference_order(program).is_text_order) << print(program);
  bool has_hazard = false;
  for (const Fact& fact : find_facts(program).facts) {
    ASSERT_NE(kind_of(fact), FindingKind::kUseAfterFree) << entry.name << "\n" << print(program);
    has_hazard |= is_hazard(kind_of(fact));
    counts.host_hazard_count += is_of_host(program, fact);
  }
  ASSERT_EQ(has_hazard, has_unordered_conflict(program)) << entry.name << "\n" << print(program);
  ASSERT_TRUE(entry.is_broken || !has_hazard) << entry.name << "\n" << print(program);
  counts.hazard_count += has_hazard;
  counts.host_wait_count += static_cast<uint64_t>(
      std::ranges::count(program.syncs, SyncKind::kHostWaits, &SyncStep::kind));
}

TEST(Models, AreOrderedBesideTheHostWhereTheyAreRepaired) {
  std::vector<QueueEncoderEntry> models;
  for (const QueueEncoderEntry& entry : queue_encoder_registry()) {
    if (!entry.places_fewest) models.push_back(entry);
  }
  ASSERT_EQ(models.size(), 13u);  // And `events`, which is ours.
  SeededChoice choice(195);
  const int count = share_count(2000, 3);
  std::map<std::string_view, ModelCounts> counts;
  for (int i = 0; i < count && !HasFatalFailure(); ++i) {
    const QueueEncoderEntry& entry = models[static_cast<size_t>(i) % models.size()];
    GeneratorOptions options;
    options.has_barriers = false;
    options.gives_roots_own_memories = choice.chance(1, 2);
    ProgramDraft draft = generate(choice, options);
    give_splits(draft, choice);
    give_host_work(draft, choice);
    const Program given = value_or_fail(build(draft));
    const auto queue_count =
        entry.takes_queue_count ? static_cast<uint32_t>(2 + choice.below(4)) : 0;
    const Program program = value_or_fail(entry.encode(given, queue_count));
    judge(entry, program, counts[entry.name]);
  }
  if (is_slow_build()) return;
  for (const QueueEncoderEntry& entry : models) {
    EXPECT_GT(counts[entry.name].host_wait_count, 30u) << entry.name;
    EXPECT_EQ(counts[entry.name].hazard_count > 0, entry.is_broken) << entry.name;
    EXPECT_EQ(counts[entry.name].host_hazard_count > 0, entry.name == "ggml-cuda-lost-join")
        << entry.name;
  }
}

}  // namespace
}  // namespace interlock::model_host_test
