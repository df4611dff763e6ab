// The basic idea: a fetch is a step of its own iff another dispatch does anything between it and
// the run, and a commit likewise.
#include "simulator/schedules/queue_steps.h"

#include <cstddef>
#include <set>
#include <span>

#include "encoder/program/check.h"

namespace interlock {
namespace {

class StepWriter {
 public:
  StepWriter(const Program& program, const QueueMachine& machine,
             const std::vector<OperationPart>& parts)
      : program_(program), machine_(machine), parts_(parts) {
    commits_left_.resize(program.dispatches.size(), 0);
    for (const OperationPart& part : parts) {
      if (part.role == PartRole::kCommit) ++commits_left_[part.dispatch.index];
    }
  }

  Schedule write() && {
    for (size_t at = 0; at < parts_.size();) at = write_from(at);
    return std::move(schedule_);
  }

 private:
  // Returns where the next step begins.
  size_t write_from(size_t at) {
    const OperationPart& part = parts_[at];
    if (part.role == PartRole::kRun) return write_run(at);
    if (part.role == PartRole::kDrop) return write_drop(at);
    if (is_dropped(part)) return at + 1;
    const bool fetches = part.role == PartRole::kFetch;
    size_t end = at;
    while (end < parts_.size() && parts_[end].dispatch == part.dispatch &&
           parts_[end].role == part.role && !is_dropped(parts_[end])) {
      ++end;
    }
    if (fetches && runs_at(end, part.dispatch)) return write_run(end);
    write_bytes(fetches ? StepKind::kFetch : StepKind::kCommit, at, end);
    return end;
  }

  // The dispatch runs there; not only the stage that reads its arguments.
  bool runs_at(size_t at, DispatchId dispatch) const {
    return at < parts_.size() && parts_[at].dispatch == dispatch &&
           parts_[at].role == PartRole::kRun && !reads_arguments(parts_[at]);
  }

  // A commit that comes after the host has invalidated its bytes.
  bool is_dropped(const OperationPart& part) const {
    return part.role == PartRole::kCommit && dropped_.contains(part.piece);
  }

  // What has been committed before stays.
  size_t write_drop(size_t begin) {
    const DispatchId dispatch = parts_[begin].dispatch;
    const auto first_bytes = static_cast<uint32_t>(schedule_.bytes.size());
    uint32_t& left = commits_left_[dispatch.index];
    size_t end = begin;
    for (; end < parts_.size() && parts_[end].dispatch == dispatch &&
           parts_[end].role == PartRole::kDrop;
         ++end) {
      const uint32_t piece = parts_[end].piece;
      if (is_committed_.contains(piece)) continue;
      dropped_.insert(piece);
      --left;
      add_bytes(piece);
    }
    write_rest(StepKind::kDrop, dispatch, first_bytes);
    return end;
  }

  void add_bytes(uint32_t index) {
    const AccessPiece& piece = machine_.pieces()[index];
    const MemoryId memory = program_.accesses_of(piece.dispatch)[piece.access].memory;
    schedule_.bytes.push_back({memory, piece.bytes, piece.sort});
  }

  // A step about the bytes from there on, if any. The last one is about all that still waits.
  void write_rest(StepKind kind, DispatchId dispatch, uint32_t first_bytes) {
    Step step{kind, dispatch, first_bytes,
              static_cast<uint32_t>(schedule_.bytes.size()) - first_bytes};
    if (step.slice_count == 0) return;
    if (kind != StepKind::kFetch && commits_left_[dispatch.index] == 0) {
      schedule_.bytes.resize(first_bytes);
      step.first_slice = 0;
      step.slice_count = 0;
    }
    schedule_.steps.push_back(step);
  }

  bool reads_arguments(const OperationPart& part) const { return part.stage == Stage::kIndirect; }

  size_t write_run(size_t at) {
    const OperationPart& part = parts_[at];
    if (reads_arguments(part)) return at + 1;
    uint32_t& left = commits_left_[part.dispatch.index];
    size_t end = at + 1;
    while (end < parts_.size() && parts_[end].dispatch == part.dispatch &&
           parts_[end].role != PartRole::kDrop) {
      ++end;
    }
    const bool commits_at_once = end - at - 1 == left;
    const StepKind kind = commits_at_once ? StepKind::kRun : StepKind::kRunLate;
    schedule_.steps.push_back(whole_step(program_, part.dispatch, kind));
    if (!commits_at_once) return at + 1;
    left = 0;
    for (size_t i = at + 1; i < end; ++i) is_committed_.insert(parts_[i].piece);
    return end;
  }

  void write_bytes(StepKind kind, size_t begin, size_t end) {
    const DispatchId dispatch = parts_[begin].dispatch;
    const auto first_bytes = static_cast<uint32_t>(schedule_.bytes.size());
    if (kind == StepKind::kCommit) {
      commits_left_[dispatch.index] -= static_cast<uint32_t>(end - begin);
    }
    for (size_t i = begin; i < end; ++i) {
      add_bytes(parts_[i].piece);
      if (kind == StepKind::kCommit) is_committed_.insert(parts_[i].piece);
    }
    write_rest(kind, dispatch, first_bytes);
  }

  const Program& program_;
  const QueueMachine& machine_;
  const std::vector<OperationPart>& parts_;
  std::vector<uint32_t> commits_left_;  // By dispatch.
  std::set<uint32_t> is_committed_;     // By piece. So below.
  std::set<uint32_t> dropped_;
  Schedule schedule_;
};

}  // namespace

Schedule steps_of(const Program& program, const QueueMachine& machine,
                  const std::vector<OperationPart>& parts) {
  return StepWriter(program, machine, parts).write();
}

}  // namespace interlock
