#include "encoder/queues/mlx_fences.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "encoder/program/error_of.h"
#include "encoder/program/limits.h"
#include "encoder/program/stop.h"
#include "encoder/queues/dispatch_conflicts.h"
#include "encoder/queues/host_work.h"
#include "encoder/queues/queue_commands.h"
#include "encoder/sync/encoder.h"
#include "encoder/sync/mlx.h"
#include "encoder/sync/recording_sink.h"
#include "encoder/sync/sync_command.h"

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

class MlxFencesEncoder {
 public:
  MlxFencesEncoder(const Program& program, MlxFenceRules rules)
      : program_(program), rules_(rules), hands_on_(host_has_copies(program)) {}

  Result<Program> run() {
    for (const Statement& statement : program_.statements) {
      if (is_stopped()) return Program{};
      if (statement.kind == StatementKind::kDispatch) {
        const DispatchId id(size_t{statement.index});
        if (program_.dispatch(id).host == HostAccess::kNone) {
          encode(id);
        } else {
          access_by_host(id);
        }
      } else if (statement.kind == StatementKind::kLifetime) {
        end_value(LifetimeId(size_t{statement.index}));
      } else if (statement.kind == StatementKind::kSync) {
        is_between_encoders_ |= program_.syncs[statement.index].kind == SyncKind::kSplit;
      }
    }
    // One is the default queue.
    const uint64_t encoder_count_max = Limits{}.queue_count - 1;
    if (encoders_.size() > encoder_count_max) {
      return error_of(
          "the program has {} Metal encoders; the models of MLX's fences take at most {}, as they "
          "give each a queue.",
          encoders_.size(), encoder_count_max);
    }
    strike_temporaries();
    issue_all();
    const auto queue_count = static_cast<uint32_t>(std::max<size_t>(1, encoders_.size()));
    return program_on_queues(program_, numbered_queues(QueueKind::kConcurrent, queue_count), sink_);
  }

 private:
  static constexpr size_t kHost = SIZE_MAX;  // In the place of an encoder.

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

  // What is issued one after another: Metal encoders, and what stands between them.
  struct Item {
    size_t encoder = kHost;
    DispatchId host_access;
    LifetimeId end;
    bool waits = false;  // The host, for all Metal encoders.
  };

  void encode(DispatchId id) {
    if (is_between_encoders_) {
      items_.push_back({.encoder = encoders_.size()});
      encoders_.emplace_back();
    }
    is_between_encoders_ = false;
    MetalEncoder& encoder = encoders_.back();
    const auto accesses = program_.declared_accesses_of(id);
    encoder.barriers.encode(
        {.id = id, .accesses = accesses, .atomic_op = program_.dispatch(id).atomic_op},
        encoder.commands);
    for (const Access& access : accesses) {
      encoder.inputs.insert(access.memory);
      if (!access.only_reads()) encoder.outputs.insert(access.memory);
      use(access, encoders_.size() - 1);
    }
  }

  void access_by_host(DispatchId id) {
    is_between_encoders_ = true;
    items_.push_back({.host_access = id, .waits = true});
    for (const Access& access : program_.accesses_of(id)) use(access, kHost);
  }

  void end_value(LifetimeId id) {
    const bool is_destroyed = program_.lifetimes[id.index].kind == LifetimeKind::kDestroy;
    is_between_encoders_ |= is_destroyed;
    if (is_between_encoders_) {
      items_.push_back({.end = id, .waits = is_destroyed});
    } else {
      encoders_.back().commands.issue_lifetime(id);
    }
  }

  void issue_all() {
    size_t waited_count = 0;  // Of Metal encoders, by the host.
    size_t issued_count = 0;
    for (const Item& item : items_) {
      for (; item.waits && waited_count < issued_count; ++waited_count) {
        const SemaphorePoint fence = {.semaphore = static_cast<uint32_t>(waited_count), .value = 1};
        sink_.issue_sync({.kind = SyncKind::kHostWaits, .points = {fence}});
      }
      if (item.waits) fences_.clear();
      if (item.host_access.is_some()) sink_.issue_dispatch(item.host_access);
      if (item.end.is_some()) sink_.issue_lifetime(item.end);
      if (item.encoder == kHost) continue;
      issue(item.encoder);
      ++issued_count;
    }
  }

  void issue(size_t index) {
    sink_.use_queue(static_cast<QueueIndex>(index));
    for (const uint32_t fence : fences_before(index)) {
      sink_.issue_wait({.semaphore = fence, .value = 1});
    }
    encoders_[index].commands.issue_again(sink_);
    if (hands_on_) sink_.issue_barrier(BarrierKind::kFull);
    sink_.issue_signal({.semaphore = static_cast<uint32_t>(index), .value = 1});
  }

  void use(const Access& access, size_t now) {
    const TensorId root = access.tensor.is_some() ? tensor(access.tensor).root : TensorId();
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
    while (root.is_some() && tensor(root).placement == Placement::kDonation) {
      root = tensor(tensor(root).source).root;
    }
    return root;
  }

  const Tensor& tensor(TensorId id) const { return program_.tensor(id); }

  void strike_temporaries() {
    for (const auto& [root, uses] : uses_) {
      const bool is_of_one = uses.first == uses.last && uses.first != kHost;
      if (!is_of_one || !uses.is_written_first) continue;
      const MemoryId memory = tensor(root).memory;
      const MemoryUses& memory_uses = memories_.at(memory);
      const bool is_fresh = !memory_uses.is_shared;
      const bool is_donation =
          tensor(root).placement == Placement::kDonation && !memory_uses.has_several_first;
      if (!is_fresh && !(is_donation && rules_.may_donate_temporaries)) continue;
      encoders_[uses.first].inputs.erase(memory);
      encoders_[uses.first].outputs.erase(memory);
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

  const Program& program_;
  const MlxFenceRules rules_;
  const bool hands_on_;
  RecordingSink sink_;
  std::vector<Item> items_;
  std::deque<MetalEncoder> encoders_;
  bool is_between_encoders_ = true;
  std::map<TensorId, Uses> uses_;
  std::map<MemoryId, MemoryUses> memories_;
  std::map<MemoryId, Fences> fences_;
};

Result<Program> encode_with_fences(const Program& program, MlxFenceRules rules) {
  if (auto checked = check_count(program); !checked) return checked.error();
  if (auto checked = check_host_work_of_no_queue(program); !checked) return checked.error();
  return MlxFencesEncoder(program, rules).run();
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
