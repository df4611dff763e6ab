// The basic idea: a fetch is a step of its own iff another dispatch does anything between it and
// the run, and a commit likewise.
#include "simulator/schedules/queue_steps.h"

#include <cstddef>

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
    const bool fetches = part.role == PartRole::kFetch;
    size_t end = at;
    while (end < parts_.size() && parts_[end].dispatch == part.dispatch &&
           parts_[end].role == part.role) {
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

  bool reads_arguments(const OperationPart& part) const { return part.stage == Stage::kIndirect; }

  size_t write_run(size_t at) {
    const OperationPart& part = parts_[at];
    if (reads_arguments(part)) return at + 1;
    uint32_t& left = commits_left_[part.dispatch.index];
    size_t end = at + 1;
    while (end < parts_.size() && parts_[end].dispatch == part.dispatch) ++end;
    const bool commits_at_once = end - at - 1 == left;
    const StepKind kind = commits_at_once ? StepKind::kRun : StepKind::kRunLate;
    schedule_.steps.push_back(whole_step(program_, part.dispatch, kind));
    if (!commits_at_once) return at + 1;
    left = 0;
    return end;
  }

  void write_bytes(StepKind kind, size_t begin, size_t end) {
    Step step{kind, parts_[begin].dispatch, static_cast<uint32_t>(schedule_.bytes.size()), 0};
    uint32_t& left = commits_left_[step.dispatch.index];
    if (kind == StepKind::kCommit) left -= static_cast<uint32_t>(end - begin);
    // The last commit is one of all that still waits.
    if (kind == StepKind::kCommit && left == 0) {
      step.first_slice = 0;
      end = begin;
    }
    for (size_t i = begin; i < end; ++i) {
      const AccessPiece& piece = machine_.pieces()[parts_[i].piece];
      const MemoryId memory = program_.accesses_of(piece.dispatch)[piece.access].memory;
      schedule_.bytes.push_back({memory, piece.bytes, piece.sort});
      ++step.slice_count;
    }
    schedule_.steps.push_back(step);
  }

  const Program& program_;
  const QueueMachine& machine_;
  const std::vector<OperationPart>& parts_;
  std::vector<uint32_t> commits_left_;  // By dispatch.
  Schedule schedule_;
};

}  // namespace

Schedule steps_of(const Program& program, const QueueMachine& machine,
                  const std::vector<OperationPart>& parts) {
  return StepWriter(program, machine, parts).write();
}

}  // namespace interlock
