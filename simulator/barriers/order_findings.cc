#include "simulator/barriers/order_findings.h"

#include <algorithm>
#include <memory>

#include "encoder/program/stop.h"
#include "simulator/barriers/pair_hazards.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/hazards/hazard_pairs.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/host_atoms.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/places.h"
#include "simulator/order/reference_order.h"
#include "simulator/order/signal_order.h"

namespace interlock {
namespace {

// What find_hazards() and find_reordered() list, as numbers of the text.
class TextNames {
 public:
  TextNames(const Program& text, const Program& run) : text_(text), run_(run) {}

  DispatchId operator()(DispatchId id) const {
    const bool is_same = run_.text_order == nullptr || !id.is_some();
    return is_same ? id : in_text(text_, run_, id);
  }
  LifetimeId operator()(LifetimeId id) const {
    const bool is_same = run_.text_order == nullptr || !id.is_some();
    return is_same ? id : in_text(text_, run_, id);
  }

 private:
  const Program& text_;
  const Program& run_;
};

class HazardBytes {
 public:
  // `run` has whole atoms where `exact` has what the host accesses.
  HazardBytes(const Program& run, const Program& exact, const TextNames& names, uint64_t& work_left)
      : run_(run), names_(names), order_(run, &exact), segments_(run), work_left_(work_left) {}

  bool is_too_wide() const { return order_.has_queues() && order_.queues().is_too_wide(); }

  // As find_hazards().
  std::vector<HazardousPair> list_pairs(uint64_t limit) const {
    std::vector<HazardousPair> pairs;
    for (const Hazard& hazard : find_hazards(run_, order_, segments_, {limit}).hazards) {
      pairs.push_back({names_(hazard.first.dispatch), names_(hazard.second.dispatch)});
    }
    return pairs;
  }

  // Those of one pair, by their names in the text.
  std::vector<ByteHazards> list_between(DispatchId one, DispatchId other) {
    std::vector<DispatchId> in_run;  // In the order of the run.
    for (size_t i = 0; i < run_.dispatches.size(); ++i) {
      const DispatchId name = names_(DispatchId(i));
      if (name == one || name == other) in_run.push_back(DispatchId(i));
    }
    std::vector<ByteHazards> hazards;
    add_pair(in_run.at(0), in_run.at(1), hazards);
    return hazards;
  }

  // False if the work is too much.
  bool list(HazardsListed listed, std::vector<ByteHazards>& hazards) {
    const HazardList some = find_hazards(run_, order_, segments_, {.limit = 1});
    if (some.hazards.empty()) return some.is_complete();
    if (listed == HazardsListed::kOfOnePair) {
      const Hazard& hazard = some.hazards.front();
      add_pair(hazard.first.dispatch, hazard.second.dispatch, hazards);
      return true;
    }
    HazardPairs pairs(run_, order_, segments_);
    std::vector<DispatchId> firsts;
    for (size_t k = 0; k < run_.dispatches.size(); ++k) {
      if (is_stopped() || !pairs.find_firsts(DispatchId(k), work_left_, firsts)) return false;
      for (const DispatchId first : firsts) add_pair(first, DispatchId(k), hazards);
      if (work_left_ == 0) return false;
    }
    merge(hazards);
    return true;
  }

 private:
  void charge(uint64_t work) { work_left_ -= std::min(work, work_left_); }

  void add_pair(DispatchId first, DispatchId second, std::vector<ByteHazards>& hazards) {
    const size_t begin = hazards.size();
    charge(append_pair_hazards(run_, order_, first, second, hazards));
    for (size_t i = begin; i < hazards.size(); ++i) {
      hazards[i].first = names_(first);
      hazards[i].second = names_(second);
    }
  }

  // What touches or overlaps becomes one run.
  static void merge(std::vector<ByteHazards>& hazards) {
    std::ranges::sort(hazards);
    std::vector<ByteHazards> merged;
    for (const ByteHazards& next : hazards) {
      if (!merged.empty() && next.begin <= merged.back().end) {
        ByteHazards same = next;
        same.begin = merged.back().begin;
        same.end = merged.back().end;
        if (same == merged.back()) {
          merged.back().end = std::max(merged.back().end, next.end);
          continue;
        }
      }
      merged.push_back(next);
    }
    hazards = std::move(merged);
  }

  const Program& run_;
  const TextNames& names_;
  const HappensBefore order_;
  const ByteSegments segments_;
  uint64_t& work_left_;
};

void list_lifetimes(const Program& run, const TextNames& names, OrderFindings& findings) {
  if (run.lifetimes.empty() && !run.has_program_order) return;
  const HappensBefore order(run);
  LifetimeOptions options;
  if (order.has_queues()) options.queues = &order.queues();
  LifetimeReport report = check_lifetimes(run, options);
  if (report.is_truncated()) findings.is_known = false;
  for (LifetimeFinding& finding : report.findings) {
    finding.reader.dispatch = names(finding.reader.dispatch);
    finding.overwriter.dispatch = names(finding.overwriter.dispatch);
    finding.ended_by = names(finding.ended_by);
    finding.ended_at = names(finding.ended_at);
  }
  findings.lifetimes = std::move(report.findings);
  findings.reordered = find_reordered(run);
  for (ReorderedRead& read : findings.reordered) {
    read.reader = names(read.reader);
    read.seen_writer = names(read.seen_writer);
    read.right_writer = names(read.right_writer);
  }
}

// A program and its reference run.
struct ReferenceRun {
  explicit ReferenceRun(const Program& text)
      : order(find_reference_order(text)),
        is_whole(order.cycle.empty() && !find_unordered_signals(text).has_value()),
        run(order.is_text_order ? text : in_reference_order(text, order)),
        names(text, run),
        whole_atoms(has_host_atoms(run) ? with_whole_atoms(run) : Program()) {}
  ReferenceRun(const ReferenceRun&) = delete;
  ReferenceRun& operator=(const ReferenceRun&) = delete;

  // As hazards are looked for.
  const Program& widened() const { return has_host_atoms(run) ? whole_atoms : run; }

  const ReferenceOrder order;
  const bool is_whole;  // All of it runs, and signals come in the order of their values.
  const Program run;
  const TextNames names;
  const Program whole_atoms;  // Empty if the host touches no memory that has atoms.
};

struct RunAndBytes {
  explicit RunAndBytes(const Program& program) : reference(program) {}

  uint64_t work_left = UINT64_MAX;
  const ReferenceRun reference;
  std::optional<HazardBytes> bytes;  // Of a run that is whole.
};

template <typename Finding>
bool is_each_in(const std::vector<Finding>& findings, const std::vector<Finding>& known) {
  return std::ranges::all_of(findings, [&](const Finding& finding) {
    return std::ranges::find(known, finding) != known.end();
  });
}

// The last run of `known` that could cover it is the one before the first greater one.
bool is_covered(const ByteHazards& hazard, const std::vector<ByteHazards>& known) {
  ByteHazards key = hazard;
  key.end = UINT64_MAX;
  const auto behind = std::ranges::upper_bound(known, key);
  if (behind == known.begin()) return false;
  const ByteHazards& last = *(behind - 1);
  key.begin = last.begin;
  key.end = last.end;
  return key == last && last.begin <= hazard.begin && hazard.end <= last.end;
}

}  // namespace

uint64_t work_of_order_findings(const Program& program) {
  const uint64_t item_count = program.statements.size() + program.accesses.size();
  const uint64_t row_count = program.statements.size() + 3 * program.edges.size();
  // That uses of these come in their order is found in passes of their own, with a clock row each.
  const auto reused =
      static_cast<uint64_t>(std::ranges::count(reused_binary_semaphores(program), true));
  const uint64_t pass_count = (reused + kSemaphoresAtOnce - 1) / kSemaphoresAtOnce;
  return 8 * (item_count + program.edges.size()) + row_count * Places(program).count() / 2 +
         32 * pass_count * program.statements.size() + 64;
}

OrderFindings find_order_findings(const Program& program, HazardsListed listed,
                                  uint64_t& work_left) {
  OrderFindings findings;
  const ReferenceRun reference(program);
  findings.runs = reference.is_whole;
  if (!findings.runs || is_stopped()) return findings;
  HazardBytes bytes(reference.widened(), reference.run, reference.names, work_left);
  findings.is_known = !bytes.is_too_wide() && bytes.list(listed, findings.hazards);
  if (findings.is_known) list_lifetimes(reference.run, reference.names, findings);
  return findings;
}

std::optional<std::vector<HazardousPair>> find_hazardous_pairs(const Program& program,
                                                               uint64_t limit) {
  const ReferenceRun reference(program);
  if (!reference.is_whole || is_stopped()) return std::nullopt;
  uint64_t work_left = 0;
  const HazardBytes bytes(reference.widened(), reference.run, reference.names, work_left);
  if (bytes.is_too_wide()) return std::nullopt;
  return bytes.list_pairs(limit);
}

HazardsBetween::HazardsBetween(const Program& program) {
  const auto parts = std::make_shared<RunAndBytes>(program);
  if (!parts->reference.is_whole || is_stopped()) return;
  parts->bytes.emplace(parts->reference.widened(), parts->reference.run, parts->reference.names,
                       parts->work_left);
  if (parts->bytes->is_too_wide()) return;
  find_ = [parts](DispatchId one, DispatchId other) {
    return parts->bytes->list_between(one, other);
  };
}

bool adds_nothing(const OrderFindings& with, const OrderFindings& without) {
  return adds_only_hazards(with, without) &&
         (!without.runs || std::ranges::all_of(without.hazards, [&](const ByteHazards& hazard) {
           return is_covered(hazard, with.hazards);
         }));
}

bool adds_only_hazards(const OrderFindings& with, const OrderFindings& without) {
  if (!without.runs) return !with.runs;
  return is_each_in(without.lifetimes, with.lifetimes) &&
         is_each_in(without.reordered, with.reordered);
}

}  // namespace interlock
