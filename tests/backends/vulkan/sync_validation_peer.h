// What synchronization validation will say of a program, computed from the program alone, and for
// each of our hazards that it will not report, why. The layer (1.3.239) keeps, for each byte, the
// last write and the last read of each stage since then, and looks at one operand at a time: an
// operand is a read or a write, and the search ends at its first hazard, lowest address first. What
// is ordered and visible it decides as we do; so whatever it says beyond these limits is a
// disagreement about a program.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backends/vulkan/device_limits.h"
#include "encoder/program/program.h"

namespace interlock {

// Why the two verdicts may differ.
enum class PeerLimit : uint8_t {
  // The layer is silent where we have a hazard.
  kWriteAfterWrite,  // Of two dispatches: ends the search of its operand, and is not reported.
  kReadsAndWrites,   // What one dispatch both reads and writes counts as a write, so as the above.
  kAtomics,          // An operand of atomics counts as a read: its shader has no plain store to it.
  kMostRecent,       // A later access stands where the earlier one of the pair was remembered.
  kOrderedReader,    // An ordered reader stands between: then the write passes for visible.
  // The lowering is more than the program says.
  kWideBinding,    // A binding starts at an aligned offset, and some hold whole words; a large
                   // uniform operand has a storage buffer.
  kComputeCopy,    // A copy or fill that no transfer command can do is a compute shader, and scopes
                   // that name `copy` cover those too.
  kSeveralPhases,  // A large mix is several dispatches with a barrier between.
};
inline constexpr size_t kPeerLimitCount = 8;
std::string_view word_of(PeerLimit limit);

// A message of the layer.
struct PeerMessage {
  FindingKind kind = FindingKind::kReadAfterWrite;
  DispatchId first;

  bool operator==(const PeerMessage&) const = default;
};

// What the layer says of one operand: at most one of these messages. It may name any reader that a
// write is not ordered after; and which operand of a dispatch it takes last, it does not say.
struct PeerOperand {
  DispatchId second;
  std::vector<PeerMessage> messages;
  bool may_be_silent = false;
};

struct PeerForecast {
  bool has_hazard = false;                     // By find_hazards(), of the program as it stands.
  std::array<bool, kPeerLimitCount> limits{};  // Those that hold.
  std::vector<PeerOperand> operands;           // Of which there may be a message.
  // Mistakes of this file or of the simulator: a message without a hazard, other hazards of the
  // same program in other words.
  std::vector<std::string> contradictions;

  bool has_limit() const;
};

// Requires: `limits` are those of the device that runs the program.
// Cost: quadratic in accesses.
PeerForecast forecast_sync_validation(const Program& program, const DeviceLimits& limits);

}  // namespace interlock
