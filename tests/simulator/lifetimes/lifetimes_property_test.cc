// Lifetimes against the ledger of bytes: the same findings on random programs; what issue order
// says of all schedules (T1); and planted faults, each of which the ledger must contradict.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "encoder/kernel/kernel_table.h"
#include "encoder/text/printer.h"
#include "simulator/hazards/hazard_pairs.h"
#include "simulator/hazards/hazards.h"
#include "simulator/lifetimes/lifetimes.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/queue_order.h"
#include "simulator/order/reference_order.h"
#include "simulator/report/operand_text.h"
#include "tests/corpus_files.h"
#include "tests/program_count.h"
#include "tests/simulator/judges/value_ledger.h"
#include "tests/simulator/programs/queue_texts.h"
#include "tests/simulator/programs/random_lifetime_programs.h"

namespace interlock::lifetimes_property_test {
namespace {

auto key_of(const LifetimeFinding& f) {
  return std::tuple(f.kind, f.reader, f.tensor, f.found, f.overwriter, f.ended_by, f.ended_at,
                    f.is_pending, f.memory, f.bytes.begin, f.bytes.end);
}

auto keys_of(const std::vector<LifetimeFinding>& findings) {
  std::set<decltype(key_of(findings[0]))> keys;
  for (const LifetimeFinding& finding : findings) keys.insert(key_of(finding));
  return keys;
}

TEST(LifetimesProperty, AgreeWithTheLedgerOnRandomPrograms) {
  const int count = share_count(40'000, 3, 120);
  int kind_counts[3] = {};
  int pending_count = 0;
  int clean_count = 0;
  for (int i = 0; i < count; ++i) {
    SeededChoice choice(static_cast<uint64_t>(i));
    RandomLifetimeOptions options;
    options.statement_count_max = 4 + choice.below(12);
    const Program program = random_lifetime_program(choice, options);
    const std::vector<LifetimeFinding> found = check_lifetimes(program).findings;
    const std::vector<LifetimeFinding> expected = findings_by_ledger(program);
    ASSERT_EQ(keys_of(found), keys_of(expected)) << "seed " << i << "\n" << print(program);
    ASSERT_EQ(found.size(), expected.size()) << "seed " << i << "\n" << print(program);
    clean_count += found.empty();
    for (const LifetimeFinding& finding : found) {
      ++kind_counts[static_cast<int>(finding.kind) - static_cast<int>(FindingKind::kClobber)];
      pending_count += finding.is_pending;
    }
  }
  // Each kind must occur often, or nothing was compared.
  EXPECT_GE(clean_count, count / 20);
  for (const int kind_count : kind_counts) EXPECT_GE(kind_count, count / 20);
  EXPECT_GE(pending_count, count / 100);
}

TensorId root_of(const Program& program, AccessRef ref) {
  return program.tensor(access_of(program, ref).tensor).root;
}

// Whether the tensor of the statement that ended the value is pinned there.
bool is_pinned_at(const Program& program, const LifetimeFinding& finding) {
  const TensorId tensor = program.lifetimes[finding.ended_by.index].tensor;
  int pin_count = 0;
  for (size_t i = 0; i < finding.ended_by.index; ++i) {
    const Lifetime& lifetime = program.lifetimes[i];
    if (lifetime.tensor != tensor) continue;
    pin_count += lifetime.kind == LifetimeKind::kPin;
    pin_count -= lifetime.kind == LifetimeKind::kUnpin;
  }
  return pin_count > 0;
}

// Each of these programs contradicts a check by which a pinned holder lets go at once with odds of
// 1 in 19, by which nobody adopts what a free waits for with 1 in 250, and which knows one access a
// byte, of any stage, with 1 in 11: all are missed in 5,000 of them with odds below e^-20.
TEST(LifetimesProperty, AgreeWithTheLedgerOnPinnedAndAdoptedValues) {
  const int count = share_count(40'000, 8, 120);
  int adopted_count = 0;
  int waited_count = 0;
  int pending_counts[2] = {};  // By compute, by copies.
  for (int i = 0; i < count; ++i) {
    SeededChoice choice(static_cast<uint64_t>(i) + 3'000'000);
    const Program program = random_holding_program(choice, 8 + choice.below(24));
    const std::vector<LifetimeFinding> found = check_lifetimes(program).findings;
    const std::vector<LifetimeFinding> expected = findings_by_ledger(program);
    ASSERT_EQ(keys_of(found), keys_of(expected)) << "seed " << i << "\n" << print(program);
    ASSERT_EQ(found.size(), expected.size()) << "seed " << i << "\n" << print(program);
    for (const LifetimeFinding& finding : found) {
      const AccessRef writer = finding.overwriter;
      adopted_count += writer.dispatch.is_some() && finding.found != root_of(program, writer);
      waited_count += finding.ended_at != finding.ended_by;
      if (!finding.is_pending) continue;
      ++pending_counts[static_cast<int>(stage_of(program.dispatch(finding.reader.dispatch)))];
    }
  }
  EXPECT_GE(adopted_count, count / 20);
  EXPECT_GE(waited_count, count / 50);
  for (const int pending_count : pending_counts) EXPECT_GE(pending_count, count / 20);
}

// A check by which a destroy does not wait after a free that waits, one by which the unpin then
// forgets it, and one by which it waits wherever its tensor is pinned: the first 200 of these
// programs contradict each.
TEST(LifetimesProperty, AgreeWithTheLedgerOnPinnedAndDestroyedValues) {
  const int count = proof_count(40'000, 4'000);
  int waited_count = 0;   // Pending at an unpin.
  int at_once_count = 0;  // Pending at the destroy of a pinned tensor.
  int clean_count = 0;    // Programs with a destroy.
  int replay_count = 0;   // Programs with a replay.
  for (int i = 0; i < count; ++i) {
    SeededChoice choice(static_cast<uint64_t>(i) + 4'000'000);
    const Program program = random_pinned_program(choice, 6 + choice.below(18), i % 2 == 0);
    const std::vector<LifetimeFinding> found = check_lifetimes(program).findings;
    const std::vector<LifetimeFinding> expected = findings_by_ledger(program);
    ASSERT_EQ(keys_of(found), keys_of(expected)) << "seed " << i << "\n" << print(program);
    ASSERT_EQ(found.size(), expected.size()) << "seed " << i << "\n" << print(program);
    clean_count += found.empty() && program.has_any(LifetimeKind::kDestroy);
    replay_count += !program.replays.empty();
    for (const LifetimeFinding& finding : found) {
      if (!finding.is_pending) continue;
      waited_count += finding.ended_at != finding.ended_by;
      at_once_count += finding.ended_at == finding.ended_by && is_pinned_at(program, finding);
    }
  }
  EXPECT_GE(waited_count, count / 80);
  EXPECT_GE(at_once_count, count / 20);
  EXPECT_GE(clean_count, count / 10);
  EXPECT_GE(replay_count, count / 5);
  print_proof(count,
              "pins, destroys and frees by runs of bytes are those of a ledger of each byte");
}

// Of several queues, in their reference order. What is pending at a destroy there is another
// question (queue_destroys_test.cc).
TEST(LifetimesProperty, AgreeWithTheLedgerOnProgramsOfSeveralQueues) {
  const int count = proof_count(40'000, 1500, 20);
  int counts[3] = {};
  int judged_count = 0;
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed) + 23'000'000);
    const std::optional<Program> run = generated_run_with_meanings(choice);
    if (!run || run->lifetimes.empty()) continue;
    const HappensBefore order(*run);
    LifetimeOptions options;
    if (order.has_queues()) options.queues = &order.queues();
    const auto without_pending = [](std::vector<LifetimeFinding> findings) {
      std::erase_if(findings, [](const auto& found) { return found.is_pending; });
      return findings;
    };
    const auto all = check_lifetimes(*run, options).findings;
    const auto found = without_pending(all);
    // That what is pending at a destroy finds no value after it goes without saying.
    auto expected = without_pending(findings_by_ledger(*run));
    std::erase_if(expected, [&](const LifetimeFinding& one) {
      return std::ranges::any_of(all, [&](const LifetimeFinding& known) {
        return known.is_pending && known.ended_at == one.ended_at &&
               known.reader.dispatch == one.reader.dispatch;
      });
    });
    ASSERT_EQ(keys_of(found), keys_of(expected)) << "seed " << seed << "\n" << print(*run);
    ++judged_count;
    for (const LifetimeFinding& finding : found) {
      ++counts[static_cast<int>(finding.kind) - static_cast<int>(FindingKind::kClobber)];
    }
  }
  for (const int kind_count : counts) EXPECT_GE(kind_count, count / 100);
  print_proof(judged_count,
              "pins, resets and adoptions on several queues are those of a ledger of each byte");
}

// Programs with several queues, too, in their reference order, as above.
TEST(LifetimesProperty, AgreeWithTheLedgerOnTheCorpus) {
  int counts[3] = {};
  for (const auto& path : fewer_if_slow(corpus_files({"bugs", "queues", "seeds"}))) {
    SCOPED_TRACE(path);
    const Program text = corpus_program(path);
    const bool has_queues = needs_queue_order(text);
    const Program program =
        has_queues ? in_reference_order(text, find_reference_order(text)) : text;
    const HappensBefore order(program);
    LifetimeOptions options;
    if (order.has_queues()) options.queues = &order.queues();
    const auto without_pending = [&](std::vector<LifetimeFinding> findings) {
      if (has_queues) std::erase_if(findings, [](const auto& found) { return found.is_pending; });
      return findings;
    };
    const auto found = without_pending(check_lifetimes(program, options).findings);
    EXPECT_EQ(keys_of(found), keys_of(without_pending(findings_by_ledger(program))));
    for (const LifetimeFinding& finding : found) {
      counts[static_cast<int>(finding.kind) - static_cast<int>(FindingKind::kClobber)] +=
          has_queues;
    }
  }
  for (const int count : counts) EXPECT_GE(count, is_slow_build() ? 0 : 1);
}

// T1 for owners: no hazard and nothing found in issue order, so nothing in any schedule.
TEST(LifetimesProperty, CleanWithoutHazardsIsCleanInEverySchedule) {
  int judged_count = 0;
  for (int i = 0; i < share_count(30'000, 3, 80); ++i) {
    SeededChoice choice(static_cast<uint64_t>(i) + 1'000'000);
    const Program program = random_lifetime_program(
        choice, {.has_adopt = false, .has_destroy = false, .has_sync_only = false});
    if (program.dispatches.size() < 2 || program.dispatches.size() > 6) continue;
    if (!find_hazards(program, HappensBefore(program), ByteSegments(program)).hazards.empty())
      continue;
    if (!check_lifetimes(program).findings.empty()) continue;
    ++judged_count;
    ASSERT_FALSE(goes_wrong_in_some_schedule(program)) << "seed " << i << "\n" << print(program);
  }
  EXPECT_GE(judged_count, share_count(30'000, 3, 80) / 100);
}

// What a report says of a hazard: a write after a read through another value can be found by it.
TEST(LifetimesProperty, AWriteAfterReadHazardOfTwoValuesClobbersInSomeSchedule) {
  int hazard_count = 0;
  for (int i = 0; i < program_count(10'000); ++i) {
    SeededChoice choice(static_cast<uint64_t>(i) + 2'000'000);
    const Program program = random_lifetime_program(choice, {.has_sync_only = false});
    if (program.dispatches.size() > 5) continue;
    for (const Hazard& hazard : find_all_hazards(program, HappensBefore(program)).hazards) {
      const Access& first = program.accesses_of(hazard.first.dispatch)[hazard.first.access];
      if (hazard.kind != FindingKind::kWriteAfterRead) continue;
      ++hazard_count;
      ASSERT_TRUE(can_find(program, hazard.first.dispatch, hazard.second.dispatch, first.memory,
                           hazard.overlap))
          << "seed " << i << "\n"
          << print(program);
    }
  }
  EXPECT_GE(hazard_count, program_count(10'000) / 10);
}

// Faults of the check, as changes of what it is given. `program_count`: programs within which each
// of the seeds 1 to 5 contradicts it; at least four times the slowest of them.
struct MutantLifetimes {
  std::string_view fault;
  int program_count;
  void (*change)(Program& program);
};

void drop_lifetimes(Program& program, bool (*is_dropped)(LifetimeKind)) {
  for (Lifetime& lifetime : program.lifetimes) {
    if (!is_dropped(lifetime.kind)) continue;
    lifetime.kind = LifetimeKind::kPin;  // Of a tensor that is nowhere else.
    lifetime.tensor = TensorId(program.tensors.size());
  }
  program.tensors.push_back(Tensor{});
  program.tensors.back().memory = MemoryId(0);
}

void change_accesses(Program& program, void (*change)(const Program&, Access&)) {
  for (Access& access : program.accesses) change(program, access);
}

constexpr MutantLifetimes kLifetimeMutants[] = {
    {"frees end nothing", 2000,
     [](Program& p) {
       drop_lifetimes(p, [](LifetimeKind k) { return k == LifetimeKind::kFree; });
     }},
    {"resets end nothing", 2000,
     [](Program& p) {
       drop_lifetimes(p, [](LifetimeKind k) { return k == LifetimeKind::kReset; });
     }},
    {"pins hold nothing", 2000,
     [](Program& p) {
       drop_lifetimes(
           p, [](LifetimeKind k) { return k == LifetimeKind::kPin || k == LifetimeKind::kUnpin; });
     }},
    {"unpins end nothing", 20000,
     [](Program& p) {
       for (Lifetime& l : p.lifetimes) {
         if (l.kind == LifetimeKind::kUnpin) l.kind = LifetimeKind::kPin;
       }
     }},
    {"nothing is adopted", 20000,
     [](Program& p) {
       drop_lifetimes(p, [](LifetimeKind k) { return k == LifetimeKind::kAdopt; });
     }},
    {"a destroy waits for nothing", 2000,
     [](Program& p) {
       for (Lifetime& l : p.lifetimes) {
         if (l.kind == LifetimeKind::kDestroy) l.kind = LifetimeKind::kFree;
       }
     }},
    {"views own as themselves", 1000,
     [](Program& p) {
       for (size_t i = 0; i < p.tensors.size(); ++i) p.tensors[i].root = TensorId(i);
     }},
    {"donations own as what they donate", 1000,
     [](Program& p) {
       for (Tensor& t : p.tensors) {
         if (t.source.is_some()) t.root = p.tensors[t.source.index].root;
       }
     }},
    {"initial values own nothing", 1000,
     [](Program& p) {
       for (Tensor& t : p.tensors) t.initial = {};
     }},
    {"raw writes are reads", 2000,
     [](Program& p) {
       change_accesses(p, [](const Program&, Access& a) {
         if (!a.tensor.is_some()) a.mode = AccessMode::kRead;
       });
     }},
    {"updates do not read", 2000,
     [](Program& p) {
       change_accesses(p, [](const Program&, Access& a) {
         if (a.mode == AccessMode::kUpdate) a.mode = AccessMode::kWrite;
       });
     }},
    {"updates do not write", 2000,
     [](Program& p) {
       change_accesses(p, [](const Program&, Access& a) {
         if (a.mode == AccessMode::kUpdate) a.mode = AccessMode::kRead;
       });
     }},
    {"the end reads nothing", 1000, [](Program& p) { p.outputs.clear(); }},
    {"ranges end a byte early", 500,
     [](Program& p) {
       change_accesses(p, [](const Program&, Access& a) {
         if (!a.range.is_empty()) --a.range.end;
       });
     }},
    {"slices are whole tensors", 1000,
     [](Program& p) {
       change_accesses(p, [](const Program& q, Access& a) {
         if (a.tensor.is_some()) a.range = q.tensor(a.tensor).range;
       });
     }},
};

TEST(MutantLifetimes, AreContradictedByTheLedger) {
  const uint64_t seed_count = tries_all() ? 5 : is_slow_build() ? 1 : 2;
  for (const MutantLifetimes& mutant : kLifetimeMutants) {
    for (uint64_t seed = 1; seed <= seed_count; ++seed) {
      SeededChoice choice(seed);
      bool is_contradicted = false;
      for (int i = 0; i < mutant.program_count && !is_contradicted; ++i) {
        const Program program = random_lifetime_program(choice, {.statement_count_max = 16});
        Program changed = program;
        mutant.change(changed);
        is_contradicted =
            keys_of(check_lifetimes(changed).findings) != keys_of(findings_by_ledger(program));
      }
      EXPECT_TRUE(is_contradicted) << mutant.fault << ", seed " << seed;
    }
  }
}

}  // namespace
}  // namespace interlock::lifetimes_property_test
