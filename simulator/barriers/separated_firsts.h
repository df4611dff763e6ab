// Separated firsts: the latest earlier accesses that one conflicts with and has no hazard with, in
// a program that has hazards.
//
// AccessHistory keeps the latest access of each place, which separates all before it. Where that
// one has a hazard, an earlier one need not.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/barriers/order_findings.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/bytes/stamp_tree.h"
#include "simulator/order/places.h"

namespace interlock {

class SeparatedFirsts {
 public:
  // What is asked: the dispatches recorded at the place `first` that access number `access` of
  // `second` has a conflict of this kind with.
  struct Question {
    DispatchId second;
    size_t access = 0;
    PlaceIndex first = 0;
    FindingKind kind = FindingKind::kReadAfterWrite;
    Stamp threshold = 1;
  };

  // Requires: `hazards` are all of `program`, sorted, by its own numbers; all outlive this.
  SeparatedFirsts(const Program& program, const ByteSegments& segments, const Places& places,
                  std::span<const ByteHazards> hazards)
      : program_(program), segments_(segments), hazards_(hazards), dispatches_(places.count()) {
    index();
  }

  // Some earlier dispatch has a hazard with it. Cost: constant.
  bool has(DispatchId second) const {
    return !first_hazard_.empty() &&
           first_hazard_[second.index] != first_hazard_[second.index + size_t{1}];
  }

  // Those of `second`, the latest first ones at the end. Cost: constant.
  std::span<const ByteHazards> hazards_of(DispatchId second) const;

  // Remembers it, after all questions about it. Dispatches come in their order. Cost: constant.
  void record(PlaceIndex place, DispatchId dispatch);

  // Replaces `runs` by the runs of the access, in order, where it conflicts and has no hazard, with
  // the latest such dispatch as their stamp, which is a number plus 1, and no less than the
  // threshold. Requires: has(second). Cost: the dispatches of the place and their accesses, as far
  // back as the answer is open; logarithmic in the hazards of `second` for each; and the segments
  // of those with a hazard. Returns it.
  uint64_t find(const Question& question, std::vector<StampRun>& runs);

  // False if some hazard has ended within a segment. Then find() has answered with too little.
  bool is_exact() const { return is_exact_; }

 private:
  void index();
  std::span<const ByteHazards> hazards_between(DispatchId first, DispatchId second) const;
  void add_first(const Question& question, DispatchId first, std::vector<StampRun>& runs);
  void add_part(SegmentSpan part, Stamp stamp, std::span<const ByteHazards> hazards,
                FindingKind kind, std::vector<StampRun>& runs);
  bool is_hazard(uint32_t segment, MemoryId memory, std::span<const ByteHazards> hazards,
                 FindingKind kind);

  const Program& program_;
  const ByteSegments& segments_;
  const std::span<const ByteHazards> hazards_;
  std::vector<ByteHazards> by_second_;  // By the second dispatch, then as they were.
  std::vector<uint32_t> first_hazard_;  // By dispatch: of by_second_; and one more. Or empty.
  std::vector<std::vector<DispatchId>> dispatches_;  // By place.
  std::vector<SegmentSpan> open_;  // Of the access: where no first one is known. Sorted.
  std::vector<SegmentSpan> left_;
  MemoryId memory_;  // Of the access.
  uint64_t visit_count_ = 0;
  bool is_exact_ = true;
};

}  // namespace interlock
