// What chains say of which sync of several queues and of the host can go, against a check without
// it. Fixed seeds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/barriers/queue_cuts.h"
#include "simulator/barriers/sync_redundancy.h"
#include "simulator/chains/chain_hazards.h"
#include "simulator/order/reference_order.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/queue_texts.h"
#include "tests/simulator/programs/random_queue_programs.h"

namespace interlock::queue_needs_test {
namespace {

// Bytes that go from the host to a device, from there to others, and back, some of them more than
// once: each by sync of a sort that is drawn, and now and then without it.
class Transfers {
 public:
  explicit Transfers(uint64_t seed) : choice_(seed) {}

  std::string text() {
    text_ = "interlock 1\nmemory m 12\nmemory n 12 noncoherent=4\nmemory u 12 unified\n";
    queue_count_ = 1 + choice_.below(3);
    constexpr std::string_view kKinds[] = {"concurrent", "concurrent", "serial", "serial blocking",
                                           "legacy-default"};
    for (uint64_t q = 0; q < queue_count_; ++q) {
      line("q{}: queue {}", q, one_of(kKinds));
      uses_bits_.push_back(has(1, 4));
      values_.push_back(0);
    }
    for (uint64_t left = 1 + choice_.below(4); left > 0; --left) {
      const uint64_t begin = choice_.below(9);
      const uint64_t size = 1 + choice_.below(3);
      memory_ = one_of(std::array<std::string_view, 3>{"m", "n", "u"});
      bytes_ = fmt::format("{}[{}:{}]", memory_, begin, begin + size);
      queue_ = choice_.below(queue_count_);
      add_noise();
      has(1, 2) ? from_host() : from_device();
    }
    return text_;
  }

 private:
  template <typename Words>
  std::string_view one_of(const Words& words) {
    return words[choice_.below(std::size(words))];
  }
  bool has(uint64_t numerator, uint64_t denominator) {
    return choice_.chance(numerator, denominator);
  }
  template <typename... Parts>
  void line(fmt::format_string<const Parts&...> form, const Parts&... parts) {
    text_ += fmt::format(form, parts...) + "\n";
  }
  // Sync, which is left out now and then.
  template <typename... Parts>
  void sync(fmt::format_string<const Parts&...> form, const Parts&... parts) {
    if (has(11, 12)) line(form, parts...);
    add_noise();
  }

  // All bytes, or those that are about to be accessed, or others.
  std::string operand() {
    if (has(1, 2)) return "";
    if (has(2, 3)) return " " + bytes_ + (has(1, 4) ? " m[0:4]" : "");
    return fmt::format(" {}[0:{}]", memory_, 1 + choice_.below(12));
  }
  std::string dependency(std::string_view source, std::string_view destination) {
    if (has(1, 4)) return has(1, 4) ? " execution" : "";
    const std::string_view wide = has(1, 4) ? "all.read|all.write" : source;
    std::string text = fmt::format(" {}{} -> {}{}{}", wide, has(1, 4) ? "|copy.write" : "",
                                   destination, has(1, 4) ? "|copy.read" : "", operand());
    if (has(1, 4)) text += fmt::format(", {} -> copy{}", source, operand());
    return text;
  }

  void move(std::string_view word) {
    if (memory_ != "n" || has(1, 12)) return;
    line("host {} {}{}", word, has(1, 4) ? "n" : bytes_, has(1, 4) ? " n[0:4]" : "");
  }

  void access_on(uint64_t queue) {
    const bool reads = has(2, 3);
    const bool writes = !reads || has(1, 3);
    line("dispatch Work{}{} on q{}", reads ? " reads " + bytes_ : "",
         writes ? " writes " + bytes_ : "", queue);
  }

  std::string signal() { return fmt::format("s{}={}", queue_, ++values_[queue_]); }
  std::string_view stages() {
    constexpr std::string_view kStages[] = {"", "", " compute", " compute|copy", " all"};
    return one_of(kStages);
  }

  void from_host() {
    line("host writes {}", bytes_);
    move("flushes");
    if (has(1, 4)) {
      sync("host signals h={}", ++host_value_);
      sync("wait h={} on q{}", host_value_, queue_);
    }
    if (has(1, 4)) sync("barrier{} on q{}", dependency("host.write", "compute.read"), queue_);
    access_on(queue_);
    if (has(1, 2)) between();
  }

  void from_device() {
    line("dispatch Make writes {} on q{}", bytes_, queue_);
    has(2, 3) ? to_host() : between();
  }

  void to_host() {
    if (has(2, 3)) {
      sync("barrier{} on q{}", dependency("compute.write", "host.read|host.write"), queue_);
    }
    if (has(1, 3)) {
      sync("host idle{}", has(1, 2) ? fmt::format(" on q{}", queue_) : "");
    } else {
      const std::string_view after = stages();
      sync("signal {}{}{} on q{}", signal(), after.empty() ? "" : " after", after, queue_);
      sync("host waits s{}={}", queue_, values_[queue_]);
    }
    move("invalidates");
    line("host {} {}", has(2, 3) ? "reads" : "writes", bytes_);
  }

  // From a dispatch on `queue_` to another one.
  void between() {
    const uint64_t sort = choice_.below(4);
    uint64_t to = queue_;
    if (sort == 0) {
      const uint64_t event = event_count_++;
      line("set e{}{} on q{}", event, dependency("compute.write", "compute.read|compute.write"),
           queue_);
      add_noise();
      line("await e{} on q{}", event, queue_);
      if (has(1, 5)) line("await e{} on q{}", event, queue_);
    } else if (sort == 1) {
      sync("barrier{} on q{}", dependency("compute.write", "compute.read|compute.write"), queue_);
    } else {
      to = choice_.below(queue_count_);
      const bool is_binary = uses_bits_[queue_] && has(1, 2);
      const std::string_view after = stages();
      const std::string use = is_binary ? fmt::format("b{}", ++bit_count_) : signal();
      // Each once: sync that orders the uses of a bit is judged by removal.
      if (is_binary) line("{}: semaphore binary", use);
      line("signal {}{}{} on q{}", use, after.empty() ? "" : " after", after, queue_);
      add_noise();
      const std::string_view before = stages();
      line("wait {}{}{} on q{}", use, before.empty() ? "" : " before", before, to);
    }
    access_on(to);
  }

  void add_noise() {
    if (has(2, 3)) return;
    const uint64_t queue = choice_.below(queue_count_);
    const uint64_t sort = choice_.below(6);
    if (sort == 0) line("host idle");
    if (sort == 1) line("host {} n", has(1, 2) ? "flushes" : "invalidates");
    if (sort == 2) line("barrier{} on q{}", dependency("all.write", "all"), queue);
    if (sort == 3) line("submit on q{}", queue);
    if (sort == 4) line("signal s{}={} on q{}", queue, ++values_[queue], queue);
    if (sort == 5 && values_[queue] > 0) {
      line("host waits s{}={}", queue, 1 + choice_.below(values_[queue]));
    }
  }

  SeededChoice choice_;
  std::string text_;
  uint64_t queue_count_ = 0;
  std::vector<bool> uses_bits_;  // By queue: some of its semaphores are binary.
  uint64_t bit_count_ = 0;
  std::vector<uint64_t> values_;  // By queue: of its semaphore.
  uint64_t host_value_ = 0;
  uint64_t event_count_ = 0;
  // Of the transfer.
  std::string_view memory_;
  std::string bytes_;
  uint64_t queue_ = 0;
};

std::vector<std::string> descriptions_of(const Program& program,
                                         const std::vector<SyncPiece>& pieces) {
  std::vector<std::string> descriptions;
  for (const SyncPiece& piece : pieces) descriptions.push_back(description_of(program, piece));
  return descriptions;
}

// What was judged, by kind of piece.
struct Verdicts {
  int programs = 0;
  std::array<int, 13> can_go = {};
  std::array<int, 13> is_needed = {};
};

// Where chains can be asked.
void compare(const Program& program, Verdicts& verdicts) {
  if (!QueueCuts::can_judge(program) || !find_reference_order(program).is_text_order) return;
  const auto hazards = chain_hazards_of(program);
  if (!hazards) return;
  const SyncRedundancy alone =
      find_redundant_sync(program, {.alone_max = SIZE_MAX, .asks_chains = false});
  const SyncRedundancy by_chains = find_redundant_sync(program, {.alone_max = 0});
  ASSERT_EQ(descriptions_of(program, alone.redundant),
            descriptions_of(program, by_chains.redundant));
  ASSERT_EQ(alone.redundant, by_chains.redundant);
  ASSERT_EQ(by_chains.unjudged_count, 0);
  ++verdicts.programs;
  for (const SyncPiece& piece : sync_pieces_of(program)) {
    const bool goes = std::ranges::find(alone.redundant, piece) != alone.redundant.end();
    ++(goes ? verdicts.can_go : verdicts.is_needed)[static_cast<size_t>(piece.kind)];
  }
}

TEST(FindQueueNeeds, SaysOfTransfersWhatTheRemovalOfEachSays) {
  const int count = proof_count(100'000, 600, 24);
  Verdicts verdicts;
  for (int seed = 0; seed < count; ++seed) {
    const std::string text = Transfers(static_cast<uint64_t>(seed)).text();
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    const std::optional<Program> program = parse_queues(text);
    if (!program) continue;
    compare(*program, verdicts);
    if (HasFailure()) return;
  }
  EXPECT_GT(verdicts.programs, count / 5);
  // Few programs do not have all kinds.
  for (size_t kind = 0; kind < verdicts.can_go.size() && !is_slow_build(); ++kind) {
    const auto named = static_cast<SyncPieceKind>(kind);
    if (named == SyncPieceKind::kEdge) continue;
    EXPECT_GT(verdicts.can_go[kind], count / 500) << word_of(named);
    // Of a signal without a wait nothing is.
    if (named == SyncPieceKind::kSignal) continue;
    EXPECT_GT(verdicts.is_needed[kind], count / 500) << word_of(named);
  }
  print_proof(count, "sync with the host and with events that can go, one by one and by chains");
}

TEST(FindQueueNeeds, SaysOfRandomProgramsWhatTheRemovalOfEachSays) {
  const int count = proof_count(100'000, 1000, 13);
  Verdicts verdicts;
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const std::string text = random_queue_program(
        choice, {.queue_count_max = 3, .dispatch_count_max = 4, .sync_count_max = 16});
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    const std::optional<Program> program = parse_queues(text);
    if (!program) continue;
    compare(*program, verdicts);
    if (HasFailure()) return;
  }
  EXPECT_GT(verdicts.programs, count / 40);
  print_proof(count, "sync of all that chains can judge that can go, one by one and by chains");
}

// Both conflicts begin before both barriers, and one of them does not stand for the other.
TEST(FindQueueNeeds, AsksOfBytesThatOperandsTellApartOneByOne) {
  const Program program = program_with_queues(
      "interlock 1\nmemory x 64\nmemory y 64\nmemory z 64\nq1: queue concurrent\n"
      "dispatch Make writes x on q1\ndispatch Make writes y on q1\n"
      "barrier compute.write -> compute.read x on q1\n"
      "barrier compute.write -> compute.read y on q1\n"
      "dispatch Use reads x writes z[0:32] on q1\ndispatch Use reads y writes z[32:64] on q1\n");
  ASSERT_TRUE(QueueCuts::can_judge(program));
  EXPECT_TRUE(find_redundant_sync(program, {.alone_max = 0}).redundant.empty());
}

// Frames that the host feeds and reads back, four of them under way: each piece left out by itself,
// or many at once, takes checks of all of it.
TEST(FindQueueNeeds, TakesWorkThatIsLinearInTheFrames) {
  for (const int frame_count : {32, is_slow_build() ? 48 : 128}) {
    std::string text =
        "interlock 1\nmemory up 256 noncoherent=64\nmemory down 256\nmemory work 512\n"
        "q1: queue concurrent\nq2: queue concurrent\n";
    for (int frame = 0; frame < frame_count; ++frame) {
      const auto slot = [&](std::string_view memory, int bytes) {
        const int begin = frame % 4 * bytes;
        return fmt::format("{}[{}:{}]", memory, begin, begin + bytes);
      };
      if (frame >= 4) {
        text += fmt::format("host waits b={}\nhost reads {}\n", frame - 3, slot("down", 64));
      }
      const std::string work = slot("work", 128);
      text += fmt::format("host writes {0}\nhost flushes {0}\n", slot("up", 64));
      text += fmt::format("dispatch Work reads {} writes {} on q1\n", slot("up", 64), work);
      text += fmt::format("set e compute.write -> compute.read|compute.write {} on q1\n", work);
      text += fmt::format("await e on q1\ndispatch Work updates {} on q1\n", work);
      text += fmt::format("signal a={0} on q1\nwait a={0} on q2\n", frame + 1);
      text += fmt::format("dispatch Work reads {} writes {} on q2\n", work, slot("down", 64));
      text += fmt::format("barrier compute.write -> host.read {} on q2\n", slot("down", 64));
      text += fmt::format("signal b={} on q2\n", frame + 1);
    }
    const Program program = program_with_queues(text);
    const uint64_t work_limit = 300 * program.statements.size();
    const SyncRedundancy by_chains = find_redundant_sync(program, {.work_limit = work_limit});
    EXPECT_EQ(by_chains.unjudged_count, 0);
    EXPECT_GT(by_chains.redundant.size(), 0);
    const SyncRedundancy by_removal =
        find_redundant_sync(program, {.work_limit = work_limit, .asks_chains = false});
    EXPECT_GT(by_removal.unjudged_count, 0);
  }
}

}  // namespace
}  // namespace interlock::queue_needs_test
