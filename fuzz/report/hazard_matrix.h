// HazardMatrix: which kinds of hazard, by which relation of two ranges and with which kernels,
// campaigns have met. A cell is a kind, a relation and a kernel that takes part on either side.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/campaign/campaign.h"
#include "fuzz/judge/signature.h"

namespace interlock {

// The conflicts that the first programs of a campaign give to its encoder to order.
struct PosedConflicts {
  uint64_t run_count = 0;                  // Programs looked at.
  std::map<std::string, uint64_t> counts;  // By signature: in how many of them.
};

inline constexpr uint64_t kPosedRunsMax = 4096;
inline constexpr uint64_t kPosedDispatchesMax = 1u << 16;

// Of the first `run_count` programs of the campaign, as far as these limits or a stop let it look.
// Requires: `options.encoder` is some, and neither another pass nor several queues are put to the
// test. Cost: makes and checks each program, some 100 microseconds; asks no encoder.
PosedConflicts posed_conflicts(const CampaignOptions& options, uint64_t run_count);

class HazardMatrix {
 public:
  static constexpr std::array kKinds = {FindingKind::kReadAfterWrite, FindingKind::kWriteAfterRead,
                                        FindingKind::kWriteAfterWrite};

  struct Cell {
    uint64_t finding_count = 0;  // Over signatures, the runs that have them.
    uint64_t posed_count = 0;    // Likewise of posed conflicts.
    bool is_reached() const { return finding_count > 0 || posed_count > 0; }
  };
  using Row = std::array<Cell, kKinds.size() * kAliasShapes.size()>;  // Kind by kind.

  // Signatures that are not of hazards are in none. Rows: each kernel of the table, `Opaque`, and
  // whatever else signatures name.
  HazardMatrix(const std::vector<SignatureCount>& findings,
               const std::optional<PosedConflicts>& posed);

  const std::map<std::string, Row>& rows() const { return rows_; }  // By kernel.

 private:
  void add(const std::string& signature, uint64_t count, uint64_t Cell::*member);

  std::map<std::string, Row> rows_;
};

}  // namespace interlock
