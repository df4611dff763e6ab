// How few waits add no order where some queues execute nothing, and beside the host.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "encoder/queues/queue_encoder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/testing/programs.h"
#include "simulator/barriers/wait_bounds.h"
#include "simulator/barriers/wait_certificate.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/reference_order.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/judges/wait_placements.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock::wait_queues_test {
namespace {

using testing::HasSubstr;

Program parsed(const std::string& text) {
  ParseOptions options;
  options.reads_every_queue = true;
  return value_or_fail(parse(text, "test.ilk", options));
}

std::string text_of_bounds(const std::string& body) {
  const Program program = reference_run(parsed(
      "interlock 1\nmemory m 8\nx: queue serial\ny: queue serial\nz: queue serial\n" + body));
  const std::optional<WaitBounds> bounds = find_wait_bounds(program);
  if (!bounds) return "nothing";
  EXPECT_EQ(prove(program, bounds->certificate).defect, "") << body;
  return text_of(*bounds);
}

// Each of the six has work of its own, behind what it made or before what it reads, that no other
// comes before or after: no place to stop at. A queue without work is one, and 6 waits do.
std::string nine_pairs_apart(bool has_relay) {
  std::string text = "interlock 1\nmemory m 12\nmemory n 24\nr: queue serial\n";
  for (int i = 0; i < 6; ++i) text += fmt::format("q{}: queue serial\n", i);
  for (int i = 0; i < 3; ++i) {
    text += fmt::format(
        "dispatch K writes m[{}:{}] on q{}\nsignal s{}=1 on q{}\ndispatch K writes n[{}:{}] on "
        "q{}\n",
        4 * i, 4 * i + 4, i, i, i, 4 * i, 4 * i + 4, i);
    if (has_relay) text += fmt::format("wait s{}=1 on r\n", i);
  }
  if (has_relay) text += "signal r=1 on r\n";
  for (int i = 3; i < 6; ++i) {
    text += fmt::format("dispatch K writes n[{}:{}] on q{}\n", 4 * i, 4 * i + 4, i);
    if (has_relay) text += fmt::format("wait r=1 on q{}\n", i);
    for (int k = 0; k < 3 && !has_relay; ++k) text += fmt::format("wait s{}=1 on q{}\n", k, i);
    text += fmt::format("dispatch K reads m on q{}\n", i);
  }
  return text;
}

TEST(WaitBounds, AreOfTheQueuesThatHaveDispatches) {
  const std::optional<WaitBounds> apart = find_wait_bounds(parsed(nine_pairs_apart(false)));
  ASSERT_TRUE(apart.has_value());
  EXPECT_EQ(apart->fewest(), 9u);
  EXPECT_EQ(text_of(*apart), "9 waits, the fewest on these queues that add no order; certified.");
  const std::optional<WaitBounds> passed = find_wait_bounds(parsed(nine_pairs_apart(true)));
  ASSERT_TRUE(passed.has_value());
  EXPECT_TRUE(passed->certificate.is_of_all_queues);
  EXPECT_EQ(text_of(*passed),
            "6 waits; to add no order takes 5 at least on any queues, certified.");
  WaitCertificate wrong = passed->certificate;
  wrong.waits = apart->certificate.waits;
  EXPECT_THAT(prove(parsed(nine_pairs_apart(true)), wrong).defect,
              HasSubstr("can be passed on by a queue without a dispatch"));
}

// Encoded, with one wait that goes by way of a queue that executes nothing.
std::string by_way_of_another(const Program& encoded) {
  std::string text;
  for (const std::string& line : text_lines_of(print(encoded))) {
    const size_t on = line.find(" on ");
    const bool is_wait = line.starts_with("wait ") && on != std::string::npos;
    if (!is_wait || text.find("relay=1") != std::string::npos) {
      text += line + "\n";
      if (text.ends_with("interlock 1\n")) text += "r: queue serial\n";
      continue;
    }
    text +=
        line.substr(0, on) + " on r\nsignal relay=1 on r\nwait relay=1" + line.substr(on) + "\n";
  }
  return text;
}

std::string random_dispatches(Choice& choice) {
  std::string text = "interlock 1\nmemory m 3\na: queue serial\nb: queue serial\nc: queue serial\n";
  for (uint64_t i = 0, end = 3 + choice.below(3); i < end; ++i) {
    const uint64_t begin = choice.below(3);
    text += fmt::format("dispatch K {} m[{}:{}] on {}\n", choice.chance(1, 2) ? "reads" : "writes",
                        begin, begin + 1 + choice.below(3 - begin),
                        static_cast<char>('a' + choice.below(3)));
  }
  return text;
}

// Whatever queues there are besides: no placement has fewer than is certified.
TEST(WaitBounds, OfAllQueuesAreFewerThanAllPlacementsHave) {
  SeededChoice choice(177);
  const int count = program_count(300, 10);
  int said_count = 0;
  int met_count = 0;
  for (int i = 0; i < count; ++i) {
    const Result<Program> encoded =
        find_queue_encoder("semaphores")->encode(parsed(random_dispatches(choice)), 0);
    if (!encoded) continue;  // Fewer than two queues are used.
    const PlacementTask task = placement_task_of(*encoded);
    const uint64_t apart = crossing_count_of(task);
    if (apart == 0 || apart > 3) continue;
    const Program program = parsed(by_way_of_another(*encoded));
    const std::optional<WaitBounds> bounds = find_wait_bounds(program);
    ASSERT_TRUE(bounds.has_value()) << print(program);
    ASSERT_TRUE(bounds->certificate.is_of_all_queues);
    ASSERT_EQ(prove(program, bounds->certificate).defect, "");
    ASSERT_EQ(bounds->fewest_apart(), apart);
    ASSERT_EQ(bounds->wait_count, apart + 1);
    const uint64_t fewest = fewest_waits_by_trial(task, apart, true, 1).value_or(apart);
    ASSERT_GE(fewest, bounds->fewest()) << print(program);
    ++said_count;
    met_count += fewest == bounds->fewest() ? 1 : 0;
  }
  if (is_slow_build()) return;
  EXPECT_GT(said_count, count / 4);
  EXPECT_GT(met_count, said_count / 2);
}

// What the host does around them, and where values end, asks for no other waits of queues.
TEST(WaitBounds, AreTheSameBesideTheHost) {
  SeededChoice choice(178);
  const int count = program_count(300);
  int said_count = 0;
  for (int i = 0; i < count; ++i) {
    const Result<Program> encoded =
        find_queue_encoder("semaphores")->encode(parsed(random_dispatches(choice)), 0);
    if (!encoded) continue;
    std::string text;
    for (const std::string& line : text_lines_of(print(*encoded))) {
      const bool is_first =
          line.starts_with("dispatch") && text.find("dispatch") == std::string::npos;
      if (is_first) {
        text +=
            "host writes m\nhost signals go=1\nwait go=1" + line.substr(line.find(" on ")) + "\n";
      }
      text += line + "\n";
      if (line == "memory m 3") text += "tensor t u8[1] at m+0\n";
    }
    text += "host idle\nhost reads m\ndestroy t\n";
    const Program program = parsed(text);
    const std::optional<WaitBounds> plain = find_wait_bounds(*encoded);
    const std::optional<WaitBounds> beside = find_wait_bounds(program);
    ASSERT_EQ(plain.has_value(), beside.has_value()) << text;
    if (!plain) continue;
    ASSERT_EQ(prove(program, beside->certificate).defect, "");
    ASSERT_EQ(text_of(*beside), text_of(*plain)) << text;
    ++said_count;
  }
  EXPECT_GT(said_count, count / 4);
}

// The clocks say whether it does, wherever the host waits.
TEST(WaitBounds, AreSaidWhereTheHostAddsNoOrder) {
  SeededChoice choice(179);
  const int count = program_count(1000);
  int said_count = 0;
  int unsaid_count = 0;
  for (int i = 0; i < count; ++i) {
    const Result<Program> encoded =
        find_queue_encoder("semaphores")->encode(parsed(random_dispatches(choice)), 0);
    if (!encoded) continue;
    const std::vector<std::string> lines = text_lines_of(print(*encoded));
    const bool has_signal = print(*encoded).find("signal s1=1") != std::string::npos;
    std::string text;
    for (const std::string& line : lines) {
      text += line + "\n";
      if (line == "memory m 3") text += "relay: queue serial\n";
      if (text.find("dispatch") == std::string::npos || !choice.chance(1, 6)) continue;
      const bool is_relayed =
          text.find("host waits r=1") == std::string::npos && choice.chance(1, 3);
      if (has_signal && is_relayed) {
        text += "wait s1=1 on relay\nsignal r=1 on relay\nhost waits r=1\n";
      } else {
        text += has_signal && choice.chance(1, 2) ? "host waits s1=1\n" : "host idle\n";
      }
    }
    const Program given = parsed(text);
    if (!find_reference_order(given).cycle.empty()) continue;
    const Program run = reference_run(given);
    const bool is_said = find_wait_bounds(run).has_value();
    const PlacementTask task = placement_task_of(run);
    const HappensBefore order(run);
    bool adds_order = false;
    for (size_t b = 0; b < run.dispatches.size(); ++b) {
      for (size_t a = 0; a < b; ++a) {
        adds_order |= order.executes_before(DispatchId(a), DispatchId(b)) && !task.is_before[a][b];
      }
    }
    ASSERT_FALSE(is_said && adds_order) << text;
    said_count += is_said && !run.syncs.empty() ? 1 : 0;
    unsaid_count += is_said ? 0 : 1;
  }
  if (is_slow_build()) return;
  EXPECT_GT(said_count, count / 4);
  EXPECT_GT(unsaid_count, count / 10);
}

TEST(WaitBounds, AreNotSaidWhereTheHostPassesOn) {
  const std::string made = "dispatch A writes m on x\nsignal s=1 on x\n";
  const std::string held = "wait t=1 on y\ndispatch B reads m on y\n";
  EXPECT_EQ(text_of_bounds(made + "host waits s=1\ndispatch B reads m on y\n"), "nothing");
  EXPECT_EQ(text_of_bounds(held + made + "host waits s=1\nhost signals t=1\n"), "nothing");
  EXPECT_EQ(text_of_bounds(held + made + "host waits s=1\nsignal t=1 on z\n"), "nothing");
  // By way of a queue on which no dispatch comes after its wait, so that the wait is none that
  // counts.
  const std::string relayed = "w: queue serial\n" + made + "wait s=1 on z\nsignal t=1 on z\n";
  EXPECT_EQ(text_of_bounds(relayed + "host waits t=1\ndispatch B reads m on y\n"), "nothing");
  EXPECT_EQ(text_of_bounds(relayed + "host waits t=1\ndispatch B reads m on y\nwait s=1 on w\n"
                                     "dispatch C reads m on w\n"),
            "nothing");
  EXPECT_EQ(text_of_bounds(relayed + "wait t=1 on w\nsignal u=1 on w\nhost waits u=1\n"
                                     "dispatch B reads m on y\n"),
            "nothing");
  // It was submitted before.
  EXPECT_EQ(text_of_bounds("wait s=1 on y\ndispatch B reads m on y\n" + made + "host waits s=1\n"),
            "1 wait, the fewest on these queues that add no order; certified.");
}

// What waits for what is drawn, and signals that to who presents it, or to a queue that does
// nothing more, is not there for any dispatch.
TEST(WaitBounds, CountNoWaitForWhatComesAfterTheText) {
  EXPECT_EQ(text_of_bounds("p: semaphore binary\ndispatch A writes m on x\nsignal s=1 on x\n"
                           "wait s=1 on z\nsignal p on z\n"),
            "");
  EXPECT_EQ(text_of_bounds("dispatch A writes m on x\nsignal s=1 on x\nwait s=1 on z\n"
                           "signal t=1 on z\nwait t=1 on y\nsignal u=1 on y\n"),
            "");
  EXPECT_EQ(text_of_bounds("dispatch A writes m on x\nsignal s=1 on x\nwait s=1 on y\n"
                           "dispatch B reads m on y\nwait s=1 on z\nsignal t=1 on z\n"),
            "1 wait, the fewest on these queues that add no order; certified.");
}

}  // namespace
}  // namespace interlock::wait_queues_test
