// HeldValue: what a byte holds as a logical value, how a statement changes that, and what a read
// finds. The same rules serve runs of bytes (lifetimes.h) and the history of one (explanations).
//
// Several tensors hold a value: the one that it was written through, and those that adopted it.
// Each lets go of it by itself; a reset takes it from all of them.
//
// For example, x lies in the memory arena. What a byte of x holds after each statement:
//
//   save: dispatch Save writes x    owner x
//   pin x                           the same: pins are counted by tensor, not by byte
//   adopt grad = x                  owner grad, holders {x, grad}
//   free x                          owner grad, holders {x, released by the free; grad}
//   reset arena                     as before, and reset_by the reset
//   dispatch Early reads grad       clean: grad is among the holders
//   unpin x                         ended_by the reset, ended_at the unpin
//   dispatch Late reads grad        use-after-free
//
// The free finds x pinned, so it only leaves its mark on the holder. So does the reset, which finds
// a pinned holder, on the value itself. The unpin carries out both, first what was issued first: x
// lets go, and grad holds the value alone; then no holder is pinned, and the reset ends it. The
// finding names the reset as what ended the value and the unpin as where, so that the advice is to
// move the unpin. Were there no reset, grad would go on to hold the value, and Late be clean.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/lifetimes/pin_history.h"

namespace interlock {

using HoldersId = Id<struct HoldersTag>;  // Into Holdings.

enum class HeldKind : uint8_t {
  kNothing,  // Nobody wrote it: host data to raw ranges, nothing to tensors.
  kUnknown,  // Written through a raw range, which owns nothing.
  kValue,    // Written through a tensor, or an initial value.
};

struct HeldValue {
  HeldKind kind = HeldKind::kNothing;
  TensorId owner;       // Of kValue: the root of the tensor, or of those the last that adopted it.
  HoldersId holders;    // Of kValue: who holds it. None: the owner alone, which has not let go.
  LifetimeId reset_by;  // The reset that waits for an unpin.
  LifetimeId ended_by;  // The free, destroy or reset that ended it; none: it lives.
  LifetimeId ended_at;  // What carried that out: itself, or an unpin.

  bool is_ended() const { return ended_at.is_some(); }
  bool operator==(const HeldValue&) const = default;
};

// What a lifetime statement does to a value.
enum class HeldChange : uint8_t {
  kNone,
  kAdopted,
  kDeferred,  // It waits for an unpin.
  kLetGo,     // By one of those that hold it.
  kEnded,
};

// What a write leaves in its bytes. `root`: of the tensor written through; none for a raw range.
HeldValue written_value(TensorId root);

// The bytes that the statement can change; empty for a pin.
ByteRange affected_by(const Program& program, const Lifetime& lifetime);

// A list of holders costs its length in memory, and in time whenever a byte with it is looked at.
// So many of each list cost nothing; of the rest all different lists together may have
// kHolderEntriesMax, and kHoldersFree of them are as much work as one run of bytes. One value may
// have about 1,400 holders.
inline constexpr size_t kHoldersFree = 64;
inline constexpr uint64_t kHolderEntriesMax = 1'000'000;

// Who holds values, and how often each tensor is pinned, as the lifetime statements are seen.
class Holdings {
 public:
  explicit Holdings(const Program& program);

  // Counts a pin or an unpin; does nothing for other statements.
  void count_pin(const Lifetime& lifetime);

  // From now on the pins are those after the statement `at`, which apply() is to be asked about;
  // null: those that are counted. `history` outlives that.
  void look_back(const PinHistory* history, LifetimeId at) {
    history_ = history;
    looked_back_to_ = at;
  }

  // Changes `value` as the lifetime statement does. Requires: it was given to count_pin() before,
  // and the byte lies in the range of affected_by(). Cost: O(log n) for n different lists of
  // holders so far, which are short.
  HeldChange apply(LifetimeId id, HeldValue& value);

  // The destroy that the statement carries out on such a byte, or none: an unpin that it waited
  // for, or itself where it need not wait. It waits where its tensor is pinned and holds the value,
  // whatever waits there already. To be asked before apply().
  LifetimeId destroy_done_by(LifetimeId id, const HeldValue& value) const;

  // What is wrong with a read through a tensor of this root, none for a raw range. `is_written`: a
  // dispatch wrote the value, so that it is not an initial one.
  std::optional<FindingKind> defect_of(const HeldValue& value, TensorId root,
                                       bool is_written) const;

  // Whether kHolderEntriesMax was reached; what is told is not all, then.
  bool is_over_limit() const { return entry_count_ > kHolderEntriesMax; }

  // Of one look at such a byte: 0 unless its list is long.
  uint64_t list_work(const HeldValue& value) const {
    return value.holders.is_some() ? (lists_[value.holders.index]->size() - 1) / kHoldersFree : 0;
  }

  // How many hold such a byte by a list; else 0.
  uint64_t list_length(const HeldValue& value) const {
    return value.holders.is_some() ? lists_[value.holders.index]->size() : 0;
  }

  // Of all lists, those that cost nothing left out.
  uint64_t entry_count() const { return entry_count_; }

 private:
  struct Holder {
    TensorId tensor;
    LifetimeId released_by;   // The first free or destroy of it that waits for its unpin.
    LifetimeId destroyed_by;  // The first such destroy; carried out even if a free ended the value.

    auto operator<=>(const Holder&) const = default;
  };
  using Holders = std::vector<Holder>;  // In the order in which they took hold.

  Holders holders_of(const HeldValue& value) const;
  void set_holders(Holders holders, HeldValue& value);
  bool holds(const HeldValue& value, TensorId tensor) const;
  // What of `tensor` waits for its unpin; none of both if it holds nothing.
  Holder waiting(const HeldValue& value, TensorId tensor) const;
  bool is_pinned(TensorId tensor) const {
    return history_ != nullptr ? history_->is_pinned(tensor, looked_back_to_)
                               : pins_[tensor.index] > 0;
  }
  bool has_pinned_holder(const HeldValue& value) const;

  HeldChange adopt(const Lifetime& lifetime, HeldValue& value);
  HeldChange release(LifetimeId id, TensorId tensor, HeldValue& value);
  HeldChange reset(LifetimeId id, HeldValue& value);
  HeldChange unpin(LifetimeId id, TensorId tensor, HeldValue& value);
  HeldChange let_go(LifetimeId by, LifetimeId at, TensorId tensor, HeldValue& value);

  const Program& program_;
  std::vector<uint32_t> pins_;  // By tensor.
  const PinHistory* history_ = nullptr;
  LifetimeId looked_back_to_;
  std::map<Holders, HoldersId> ids_;
  std::vector<const Holders*> lists_;  // By HoldersId: the keys of `ids_`.
  uint64_t entry_count_ = 0;
};

}  // namespace interlock
