#include "simulator/picture/witness_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "simulator/order/in_reference_order.h"
#include "simulator/schedules/displacements.h"
#include "simulator/schedules/schedule.h"

namespace interlock {
namespace {

constexpr size_t kWitnessEntriesMax = 24;
constexpr size_t kNotesMax = 3;
constexpr size_t kWitnessTextMax = 120;  // Bytes.

DispatchId text_id(const Program& program, const Program& reference, DispatchId dispatch) {
  return reference.text_order == nullptr ? dispatch : in_text(program, reference, dispatch);
}

// The witness in the numbers of `reference`; empty if a part of it never runs.
std::vector<Displacement> witness_in(const Program& program, const Program& reference,
                                     std::vector<Displacement> witness) {
  if (reference.text_order == nullptr) return witness;
  std::vector<DispatchId> ids(program.dispatches.size());
  for (size_t i = 0; i < reference.dispatches.size(); ++i) {
    ids[in_text(program, reference, DispatchId(i)).index] = DispatchId(i);
  }
  for (Displacement& displacement : witness) {
    displacement.moved = ids[displacement.moved.index];
    displacement.anchor = ids[displacement.anchor.index];
    if (!displacement.moved.is_some() || !displacement.anchor.is_some()) return {};
  }
  return witness;
}

class WitnessList {
 public:
  WitnessList(const Program& program, const Program& reference, const Finding& finding,
              Picture& picture)
      : program_(program), reference_(reference), picture_(picture) {
    for (const Displacement& displacement : finding.witness) {
      named_.insert(displacement.moved);
      named_.insert(displacement.anchor);
      moved_.insert(displacement.moved);
    }
    if (finding.first.dispatch.is_some()) named_.insert(finding.first.dispatch);
    if (finding.second && finding.second->dispatch.is_some()) {
      named_.insert(finding.second->dispatch);
    }
    find_rows();
  }

  void run(const Schedule& schedule) {
    for (const Step& step : schedule.steps) {
      const DispatchId id = text_id(program_, reference_, step.dispatch);
      const auto row = rows_.find(id);
      if (row != rows_.end()) see(step, id, row->second);
    }
  }

 private:
  // The dispatches outside folds from the first named one to the last one.
  void find_rows() {
    uint32_t first = kNone32;
    uint32_t last = 0;
    for (uint32_t i = 0; i < picture_.rows.size(); ++i) {
      const PictureRow& row = picture_.rows[i];
      if (row.fold != kNone32 || !named_.contains(row.dispatch)) continue;
      first = std::min(first, i);
      last = std::max(last, i);
    }
    if (first == kNone32) return;
    for (uint32_t i = first; i <= last && rows_.size() < kWitnessEntriesMax; ++i) {
      const PictureRow& row = picture_.rows[i];
      if (row.fold == kNone32 && row.dispatch.is_some()) rows_.emplace(row.dispatch, i);
    }
  }

  void see(const Step& step, DispatchId id, uint32_t row) {
    std::vector<WitnessEntry>& entries = picture_.witness;
    const std::string& name = picture_.rows[row].label;
    const std::string& detail = picture_.rows[row].detail;
    const std::string number = detail.empty() ? "" : " " + detail.substr(0, detail.find(' '));
    switch (step.kind) {
      case StepKind::kRun:
      case StepKind::kRunLate: {
        // Slices that follow each other are one entry.
        const bool goes_on =
            !entries.empty() && entries.back().row == row && entries.back().notes.empty();
        if (goes_on || entries.size() >= 2 * kWitnessEntriesMax) return;
        const bool is_part = step.slice_count != program_.dispatch(id).slice_count;
        entries.push_back(
            {row, name + number + (is_part ? " in part" : ""), {}, moved_.contains(id)});
        return;
      }
      case StepKind::kCommit:
        return add_note(fmt::format("writes of {} arrive", name));
      case StepKind::kFetch:
        return add_note(fmt::format("{} reads already", name));
      case StepKind::kDrop:
        return add_note(fmt::format("writes of {} are lost", name));
    }
  }

  void add_note(std::string note) {
    if (picture_.witness.empty()) picture_.witness.push_back({rows_.begin()->second, "", {}, true});
    std::vector<std::string>& notes = picture_.witness.back().notes;
    if (notes.size() < kNotesMax && std::ranges::find(notes, note) == notes.end()) {
      notes.push_back(std::move(note));
    }
  }

  const Program& program_;
  const Program& reference_;
  Picture& picture_;
  std::set<DispatchId> named_;
  std::set<DispatchId> moved_;
  std::map<DispatchId, uint32_t> rows_;
};

}  // namespace

void draw_witness(const Program& program, const Program& reference, const HappensBefore& order,
                  const Finding& finding, Picture& picture) {
  const std::vector<Displacement> witness = witness_in(program, reference, finding.witness);
  if (witness.empty()) return;
  const Result<Schedule> schedule = schedule_of(reference, order, witness);
  if (!schedule) return;
  WitnessList(program, reference, finding, picture).run(*schedule);
  for (const Displacement& displacement : finding.witness) {
    if (picture.witness_text.size() > kWitnessTextMax) {
      picture.witness_text += ", …";
      break;
    }
    picture.witness_text +=
        (picture.witness_text.empty() ? "" : ", ") + text_of(program, displacement);
  }
}

}  // namespace interlock
