// Encoders for several queues with a mistake planted each: a campaign of 20,000 programs finds it,
// and no two judges disagree about what it made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/program/draft.h"
#include "encoder/queues/dispatch_conflicts.h"
#include "encoder/queues/queue_commands.h"
#include "encoder/queues/queue_encoder.h"
#include "encoder/queues/streams_encoder.h"
#include "encoder/sync/recording_sink.h"
#include "fuzz/campaign/campaign.h"
#include "tests/program_count.h"

namespace interlock::mutant_queue_encoders_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

using Encode = Result<Program> (*)(const Program&, uint32_t);
using Change = void (*)(std::vector<ItemDraft>& items);

// What `name` makes, changed.
Result<Program> changed(std::string_view name, const Program& program, uint32_t queue_count,
                        Change change) {
  const Result<Program> right = find_queue_encoder(name)->encode(program, queue_count);
  if (!right) return right;
  ProgramDraft draft = draft_of(*right);
  change(draft.items);
  return build(draft);
}

bool is_sync(const ItemDraft& item, SyncKind kind) {
  const auto* const sync = std::get_if<SyncDraft>(&item);
  return sync != nullptr && sync->kind == kind;
}

// The places of this sync.
std::vector<size_t> places_of(const std::vector<ItemDraft>& items, SyncKind kind) {
  std::vector<size_t> places;
  for (size_t i = 0; i < items.size(); ++i) {
    if (is_sync(items[i], kind)) places.push_back(i);
  }
  return places;
}

template <SyncKind kKind, size_t kNth>
void drop(std::vector<ItemDraft>& items) {
  const std::vector<size_t> places = places_of(items, kKind);
  if (places.size() > kNth) {
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(places[kNth]));
  }
}

// Waits for the signal before the one that is needed.
template <SyncKind kKind>
void lower_values(std::vector<ItemDraft>& items) {
  for (const size_t place : places_of(items, kKind)) {
    SemaphoreUseDraft& use = std::get<SyncDraft>(items[place]).semaphores[0];
    if (*use.value > 1) --*use.value;
  }
}

// A wait holds back what comes after the statement that it is for.
void wait_late(std::vector<ItemDraft>& items) {
  const std::vector<size_t> places = places_of(items, SyncKind::kWait);
  if (places.empty() || places.back() + 1 >= items.size()) return;
  std::swap(items[places.back()], items[places.back() + 1]);
}

// A signal covers what comes before the statement that it is for.
void signal_early(std::vector<ItemDraft>& items) {
  for (const size_t place : places_of(items, SyncKind::kSignal)) {
    if (std::holds_alternative<DispatchDraft>(items[place - 1])) {
      std::swap(items[place], items[place - 1]);
    }
  }
}

// The queue of the next dispatch waits, and not that of this one.
void wait_on_the_other_queue(std::vector<ItemDraft>& items) {
  for (const size_t place : places_of(items, SyncKind::kWait)) {
    SyncDraft& wait = std::get<SyncDraft>(items[place]);
    for (size_t i = items.size(); i-- > place;) {
      const auto* const dispatch = std::get_if<DispatchDraft>(&items[i]);
      if (dispatch != nullptr) wait.queue = dispatch->queue;
    }
    const auto next = std::find_if(items.begin() + static_cast<std::ptrdiff_t>(place), items.end(),
                                   [&](const ItemDraft& item) {
                                     const auto* const dispatch = std::get_if<DispatchDraft>(&item);
                                     return dispatch != nullptr && dispatch->queue != wait.queue;
                                   });
    if (next != items.end()) wait.queue = std::get<DispatchDraft>(*next).queue;
  }
}

template <size_t kCount>
void keep_so_many_edges(std::vector<ItemDraft>& items) {
  for (ItemDraft& item : items) {
    auto* const dispatch = std::get_if<DispatchDraft>(&item);
    if (dispatch != nullptr && dispatch->after.size() > kCount) dispatch->after.resize(kCount);
  }
}

// The host waits for the graph itself.
void hand_nothing_on(std::vector<ItemDraft>& items) {
  const std::vector<size_t> waits = places_of(items, SyncKind::kWait);
  const std::vector<size_t> of_host = places_of(items, SyncKind::kHostWaits);
  if (waits.size() != of_host.size()) return;
  for (size_t i = 0; i < waits.size(); ++i) {
    std::get<SyncDraft>(items[of_host[i]]).semaphores =
        std::get<SyncDraft>(items[waits[i]]).semaphores;
  }
}

template <Change kChange>
Result<Program> semaphores(const Program& program, uint32_t queue_count) {
  return changed("semaphores", program, queue_count, kChange);
}

template <Change kChange>
Result<Program> streams(const Program& program, uint32_t queue_count) {
  return changed("streams", program, queue_count, kChange);
}

template <Change kChange>
Result<Program> edges(const Program& program, uint32_t queue_count) {
  return changed("edges", program, queue_count, kChange);
}

// `streams` on queues in turn, with a tracker that begins anew after so many dispatches.
template <size_t kDispatches>
Result<Program> forgetful_streams(const Program& program, uint32_t queue_count) {
  const uint32_t used = queue_count == 0 ? 4 : queue_count;
  RecordingSink issued;
  std::vector<uint64_t> counts(used, 0);
  std::vector<uint64_t> first_counts = counts;  // Since the tracker began.
  QueueTracker tracker(used);
  for (size_t i = 0; i < program.dispatches.size(); ++i) {
    if (i % kDispatches == 0) {
      tracker = QueueTracker(used);
      first_counts = counts;
    }
    const auto queue = static_cast<uint32_t>(i % used);
    issued.use_queue(static_cast<QueueIndex>(queue));
    const DispatchId id(i);
    for (const QueuePoint& point :
         tracker.add(queue, program.declared_accesses_of(id), program.dispatch(id).atomic_op)) {
      issued.issue_wait(
          {.semaphore = point.queue, .value = first_counts[point.queue] + point.number});
    }
    issued.issue_dispatch(id);
    issued.issue_signal({.semaphore = queue, .value = ++counts[queue]});
  }
  return program_on_queues(program, numbered_queues(QueueKind::kSerial, used), issued);
}

// Edges from the last conflicts alone.
template <uint32_t kWindow>
Result<Program> forgetful_edges(const Program& program, uint32_t /*queue_count*/) {
  const Predecessors conflicts = conflicts_of(program);
  RecordingSink issued;
  for (uint32_t i = 0; i < conflicts.size(); ++i) {
    for (const uint32_t earlier : conflicts[i]) {
      if (earlier + kWindow < i) continue;
      issued.issue_edge(DispatchId(size_t{earlier}), DispatchId(size_t{i}));
    }
    issued.issue_dispatch(DispatchId(size_t{i}));
  }
  return program_on_queues(program, numbered_queues(QueueKind::kGraph, 1), issued);
}

struct Mutant {
  std::string_view name;
  Encode encode;
  bool takes_queue_count;
  bool takes_host_work;
};

constexpr Mutant kMutants[] = {
    {"semaphores without the first wait", &semaphores<&drop<SyncKind::kWait, 0>>, true, true},
    {"semaphores without the eighth wait", &semaphores<&drop<SyncKind::kWait, 7>>, true, true},
    {"semaphores without the host's first wait", &semaphores<&drop<SyncKind::kHostWaits, 0>>, true,
     true},
    {"semaphores that wait for the value before", &semaphores<&lower_values<SyncKind::kWait>>, true,
     true},
    {"semaphores whose host waits for the value before",
     &semaphores<&lower_values<SyncKind::kHostWaits>>, true, true},
    {"semaphores with the last wait after its dispatch", &semaphores<&wait_late>, true, true},
    {"semaphores that wait on the other queue", &semaphores<&wait_on_the_other_queue>, true, true},
    {"streams without the third wait", &streams<&drop<SyncKind::kWait, 2>>, true, true},
    {"streams that wait for the value before", &streams<&lower_values<SyncKind::kWait>>, true,
     true},
    {"streams that signal before the dispatch", &streams<&signal_early>, true, true},
    {"streams that forget after 16 dispatches", &forgetful_streams<16>, true, false},
    {"streams that forget after 128 dispatches", &forgetful_streams<128>, true, false},
    {"edges of one to a dispatch", &edges<&keep_so_many_edges<1>>, false, true},
    {"edges of four to a dispatch", &edges<&keep_so_many_edges<4>>, false, true},
    {"edges that hand nothing on to the host", &edges<&hand_nothing_on>, false, true},
    {"edges without the host's second wait", &edges<&drop<SyncKind::kHostWaits, 1>>, false, true},
    {"edges of 16 dispatches", &forgetful_edges<16>, false, false},
    {"edges of 128 dispatches", &forgetful_edges<128>, false, false},
};

CampaignReport reported(const QueueEncoderEntry& entry, uint64_t seed) {
  CampaignOptions options;
  options.queue_encoder = &entry;
  options.seed = seed;
  options.run_count = 20'000;
  options.find_limit = 1;
  Result<CampaignReport> report = run_campaign(options);
  EXPECT_TRUE(report.has_value());
  return report ? std::move(report).value() : CampaignReport{};
}

TEST(QueueCampaign, FindsEachPlantedMistakeWithinTwentyThousandPrograms) {
  const int seed_count = proof_count(20, 1);
  for (const Mutant& mutant : kMutants) {
    QueueEncoderEntry entry{mutant.name, "", true, mutant.takes_queue_count, mutant.encode};
    entry.takes_host_work = mutant.takes_host_work;
    entry.takes_given_queues = mutant.takes_host_work && mutant.takes_queue_count;
    for (int seed = 1; seed <= seed_count; ++seed) {
      const CampaignReport report = reported(entry, static_cast<uint64_t>(seed));
      EXPECT_FALSE(report.finds.empty()) << mutant.name << ", seed " << seed;
      EXPECT_THAT(report.disagreements, IsEmpty()) << mutant.name << ", seed " << seed;
    }
  }
}

// A wait too many is no hazard. Whoever claims the fewest is contradicted.
TEST(QueueCampaign, HoldsAnEncoderToTheFewestThatItClaims) {
  QueueEncoderEntry entry = *find_queue_encoder("mlx-cuda-readers");
  entry.places_fewest = true;
  const CampaignReport report = reported(entry, 1);
  ASSERT_FALSE(report.disagreements.empty());
  EXPECT_THAT(report.disagreements[0], HasSubstr("adds order"));
}

}  // namespace
}  // namespace interlock::mutant_queue_encoders_test
