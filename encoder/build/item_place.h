// ItemPlace: which part of an item an error is about.
#pragma once

#include <cstddef>
#include <cstdint>

namespace interlock {

// The part of an item that an error is about; the parser knows in which column it stands.
enum class ItemPart : uint8_t {
  kItem,
  kLabel,
  kName,  // Of a memory, tensor or capture; the loss of a backward pass.
  kSize,  // The bytes of a memory, the shape of a tensor.
  kBase,  // The memory or tensor that a tensor is placed in.
  kOffset,
  kInitial,
  kKernel,
  kOrder,
  kOperand,    // Of a dispatch, a barrier, an output or a backward pass, by position; also a
               // semaphore of a signal or a wait, and a waiting statement of a deadlock.
  kAttribute,  // By position.
  kFirst,      // The moved dispatch of a witness, the first of an expectation.
  kSlices,
  kSecond,  // The anchor of a witness, the second dispatch of an expectation.
  kEncoder,
  kMode,   // Of a backward pass.
  kAfter,  // A dispatch that an edge comes from, by position.
  kQueue,
};
inline constexpr size_t kItemPartCount = static_cast<size_t>(ItemPart::kQueue) + 1;

struct ItemPlace {
  // NOLINTNEXTLINE(google-explicit-constructor): most parts are there once.
  ItemPlace(ItemPart p = ItemPart::kItem, size_t i = 0) : part(p), index(i) {}

  ItemPart part;
  size_t index;  // Of kOperand, kAttribute and kAfter.
};

}  // namespace interlock
