// RecordingSink: the commands that an encoder issued, as a list.
#pragma once

#include <vector>

#include "encoder/sync/encoder.h"

namespace interlock {

struct Command {
  StatementKind kind = StatementKind::kDispatch;
  DispatchId dispatch;                       // Of kDispatch.
  BarrierKind barrier = BarrierKind::kFull;  // Of kBarrier.

  bool operator==(const Command&) const = default;
};

class RecordingSink final : public CommandSink {
 public:
  void issue_dispatch(DispatchId id) override {
    commands_.push_back({StatementKind::kDispatch, id, BarrierKind::kFull});
  }
  void issue_barrier(BarrierKind kind) override {
    commands_.push_back({StatementKind::kBarrier, DispatchId(), kind});
  }

  const std::vector<Command>& commands() const { return commands_; }

 private:
  std::vector<Command> commands_;
};

}  // namespace interlock
