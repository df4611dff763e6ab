// Passes that are asked once for each program: what is made small must not change while it is.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "encoder/plan/planner.h"
#include "encoder/program/program.h"
#include "encoder/queues/external_queue_encoder.h"
#include "encoder/replay/replay.h"
#include "encoder/sync/encoder.h"
#include "encoder/sync/external_encoder.h"
#include "fuzz/judge/pass_chain.h"

namespace interlock {

class RememberedEncoder final : public ExternalEncoder {
 public:
  // Requires: `encoder` outlives this. For one thread. So below.
  explicit RememberedEncoder(const EncoderEntry& encoder) : encoder_(encoder) {}

  Encoding encode(const Program& program) override;

 private:
  const EncoderEntry& encoder_;
  std::map<std::string, Encoding> answers_;  // By text of the program.
};

class RememberedQueueEncoder final : public ExternalQueueEncoder {
 public:
  explicit RememberedQueueEncoder(ExternalQueueEncoder& encoder) : encoder_(encoder) {}

  Encoding encode(const Program& program, uint32_t queue_count) override;

 private:
  ExternalQueueEncoder& encoder_;
  std::map<std::pair<uint32_t, std::string>, Encoding> answers_;  // By queues and text.
};

class RememberedPass final : public ExternalPass {
 public:
  explicit RememberedPass(ExternalPass& pass) : pass_(pass) {}

  Encoding apply(const Program& program, const std::string& remark) override;

 private:
  ExternalPass& pass_;
  std::map<std::pair<std::string, std::string>, Encoding> answers_;  // By remark and text.
};

// A chain whose passes of others are asked once for each program; those of this build as ever.
class RememberedChain {
 public:
  // Requires: the passes outlive this.
  explicit RememberedChain(const PassChain& chain);
  RememberedChain(const RememberedChain&) = delete;
  RememberedChain& operator=(const RememberedChain&) = delete;

  const PassChain& chain() const { return chain_; }

 private:
  PassChain chain_;
  std::unique_ptr<RememberedEncoder> encoder_;
  std::unique_ptr<RememberedPass> planner_;
  std::unique_ptr<RememberedPass> backward_;
  std::unique_ptr<RememberedPass> replay_;
  EncoderEntry encoder_entry_{};
  PlannerEntry planner_entry_{};
  BackwardEntry backward_entry_{};
  ReplayEntry replay_entry_{};
};

}  // namespace interlock
