#include "simulator/hazards/clean_scan.h"

#include <algorithm>

#include "encoder/kernel/kernel_table.h"
#include "simulator/bytes/access_history.h"

namespace interlock {
namespace {

// Reads that are looked at for an earlier one of the same place.
constexpr int kReadsLookedAt = 4;

}  // namespace

CleanScan::CleanScan(const Program& program, const QueueOrder& order, const ByteSegments& segments)
    : program_(program),
      order_(order),
      segments_(segments),
      is_over_(!program.host_dispatches.empty() ||
               std::ranges::any_of(program.accesses, &Access::is_atomic)),
      segments_left_(16 * program.accesses.size() + 100'000) {
  if (is_over_) return;
  last_write_.assign(segments.count(), kNone);
  first_read_.assign(segments.count(), kNone);
}

void CleanScan::count_segments(SegmentSpan span) {
  const uint64_t count = span.end - span.begin;
  is_over_ = is_over_ || count > segments_left_ || reads_.size() > segments_left_;
  segments_left_ -= std::min(count, segments_left_);
}

bool CleanScan::is_clean(DispatchId second) {
  const Dispatch& dispatch = program_.dispatch(second);
  for (uint32_t k = 0; k < dispatch.access_count; ++k) {
    const Access& access = program_.accesses[dispatch.first_access + k];
    const SegmentSpan span = segments_.span_of(dispatch.first_access + k);
    count_segments(span);
    if (is_over_) return false;
    const Stage stage = stage_of(dispatch, access);
    const auto read_sort = read_sort_of(stage, access);
    const auto write_sort = write_sort_of(stage, access);
    for (uint32_t segment = span.begin; segment < span.end; ++segment) {
      if (last_write_[segment] != kNone) {
        const bool is_visible =
            (!read_sort || is_written_before(segment, second, *read_sort, access.memory)) &&
            (!write_sort || is_written_before(segment, second, *write_sort, access.memory));
        if (!is_visible) return false;
      }
      if (write_sort && !is_read_before(segment, second, stage)) return false;
    }
  }
  return true;
}

bool CleanScan::is_written_before(uint32_t segment, DispatchId second, StageAccess sort,
                                  MemoryId memory) {
  const DispatchId writer(size_t{last_write_[segment]});
  const PlaceIndex place = order_.place_of(writer, stage_of(program_.dispatch(writer)));
  return writer.index < order_.invisible_begin(place, second, sort, memory);
}

bool CleanScan::is_read_before(uint32_t segment, DispatchId second, Stage stage) const {
  for (uint32_t i = first_read_[segment]; i != kNone; i = reads_[i].next) {
    if (reads_[i].dispatch >= order_.unfinished_begin(reads_[i].place, second, stage)) return false;
  }
  return true;
}

void CleanScan::record(DispatchId id) {
  const Dispatch& dispatch = program_.dispatch(id);
  for (uint32_t k = 0; k < dispatch.access_count; ++k) {
    const Access& access = program_.accesses[dispatch.first_access + k];
    // Of another part of the paths (places.h): its hazards with later ones are found there.
    if (order_.place_of(id, stage_of(dispatch, access)) == Places::kNone) return;
    if (!access.has_write_side()) continue;
    const SegmentSpan span = segments_.span_of(dispatch.first_access + k);
    for (uint32_t segment = span.begin; segment < span.end; ++segment) {
      forget_reads(segment);
      last_write_[segment] = id.index;
    }
  }
  // What it reads and writes it has read by itself: reads of it come after its writes here.
  for (uint32_t k = 0; k < dispatch.access_count; ++k) {
    const Access& access = program_.accesses[dispatch.first_access + k];
    if (!access.has_read_side()) continue;
    const SegmentSpan span = segments_.span_of(dispatch.first_access + k);
    const PlaceIndex place = order_.place_of(id, stage_of(dispatch, access));
    for (uint32_t segment = span.begin; segment < span.end; ++segment) {
      add_read(segment, id, place);
    }
  }
}

// The latest one of a place stands for those before it.
void CleanScan::add_read(uint32_t segment, DispatchId dispatch, PlaceIndex place) {
  int looked_at = 0;
  for (uint32_t i = first_read_[segment]; i != kNone && looked_at < kReadsLookedAt;
       i = reads_[i].next, ++looked_at) {
    if (reads_[i].place != place) continue;
    reads_[i].dispatch = dispatch.index;
    return;
  }
  uint32_t at = first_free_;
  if (at == kNone) {
    at = static_cast<uint32_t>(reads_.size());
    reads_.emplace_back();
  } else {
    first_free_ = reads_[at].next;
  }
  reads_[at] = {dispatch.index, place, first_read_[segment]};
  first_read_[segment] = at;
}

void CleanScan::forget_reads(uint32_t segment) {
  while (first_read_[segment] != kNone) {
    const uint32_t at = first_read_[segment];
    first_read_[segment] = reads_[at].next;
    reads_[at].next = first_free_;
    first_free_ = at;
  }
}

}  // namespace interlock
