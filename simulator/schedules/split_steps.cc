#include "simulator/schedules/split_steps.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "encoder/kernel/kernel_binding.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/program/error_of.h"
#include "simulator/order/split_order.h"
#include "simulator/schedules/late_writes.h"

namespace interlock {
namespace {

// Bytes that the reader may fetch before the writer commits them.
struct Fetch {
  MemoryRange bytes;
  StageAccess sort;
  FetchNeeds needs;
};

class StepSplitter {
 public:
  StepSplitter(const Program& program, const HappensBefore& order, const StepBytes* wanted)
      : program_(program),
        order_(order),
        wanted_(wanted),
        late_writes_(program, order),
        slices_run_(program.dispatches.size(), 0) {}

  Result<Success> add(const Step& step);
  Schedule finish() && { return std::move(schedule_); }

 private:
  Result<Success> commit_forced(DispatchId next);
  void add_run(const Step& step);
  Result<Success> add_fetch(DispatchId reader, DispatchId writer);
  void append_fetches(DispatchId reader, DispatchId writer, std::vector<Fetch>& fetches);
  void append_fetches(DispatchId reader, DispatchId writer, MemoryRange bytes, StageAccess sort,
                      std::vector<Fetch>& fetches);
  bool waits_for_another(const Fetch& fetch, DispatchId reader, DispatchId writer) const;
  bool waits_for_commit(const Fetch& fetch, DispatchId writer) const;
  bool is_wanted(const Fetch& fetch) const;
  bool emit_ready(DispatchId reader, DispatchId writer, std::vector<Fetch>& fetches);
  std::vector<MemoryRange> waiting_runs(DispatchId reader, DispatchId writer) const;
  bool commit_in_the_way(DispatchId reader, DispatchId writer, const std::vector<Fetch>& fetches);
  void commit(DispatchId dispatch, const std::vector<MemoryRange>& bytes);
  bool has_run(DispatchId dispatch) const {
    return slices_run_[dispatch.index] == slice_count_of(program_, program_.dispatch(dispatch));
  }
  // All before it have run and committed.
  DispatchId first_unfinished();

  const Program& program_;
  const HappensBefore& order_;
  const StepBytes* wanted_;
  LateWrites late_writes_;
  std::vector<uint64_t> slices_run_;  // By dispatch.
  size_t finished_ = 0;
  Schedule schedule_;
};

Result<Success> StepSplitter::add(const Step& step) {
  switch (step.kind) {
    case StepKind::kRun:
    case StepKind::kRunLate:
      if (Result<Success> forced = commit_forced(step.dispatch); !forced) return forced;
      add_run(step);
      break;
    case StepKind::kCommit:
      schedule_.steps.push_back(step);
      late_writes_.remove(step.dispatch);
      break;
    case StepKind::kFetch:
      return add_fetch(step.dispatch, DispatchId(step.first_slice));
    case StepKind::kDrop:
      break;  // Of the host, which has no part in scopes alone.
  }
  return Success{};
}

void StepSplitter::add_run(const Step& step) {
  schedule_.steps.push_back(step);
  slices_run_[step.dispatch.index] += step.slice_count;
  // A schedule in which too many wait is refused as a whole.
  if (step.kind == StepKind::kRunLate && !late_writes_.is_full()) late_writes_.add(step.dispatch);
}

Result<Success> StepSplitter::commit_forced(DispatchId next) {
  if (!late_writes_.find_forced(next).has_value()) return Success{};
  std::vector<std::pair<DispatchId, std::vector<MemoryRange>>> forced;
  for (const LateWrites::Waiting& waiting : late_writes_.waiting()) {
    std::vector<MemoryRange> bytes =
        forced_commits(order_.scopes(), waiting.dispatch, waiting.bytes, next);
    if (!bytes.empty()) forced.emplace_back(waiting.dispatch, std::move(bytes));
  }
  for (const auto& [dispatch, bytes] : forced) {
    commit(dispatch, bytes);
    if (!late_writes_.find(dispatch)->bytes.empty()) continue;
    return error_of(
        "The schedule runs {} before {} commits, but a barrier makes its writes available.",
        program_.description_of(next), program_.description_of(dispatch));
  }
  return Success{};
}

void StepSplitter::commit(DispatchId dispatch, const std::vector<MemoryRange>& bytes) {
  const auto first = static_cast<uint32_t>(schedule_.bytes.size());
  for (const MemoryRange& place : bytes) {
    late_writes_.commit(dispatch, place);
    schedule_.bytes.push_back({place.memory, place.range});
  }
  const auto count = static_cast<uint32_t>(bytes.size());
  schedule_.steps.push_back({StepKind::kCommit, dispatch, first, count});
}

DispatchId StepSplitter::first_unfinished() {
  while (finished_ < slices_run_.size() && has_run(DispatchId(finished_)) &&
         late_writes_.find(DispatchId(finished_)) == nullptr) {
    ++finished_;
  }
  return DispatchId(finished_);
}

void StepSplitter::append_fetches(DispatchId reader, DispatchId writer, MemoryRange bytes,
                                  StageAccess sort, std::vector<Fetch>& fetches) {
  const DispatchId begin = std::min(first_unfinished(), reader);
  std::vector<MemoryRange> runs = {bytes};
  if (writer < reader) runs = split_alike(order_.scopes(), writer, reader, bytes);
  for (const MemoryRange& run : runs) {
    const bool is_visible =
        writer < reader &&
        (after_commit(order_.scopes(), writer, run, reader).fetches & bit_of(sort)) != 0;
    if (is_visible) continue;
    fetches.push_back({run, sort, FetchNeeds(order_.scopes(), begin, reader, run, sort)});
  }
}

void StepSplitter::append_fetches(DispatchId reader, DispatchId writer,
                                  std::vector<Fetch>& fetches) {
  const LateWrites::Waiting* const waiting = late_writes_.find(writer);
  if (waiting == nullptr) return;
  const Dispatch& dispatch = program_.dispatch(reader);
  const Stage stage = stage_of(dispatch);
  for (const Access& access : program_.accesses_of(reader)) {
    for (const MemoryRange& written : waiting->bytes) {
      const MemoryRange shared{written.memory, intersection(written.range, access.range)};
      if (written.memory != access.memory || shared.range.is_empty()) continue;
      if (access.reads_plainly()) {
        append_fetches(reader, writer, shared, *read_sort_of(stage, access), fetches);
      }
      if (dispatch.is_partial && access.writes_plainly()) {
        append_fetches(reader, writer, shared, *write_sort_of(stage, access), fetches);
      }
    }
  }
}

// Something else than the commits of the writer leads to the fetch, and is not over.
bool StepSplitter::waits_for_another(const Fetch& fetch, DispatchId reader,
                                     DispatchId writer) const {
  for (DispatchId earlier(finished_); earlier < reader; ++earlier.index) {
    if (!has_run(earlier) && fetch.needs.needs_run(earlier)) return true;
    if (earlier != writer && waits_for_commit(fetch, earlier)) return true;
  }
  return false;
}

bool StepSplitter::waits_for_commit(const Fetch& fetch, DispatchId writer) const {
  const LateWrites::Waiting* const waiting = late_writes_.find(writer);
  return waiting != nullptr && std::ranges::any_of(waiting->bytes, [&](const MemoryRange& bytes) {
           return fetch.needs.needs_commit(writer, bytes);
         });
}

bool StepSplitter::is_wanted(const Fetch& fetch) const {
  return wanted_ != nullptr && wanted_->memory == fetch.bytes.memory &&
         wanted_->sort == fetch.sort && share_a_byte(wanted_->range, fetch.bytes.range);
}

// What waits of the writer, in runs that dependencies before the reader treat alike.
std::vector<MemoryRange> StepSplitter::waiting_runs(DispatchId reader, DispatchId writer) const {
  std::vector<MemoryRange> runs;
  for (const MemoryRange& bytes : late_writes_.find(writer)->bytes) {
    const std::vector<MemoryRange> alike = split_alike(order_.scopes(), writer, reader, bytes);
    runs.insert(runs.end(), alike.begin(), alike.end());
  }
  return runs;
}

bool StepSplitter::emit_ready(DispatchId reader, DispatchId writer, std::vector<Fetch>& fetches) {
  const auto ready = std::stable_partition(fetches.begin(), fetches.end(), [&](const Fetch& fetch) {
    return writer < reader && waits_for_commit(fetch, writer);
  });
  if (ready == fetches.end()) return false;
  const auto first = static_cast<uint32_t>(schedule_.bytes.size());
  for (auto fetch = ready; fetch != fetches.end(); ++fetch) {
    schedule_.bytes.push_back({fetch->bytes.memory, fetch->bytes.range, fetch->sort});
  }
  const auto count = static_cast<uint32_t>(fetches.end() - ready);
  schedule_.steps.push_back({StepKind::kFetch, reader, first, count});
  fetches.erase(ready, fetches.end());
  return true;
}

// Commits what leads to a fetch, unless it must be fetched itself first.
bool StepSplitter::commit_in_the_way(DispatchId reader, DispatchId writer,
                                     const std::vector<Fetch>& fetches) {
  if (reader < writer) return false;
  std::vector<MemoryRange> committed;
  for (const MemoryRange& bytes : waiting_runs(reader, writer)) {
    const bool leads_on = std::ranges::any_of(
        fetches, [&](const Fetch& fetch) { return fetch.needs.needs_commit(writer, bytes); });
    const bool is_fetched = std::ranges::any_of(fetches, [&](const Fetch& fetch) {
      return fetch.bytes.memory == bytes.memory && share_a_byte(fetch.bytes.range, bytes.range);
    });
    if (leads_on && !is_fetched) committed.push_back(bytes);
  }
  if (!committed.empty()) commit(writer, committed);
  return !committed.empty();
}

Result<Success> StepSplitter::add_fetch(DispatchId reader, DispatchId writer) {
  std::vector<Fetch> fetches;
  append_fetches(reader, writer, fetches);
  std::erase_if(fetches, [&](const Fetch& f) { return waits_for_another(f, reader, writer); });
  std::stable_partition(fetches.begin(), fetches.end(),
                        [&](const Fetch& fetch) { return is_wanted(fetch); });
  bool has_fetched = false;
  while (!fetches.empty()) {
    const bool is_ready = emit_ready(reader, writer, fetches);
    has_fetched |= is_ready;
    if (is_ready || commit_in_the_way(reader, writer, fetches)) continue;
    // Each waits until what another one fetches has been committed: not all of them can be early.
    fetches.pop_back();
  }
  if (has_fetched && slices_run_[reader.index] == 0) return Success{};
  return error_of(
      "The schedule lets {} fetch before {} commits, but nothing that the latter writes can be missed so: a barrier makes it visible, or no byte of it is read.",
      program_.description_of(reader), program_.description_of(writer));
}

}  // namespace

Step draft_of_fetch(DispatchId reader, DispatchId writer) {
  return {StepKind::kFetch, reader, writer.index, 0};
}

Result<Schedule> split_steps(const Program& program, const HappensBefore& order,
                             const Schedule& draft, const StepBytes* wanted) {
  StepSplitter splitter(program, order, wanted);
  for (const Step& step : draft.steps) {
    if (Result<Success> added = splitter.add(step); !added) return added.error();
  }
  return std::move(splitter).finish();
}

}  // namespace interlock
