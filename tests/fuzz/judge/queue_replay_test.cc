// Replays of programs with several queues, and with the host, on the CPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "backends/registry.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/judge/replay.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/queue_order.h"
#include "simulator/report/check.h"
#include "simulator/schedules/displacements.h"
#include "tests/corpus_files.h"

namespace interlock::queue_replay_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Program run_of(const std::string& text) {
  return reference_run(parse(text, "test", every_queue()).value());
}

// The findings that a schedule shows on the CPU, and those that it does not.
struct Shown {
  size_t diverging = 0;
  std::vector<std::string> equal;
};

Shown replay_findings(const Program& run) {
  Shown shown;
  const HappensBefore order(run);
  for (const Finding& finding : check(run).findings) {
    if (finding.witness.empty()) continue;
    const Result<Schedule> schedule = schedule_of(run, order, finding.witness);
    const Result<ReplayReport> report = replay(run, *schedule, *find_backend("cpu"));
    if (report && report->diverges) {
      ++shown.diverging;
    } else {
      shown.equal.push_back(finding.headline);
    }
  }
  return shown;
}

// With opaque dispatches instead of copies: these leave other bytes wherever they find others.
Program without_copies(const Program& program) {
  constexpr std::string_view kCopy = "dispatch copy ";
  std::string text = print(program);
  for (size_t at = text.find(kCopy); at != std::string::npos; at = text.find(kCopy, at)) {
    text.replace(at, kCopy.size(), "dispatch Blit in copy ");
  }
  return run_of(text);
}

TEST(QueueReplay, ShowsEachObservableHazardOfTheCorpusInNumbers) {
  size_t diverging = 0;
  size_t puts_back_count = 0;
  for (const auto& path : corpus_files({"bugs", "queues"})) {
    SCOPED_TRACE(path);
    const Program run = reference_run(corpus_program(path));
    // A witness may do what `order=` means, and then leaves what the reference leaves.
    if (!needs_queue_order(run) || run.has_program_order) continue;
    const Shown shown = replay_findings(run);
    diverging += shown.diverging;
    // What is copied there and back is equal bytes, whichever of the two a read finds.
    if (!shown.equal.empty()) {
      puts_back_count += shown.equal.size();
      EXPECT_THAT(replay_findings(without_copies(corpus_program(path))).equal, IsEmpty());
    }
    if (path.string().ends_with(".fixed.ilk")) {
      EXPECT_EQ(shown.diverging, 0u);
    }
  }
  EXPECT_GT(diverging, 50u);
  EXPECT_EQ(puts_back_count, 1u);  // Of kompute-4e86562.
}

TEST(QueueReplay, ComparesWhatTheHostReads) {
  const Program run = run_of(R"(interlock 1
memory x 16
tensor out f32[4] at x+0
output out
make: dispatch Make writes out
look: host reads out
host idle
witness look before make
)");
  const Result<ReplayReport> report = replay(run, *find_backend("cpu"));
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_TRUE(report->diverges);
  ASSERT_EQ(report->details.size(), 2u);
  EXPECT_EQ(report->details[0], "All 4 values of out agree.");
  EXPECT_THAT(report->details[1], HasSubstr("4 of 4 values of what look (host reads) reads differ: "
                                            "number 0 is "));
}

TEST(QueueReplay, WritesTheValuesThatTheHostIsSaidToWrite) {
  const Program run = run_of(R"(interlock 1
memory x 16
tensor in f32[2] at x+0
tensor out f32[2] at x+8
output out
host writes in = values(1.5,-2)
dispatch copy reads in writes out
)");
  const Result<MemoryImage> image =
      find_backend("cpu")->run(run, reference_order_schedule(run), ExecutionMode::kWitness);
  ASSERT_TRUE(image.has_value());
  float values[2];
  std::copy_n(image->memories[0].data() + 8, 8, reinterpret_cast<uint8_t*>(values));
  EXPECT_THAT(values, ElementsAre(1.5f, -2.0f));
}

TEST(QueueReplay, RefusesAWitnessThatASemaphoreForbids) {
  const Program run = run_of(R"(interlock 1
memory x 16
memory y 16
q1: queue serial
a: dispatch Make writes x
signal s=1
wait s=1 on q1
b: dispatch Use reads x writes y on q1
witness b before a
)");
  const Result<ReplayReport> report = replay(run, *find_backend("cpu"));
  ASSERT_FALSE(report.has_value());
  EXPECT_THAT(report.error().message, HasSubstr("semaphore 's' is at 0, below 1"));
}

}  // namespace
}  // namespace interlock::queue_replay_test
