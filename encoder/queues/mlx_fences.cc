#include "encoder/queues/mlx_fences.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "encoder/program/error_of.h"
#include "encoder/program/limits.h"
#include "encoder/queues/queue_commands.h"
#include "encoder/sync/encoder.h"
#include "encoder/sync/mlx.h"
#include "encoder/sync/recording_sink.h"

namespace interlock {
namespace {

struct MlxFenceRules {
  bool may_donate_temporaries;  // A temporary may be on the bytes of a donated tensor.
  bool knows_readers;           // Whoever writes waits for the fences of those who read.
};

// What a Metal encoder records. Its barriers know nothing of other encoders.
struct MetalEncoder {
  Mlx2026Encoder barriers;
  RecordingSink commands;
  std::set<MemoryId> inputs;  // Outputs, too.
  std::set<MemoryId> outputs;
};

class MlxFencesEncoder final : public Encoder {
 public:
  explicit MlxFencesEncoder(MlxFenceRules rules) : rules_(rules) {}

  void begin(std::span<const Tensor> tensors) override { tensors_ = tensors; }

  void encode(const EncoderDispatch& dispatch, CommandSink& /*sink*/) override {
    if (is_between_encoders_) encoders_.emplace_back();
    is_between_encoders_ = false;
    MetalEncoder& encoder = encoders_.back();
    encoder.barriers.encode(dispatch, encoder.commands);
    for (const Access& access : dispatch.accesses) {
      encoder.inputs.insert(access.memory);
      if (!access.only_reads()) encoder.outputs.insert(access.memory);
      use(access);
    }
  }

  void end_command_buffer(CommandSink& /*sink*/) override { is_between_encoders_ = true; }

  void finish(CommandSink& sink) override {
    strike_temporaries();
    for (size_t i = 0; i < encoders_.size(); ++i) {
      sink.use_queue(static_cast<QueueIndex>(i));
      for (const uint32_t fence : fences_before(i))
        sink.issue_wait({.semaphore = fence, .value = 1});
      encoders_[i].commands.issue_again(sink);
      sink.issue_signal({.semaphore = static_cast<uint32_t>(i), .value = 1});
    }
  }

 private:
  // The encoders that use a tensor, or the bytes of a memory.
  struct Uses {
    size_t first = 0;
    size_t last = 0;
    bool is_written_first = false;
  };

  // What of a memory somebody uses: a tensor, or ranges of it.
  struct MemoryUses {
    TensorId root;
    TensorId first_donor;
    bool is_shared = false;          // By another root.
    bool has_several_first = false;  // Roots, of which no donation leads to the other.
  };

  struct Fences {
    uint32_t writer = kNoFence;
    std::set<uint32_t> readers;  // Since then.
  };
  static constexpr uint32_t kNoFence = UINT32_MAX;

  void use(const Access& access) {
    const TensorId root = access.tensor.is_some() ? tensors_[access.tensor.index].root : TensorId();
    const size_t now = encoders_.size() - 1;
    const TensorId donor = first_donor_of(root);
    MemoryUses& memory =
        memories_.try_emplace(access.memory, MemoryUses{root, donor}).first->second;
    memory.is_shared |= memory.root != root;
    memory.has_several_first |= memory.first_donor != donor;
    if (root.is_some()) {
      const Uses first = {now, now, access.mode == AccessMode::kWrite};
      uses_.try_emplace(root, first).first->second.last = now;
    }
  }

  // Whose bytes a donation, and those before it, have passed on.
  TensorId first_donor_of(TensorId root) const {
    while (root.is_some() && tensors_[root.index].placement == Placement::kDonation) {
      root = tensors_[tensors_[root.index].source.index].root;
    }
    return root;
  }

  void strike_temporaries() {
    for (const auto& [root, uses] : uses_) {
      const Tensor& tensor = tensors_[root.index];
      if (uses.first != uses.last || !uses.is_written_first) continue;
      const MemoryUses& memory = memories_.at(tensor.memory);
      const bool is_fresh = !memory.is_shared;
      const bool is_donation =
          tensor.placement == Placement::kDonation && !memory.has_several_first;
      if (!is_fresh && !(is_donation && rules_.may_donate_temporaries)) continue;
      encoders_[uses.first].inputs.erase(tensor.memory);
      encoders_[uses.first].outputs.erase(tensor.memory);
    }
  }

  std::set<uint32_t> fences_before(size_t index) {
    const MetalEncoder& encoder = encoders_[index];
    const auto own = static_cast<uint32_t>(index);
    std::set<uint32_t> waits;
    for (const MemoryId memory : encoder.inputs) {
      Fences& fences = fences_[memory];
      if (fences.writer != kNoFence) waits.insert(fences.writer);
      const bool writes = encoder.outputs.contains(memory);
      if (writes && rules_.knows_readers)
        waits.insert(fences.readers.begin(), fences.readers.end());
      if (writes) {
        fences = {own, {}};
      } else {
        fences.readers.insert(own);
      }
    }
    return waits;
  }

  const MlxFenceRules rules_;
  std::span<const Tensor> tensors_;
  std::deque<MetalEncoder> encoders_;
  bool is_between_encoders_ = true;
  std::map<TensorId, Uses> uses_;
  std::map<MemoryId, MemoryUses> memories_;
  std::map<MemoryId, Fences> fences_;
};

Result<Program> encode_with_fences(const Program& program, MlxFenceRules rules) {
  const auto split_count =
      static_cast<uint64_t>(std::ranges::count(program.syncs, SyncKind::kSplit, &SyncStep::kind));
  if (split_count + 2 > Limits{}.queue_count) {
    return error_of(
        "the program has {} splits; the models of MLX's fences take fewer than {}, as they give "
        "each Metal encoder a queue.",
        split_count, Limits{}.queue_count - 1);
  }
  MlxFencesEncoder encoder(rules);
  return encode_on_queues(program, encoder, QueueKind::kConcurrent);
}

}  // namespace

Result<Program> encode_mlx_fences_4099(const Program& program, uint32_t /*queue_count*/) {
  return encode_with_fences(program, {.may_donate_temporaries = true, .knows_readers = false});
}

Result<Program> encode_mlx_fences_2026(const Program& program, uint32_t /*queue_count*/) {
  return encode_with_fences(program, {.may_donate_temporaries = false, .knows_readers = false});
}

Result<Program> encode_mlx_fences(const Program& program, uint32_t /*queue_count*/) {
  return encode_with_fences(program, {.may_donate_temporaries = false, .knows_readers = true});
}

}  // namespace interlock
