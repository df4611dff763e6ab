// VisibilityMap: how far the latest write of each byte has got, for the writes of one sort, while
// the statements of a program are visited in reference order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "encoder/program/scope.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/bytes/segment_set.h"
#include "simulator/order/scoped_order.h"

namespace interlock {

class VisibilityMap {
 public:
  // For writes of sort `written_as`. Only the visibility to `sorts` matters. No byte is written
  // yet.
  VisibilityMap(uint32_t segment_count, StageAccess written_as, AccessMask sorts);

  // A write: it has reached nothing yet. Cost: O(log segments), amortized.
  void write(SegmentSpan span);

  // Applies the dependencies of one command; `operand_spans` are the segments of all operands of
  // the program. Returns the work done, in classes and runs looked at.
  // Cost: the dependencies times the classes of bytes with one reach, of which there are few, and
  // the runs that the operands touch.
  uint64_t apply(std::span<const ScopedDependency> dependencies,
                 std::span<const SegmentSpan> operand_spans);

  // Appends the maximal runs of `span` that are written and whose latest write is not visible to
  // `sort`, in order. Returns the work done. Not const: runs that have become alike are joined.
  uint64_t append_invisible(SegmentSpan span, StageAccess sort, std::vector<SegmentSpan>& runs);

 private:
  using ClassId = uint32_t;

  // Bytes whose latest writes have the same reach. Classes join and never part.
  struct Class {
    Reach before;  // The command that is being applied.
    Reach after;
    uint32_t run_count = 0;
  };

  ClassId root_of(ClassId id);
  ClassId class_of_run(uint32_t begin);
  ClassId class_with(Reach before, Reach after);
  ClassId add_class(Reach before, Reach after);
  Reach simplified(Reach reach) const;
  void split_at(uint32_t segment);
  void assign(SegmentSpan span, ClassId id);
  void join_with_previous(uint32_t begin);
  uint64_t apply_to_operand(const ScopedDependency& dependency, SegmentSpan span);
  void finish_command();

  uint32_t segment_count_;
  StageAccess written_as_;
  AccessMask sorts_;
  SegmentSet starts_;              // Where runs begin; 0 is always one.
  std::vector<ClassId> class_at_;  // By segment; meaningful where a run begins.
  std::vector<ClassId> parent_;    // By class: itself, or one that it has joined.
  std::vector<Class> classes_;     // By class; meaningful for those that have joined no other.
  std::vector<ClassId> live_;      // Those that have joined no other and had runs lately.
};

}  // namespace interlock
