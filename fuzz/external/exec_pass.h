// ExecPass: a planner, a backward pass or a replay policy that is a command, in any language
// (docs/exec.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "encoder/program/result.h"
#include "encoder/sync/external_encoder.h"
#include "fuzz/external/process_pool.h"

namespace interlock {

enum class PassKind : uint8_t { kPlanner, kBackward, kReplay };

// "planner", "backward pass", "replay policy".
std::string_view word_of(PassKind kind);

class ExecPass final : public ExternalPass {
 public:
  // Errors: those of ProcessPool::open().
  static Result<std::unique_ptr<ExecPass>> open(PassKind kind, ExecOptions options);

  // Requires: the program has one queue, and no host; of a planner `remark` is that of its options
  // (remark_of() of encoder/plan/plan_by.h), of a backward pass that of what it is asked for
  // (remark_of() of encoder/assemble/append_backward_by.h).
  Encoding apply(const Program& program, const std::string& remark) override;

 private:
  ExecPass(PassKind kind, std::unique_ptr<ProcessPool> processes)
      : kind_(kind), processes_(std::move(processes)) {}

  PassKind kind_;
  std::unique_ptr<ProcessPool> processes_;
};

}  // namespace interlock
