// Probes: small programs that have the conflict of a find and less and less of what stood around
// it. Whether an encoder goes wrong on one is an experiment: the widest probe on which it still
// does says what it gets wrong, and what in the find was chance.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/draft.h"
#include "encoder/program/program.h"
#include "simulator/hazards/hazards.h"

namespace interlock {

// A probe departs from two opaque dispatches with one operand each, which read or write one range
// of 64 bytes, in three ways. Of each way, the wider departures stand first.
enum class ProbeModes : uint8_t {
  kPlain,   // Reads and writes alone, as the kind of the hazard has them.
  kFirst,   // The mode of the find at the first access.
  kSecond,  // At the second.
  kBoth,
};

enum class ProbeRanges : uint8_t {
  kSame,
  kShort,         // One range, of as few bytes as the find shares.
  kOverlap,       // Long ranges that begin and end before each other as those of the find do.
  kShortOverlap,  // The ranges of the find.
  kTwoTensors,    // Two tensors on one range.
  kOwn,           // The tensors of the find, with their views and donations.
};

enum class ProbeContext : uint8_t {
  kNone,
  kOperands,       // `count` other operands before the two.
  kBefore,         // `count` dispatches before the two, with nothing in common.
  kBetween,        // `count` dispatches between the two, with nothing in common.
  kSharedMemory,   // A dispatch between the two that reads other bytes of their memory.
  kBarrierBefore,  // A dispatch before the two that conflicts with the first.
  kOwnOperands,    // The other operands of the two in the find.
  kOwnDispatches,  // The other dispatches of the find.
  kOwn,            // Both.
};

// What a probe keeps of a find.
struct ProbeShape {
  ProbeModes modes = ProbeModes::kPlain;
  ProbeRanges ranges = ProbeRanges::kSame;
  ProbeContext context = ProbeContext::kNone;
  uint64_t count = 0;
  // Operands are memories where the two of the find are tensors, and the other way round.
  bool swaps_names = false;

  bool operator==(const ProbeShape&) const = default;
};

// The shapes that hold nothing but what the find has, the widest first: of fewer departures before
// those of more. Not the find itself. `has_barrier`: whether the encoder placed one in the find.
// Requires: `hazard` is a hazard of `program` between two dispatches. So below.
// Defined in probe_shapes.cc, as all of shapes.
std::vector<ProbeShape> probe_shapes_of(const Program& program, const Hazard& hazard,
                                        bool has_barrier);

// "overlap-operands": how the probe departs from the widest one; empty for that.
std::string words_of(const Program& program, const Hazard& hazard, const ProbeShape& shape);

// The access modes of a hazard of this kind that is between a read and a write, or two writes.
AccessMode plain_first_mode(FindingKind kind);
AccessMode plain_second_mode(FindingKind kind);

inline bool keeps_first_mode(ProbeModes modes) {
  return modes == ProbeModes::kFirst || modes == ProbeModes::kBoth;
}
inline bool keeps_second_mode(ProbeModes modes) {
  return modes == ProbeModes::kSecond || modes == ProbeModes::kBoth;
}
inline bool is_cut_out(ProbeContext context) { return context >= ProbeContext::kOwnOperands; }

// Whether the two operands are tensors, and not memories.
// Defined in hazard_probes.cc, as probe_of().
bool names_tensors(const Program& program, const Hazard& hazard);

inline constexpr std::string_view kFirstOfProbe = "first";
inline constexpr std::string_view kSecondOfProbe = "second";

// The probe of this shape, without sync; its two dispatches are labelled as above.
// Requires: `hazard` is a hazard of `program` between two dispatches, or is like one but for its
// kind, if the modes are plain.
ProgramDraft probe_of(const Program& program, const Hazard& hazard, const ProbeShape& shape);

}  // namespace interlock
