// Records about what dispatches touched, as their instrumented shaders noted it. They come after
// what they are about: once its submission was known to be complete.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/log/record_kind.h"

namespace interlock {

// Before all others here: the log has them.
struct ExactModeRecord {
  static constexpr RecordKind kKind = RecordKind::kExactMode;
  uint64_t device = 0;
  uint32_t own_set = 0;  // The number of the descriptor set of the layer.

  static void each_field(auto& self, auto& fields) { fields(self.device, self.own_set); }
};

// What the next dispatch that this command buffer records touches is noted under this number, which
// no other has, of any device of the log. From 1.
struct ExactSlotRecord {
  static constexpr RecordKind kKind = RecordKind::kExactSlot;
  uint64_t commands = 0;
  uint64_t slot = 0;

  static void each_field(auto& self, auto& fields) { fields(self.commands, self.slot); }
};

// The next submission to this queue has this number, which no other has, of any device of the log.
// From 1.
struct ExactSubmissionRecord {
  static constexpr RecordKind kKind = RecordKind::kExactSubmission;
  uint64_t queue = 0;
  uint64_t submission = 0;

  static void each_field(auto& self, auto& fields) { fields(self.queue, self.submission); }
};

// An element of a binding: what of it was touched. Ranges are in granules of a buffer, from where
// the binding begins, or in texels of a view, row by row and layer by layer: where each begins and
// ends, one after the other.
struct MeasuredElementFields {
  uint32_t set = 0;
  uint32_t binding = 0;
  uint32_t element = 0;
  uint32_t granule_shift = 0;  // Of a buffer: the bytes of a granule as a power of 2.
  uint32_t is_image = 0;
  uint32_t width = 0;  // Of a view. So the next two.
  uint32_t height = 0;
  uint32_t depth = 0;       // Or layers.
  uint32_t is_past = 0;     // Something was further than the binding goes, and is not here.
  uint32_t is_bounded = 0;  // The ranges are around what was touched: there were too many.
  std::vector<uint64_t> loads;
  std::vector<uint64_t> stores;

  static void each_field(auto& self, auto& fields) {
    fields(self.set, self.binding, self.element, self.granule_shift, self.is_image, self.width,
           self.height, self.depth, self.is_past, self.is_bounded, self.loads, self.stores);
  }
};

// What is not among the elements was not measured: all of it may have been touched.
struct ExactAccessesRecord {
  static constexpr RecordKind kKind = RecordKind::kExactAccesses;
  uint64_t submission = 0;
  uint64_t slot = 0;
  uint32_t is_shared = 0;  // Other executions of the same dispatch are in it, too.
  std::vector<MeasuredElementFields> elements;

  static void each_field(auto& self, auto& fields) {
    fields(self.submission, self.slot, self.is_shared, self.elements);
  }
};

// Something that was not measured, and why.
struct ExactRemarkRecord {
  static constexpr RecordKind kKind = RecordKind::kExactRemark;
  std::string what;

  static void each_field(auto& self, auto& fields) { fields(self.what); }
};

}  // namespace interlock
