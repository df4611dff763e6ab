// OwnReasons: why synchronization validation does not name what is found here.
//
// Of each byte version 1.3.239 keeps the last write and the reads since, and holds an access
// against those. A reason that follows from this is proven for the finding itself, on all of its
// bytes, by what the program has between the two commands. Others are known limits, and say that
// nobody looked whether they are met here; where there is none of either, nothing is known.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "capture/convert/captured_places.h"
#include "encoder/program/finding_kind.h"
#include "encoder/program/program.h"
#include "encoder/program/range.h"
#include "simulator/report/finding.h"

namespace interlock {

// What is to be looked at.
inline constexpr std::string_view kNoReason = "there is no known reason";
inline constexpr std::string_view kHostIsUnseen =
    "it does not look at what the host does to mapped memory";
inline constexpr std::string_view kPresentsAreApart =
    "one of the two is a presentation, of which it has kinds of hazards of its own (whether it names "
    "one is not checked)";

class OwnReasons {
 public:
  // Requires: `program` was captured; both outlive this.
  OwnReasons(const Program& program, const CapturedPlaces& places);

  // Of the findings of one kind at this command, none of which validation names: a reason for each,
  // or kNoReason. Cost: the operands between the two commands of each, up to a limit.
  std::string reason_of(const CapturedPlace& second, const std::vector<const Finding*>& findings);

  // Whether that limit was reached, so that a reason may have been missed.
  bool is_cut() const;

 private:
  // What hides an earlier access from one who keeps of each byte the last write, and the reads
  // since.
  enum class Cover : uint8_t {
    kNone,             // Or it is not known: that takes too many steps.
    kWrites,           // Commands in between write each byte.
    kReads,            // Of a WAW: they read or write each byte.
    kReadsOfTheFirst,  // Likewise, with the reads of the command of the first write itself.
  };
  using Side = bool (Access::*)() const;

  std::string reason_of(const CapturedPlace& second, const Finding& finding);
  // Whether another kind is named between the same two commands, one of which reads and writes all
  // of these bytes: empty if not.
  std::string reason_of_both_sides(const CapturedPlace& second, const Finding& finding);
  // Of two dispatches of one command buffer.
  std::string reason_of_dispatches(const Finding& finding);
  bool names(FindingKind kind, const CapturedPlace& second, const CapturedPlace& first) const;
  bool touches(const Dispatch& dispatch, const Finding& finding, Side side);
  Cover cover_of(const Finding& finding);
  // What is left of the ranges. Returns false if that takes too many steps.
  bool remove(const Dispatch& dispatch, MemoryId memory, Side side, std::vector<ByteRange>& ranges);

  const Program& program_;
  const CapturedPlaces& places_;
  std::set<std::tuple<FindingKind, CapturedPlace, CapturedPlace>> named_;  // Later before earlier.
  uint64_t step_count_ = 0;
};

}  // namespace interlock
