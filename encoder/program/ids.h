// Strong indices: a memory index cannot be passed where a dispatch index is meant.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace interlock {

template <typename Tag>
struct Id {
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  uint32_t index = kNone;

  constexpr Id() = default;
  constexpr explicit Id(size_t i) : index(static_cast<uint32_t>(i)) {}
  constexpr bool is_some() const { return index != kNone; }

  auto operator<=>(const Id&) const = default;
};

using NameId = Id<struct NameTag>;            // Into Program::names.
using MemoryId = Id<struct MemoryTag>;        // Into Program::memories.
using TensorId = Id<struct TensorTag>;        // Into Program::tensors.
using StatementId = Id<struct StatementTag>;  // Into Program::statements.
using DispatchId = Id<struct DispatchTag>;    // Into Program::dispatches, which is issue order.
using BarrierId = Id<struct BarrierTag>;      // Into Program::barriers.
using LifetimeId = Id<struct LifetimeTag>;    // Into Program::lifetimes.
using CaptureId = Id<struct CaptureTag>;      // Into Program::captures.
using KernelId = Id<struct KernelTag>;        // Into the kernel table.
using SyncId = Id<struct SyncTag>;            // Into Program::syncs.
using SyncNameId = Id<struct SyncNameTag>;    // What a name means to sync statements.
using SemaphoreId = Id<struct SemaphoreTag>;  // Into Program::semaphores.

// Which queue a statement is of: into Program::queues. Two bytes, as every statement has one.
using QueueIndex = uint16_t;
inline constexpr QueueIndex kDefaultQueue = 0;
inline constexpr QueueIndex kNoQueue = UINT16_MAX;  // The host's.

}  // namespace interlock
