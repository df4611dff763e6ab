// Picture: one finding of a program, or a program without findings, as data. Time runs down: a row
// for each statement in the order of the reference run. What does not matter is in folds, which may
// open. Writers (svg.h, page.h, trace.h) lay it out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/order/happens_before.h"
#include "simulator/report/check.h"
#include "simulator/report/finding.h"

namespace interlock {

inline constexpr uint32_t kNone32 = UINT32_MAX;  // No row, no lane, no segment.

// What bounds a picture, whatever the program. Each more than zero.
struct PictureLimits {
  uint32_t rows_whole = 26;       // A program of no more statements is shown without folds.
  uint32_t rows_shown = 44;       // Else so many stand outside folds at most.
  uint32_t rows_unfolded = 1500;  // In all folds that open, at most.
  uint32_t lanes = 6;
  uint32_t memories = 4;
  uint32_t segments = 10;  // Of one memory.
  uint32_t links = 200;
};

struct PictureLane {
  std::string title;   // "q0", "host", "3 more queues".
  std::string detail;  // "concurrent".
};

enum class RowKind : uint8_t {
  kDispatch,
  kBarrier,
  kSync,
  kLifetime,
  kFold,    // Right before the rows that it hides.
  kRepair,  // A line that is to be added.
  kEnd,     // The end of the program, which reads outputs.
};

struct PictureRow {
  RowKind kind = RowKind::kDispatch;
  uint32_t lane = kNone32;   // Into Picture::lanes. None: the whole width.
  StatementId statement;     // None of kFold, kRepair and kEnd.
  DispatchId dispatch;       // Of kDispatch.
  std::string label;         // What it is called.
  std::string detail;        // What stands beside that: the kernel, the number.
  std::string text;          // The whole statement.
  std::string access;        // Of a row of the finding: "writes g_bytes[0:64]".
  uint32_t fold = kNone32;   // The row of the fold that it is in.
  uint32_t epoch = kNone32;  // Of one queue with barriers: how many stand before it.
  // Of kFold: how much it stands for. A closed one has no rows, as there would be too many.
  uint64_t dispatch_count = 0;
  uint64_t other_count = 0;
  bool is_closed = false;
  bool is_in_finding = false;
  bool is_useless = false;   // Sync that can go.
  bool is_replaced = false;  // The repair has another line in its place.
  bool never_runs = false;
};

struct PictureMemory {
  MemoryId memory;
  std::string title;
  std::vector<uint64_t> boundaries;  // Of its segments, in bytes, rising: one more than those.
};

// Bytes of a memory that one row touches: neighbouring segments.
struct MapCell {
  uint32_t row = 0;
  uint32_t memory = 0;  // Into Picture::memories.
  uint32_t first_segment = 0;
  uint32_t segment_count = 0;
  uint64_t read_count = 0;
  uint64_t write_count = 0;
  std::string label;  // "reads g"; of a fold "2 writes, 7 reads".
  bool is_in_finding = false;
};

enum class OwnerKind : uint8_t {
  kNothing,  // Nobody wrote it.
  kRaw,      // Written without a name: by a range of a memory.
  kValue,
  kEnded,  // A value that was freed, or whose memory was reset or destroyed.
  kMixed,  // Several of these: the segment is not cut as finely.
};

// Who owns bytes, from one row to the next one that changes it.
struct OwnerRun {
  uint32_t memory = 0;
  uint32_t first_segment = 0;
  uint32_t segment_count = 0;
  uint32_t first_row = kNone32;  // None: from the start.
  uint32_t last_row = kNone32;   // None: to the end.
  OwnerKind kind = OwnerKind::kNothing;
  std::string label;
  uint32_t colour = 0;  // Of a kValue: the same for the same value. Of kRaw: another each time.
};

// From the earlier to the later access of a finding, or on to the next wait of a deadlock.
struct FindingArrow {
  uint32_t from_row = 0;
  uint32_t to_row = 0;
  std::string label;  // "WAR".
};

// What orders two rows: a signal and its wait, an edge, a set and its await.
struct OrderLink {
  uint32_t from_row = 0;
  uint32_t to_row = 0;
  bool is_repair = false;  // It is to be added.
};

// A dispatch in the order that shows the damage.
struct WitnessEntry {
  uint32_t row = 0;  // Of the dispatch in reference order.
  std::string label;
  std::vector<std::string> notes;  // What happens right after it: "writes of a arrive".
  bool is_moved = false;
};

struct Picture {
  std::string headline;              // One sentence.
  std::vector<std::string> details;  // Sentences.
  std::string fix;                   // Empty: nothing is to be repaired, or nothing is known.
  std::string kind_word;             // "WAR"; empty without a finding.
  std::vector<PictureLane> lanes;
  std::vector<PictureRow> rows;
  std::vector<PictureMemory> memories;
  uint64_t more_memories = 0;  // That the rows shown touch, beside those.
  std::vector<MapCell> cells;  // By row, memory, segment.
  std::vector<OwnerRun> owners;
  std::vector<FindingArrow> arrows;
  std::vector<OrderLink> links;
  std::string witness_text;  // "reduce after vjp"; empty: no order is known that shows it.
  std::vector<WitnessEntry> witness;
};

// The order of time in pictures.
struct RunOrder {
  std::vector<StatementId> statements;  // In reference order, then what never runs.
  std::vector<uint32_t> places;         // By statement: where it is in `statements`.
  uint64_t ran_count = 0;               // Of `statements`; those after it never run.

  uint32_t place_of(StatementId statement) const { return places[statement.index]; }
};

// Pictures of one program.
class PictureMaker {
 public:
  // Requires: `report` is of `program`, which has no text_order; both outlive this.
  // Cost: O(n log n) for n statements.
  PictureMaker(const Program& program, const CheckReport& report);

  // Of finding number `finding` of the report, or, without one, of the program and what of its sync
  // can go. Ends early, with a part, at a stop (stop.h). Requires: there is such a finding.
  // Cost: linear in statements and accesses, and schedule_of() of the witness.
  Picture of_finding(size_t finding, const PictureLimits& limits = {}) const;
  Picture of_program(const PictureLimits& limits = {}) const;

 private:
  Picture make(const Finding* finding, const PictureLimits& limits) const;

  const Program& program_;
  const CheckReport& report_;
  RunOrder time_;
  Program reference_;    // In reference order.
  HappensBefore order_;  // Of reference_.
};

}  // namespace interlock
