#include "fuzz/cli/command_pairs.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include "capture/convert/captured_places.h"

namespace interlock {
namespace {

using CommandPair =
    std::tuple<FindingKind, std::optional<CapturedPlace>, std::optional<CapturedPlace>>;

}  // namespace

uint64_t put_pairs_first(const Program& program, CheckReport& report) {
  const auto place = [&](const AccessRef& end) {
    return place_of_label(program.reference_of(end.dispatch));
  };
  std::set<CommandPair> seen;
  const auto rest = std::stable_partition(
      report.findings.begin(), report.findings.end(), [&](const Finding& finding) {
        if (!is_hazard(finding.kind) || !finding.second) return true;
        const auto first = place(finding.first);
        const auto second = place(*finding.second);
        return !first || !second || seen.emplace(finding.kind, first, second).second;
      });
  return static_cast<uint64_t>(rest - report.findings.begin());
}

}  // namespace interlock
