// What the exact checks find, as plain values: no prose, no observability, so that a campaign can
// afford it on every program.
#include "encoder/program/stop.h"
#include "fuzz/judge/oracles.h"

#include "simulator/barriers/barrier_bounds.h"
#include "simulator/hazards/alias_contracts.h"
#include "simulator/hazards/data_flow.h"
#include "simulator/hazards/hazards.h"
#include "simulator/hazards/undeclared.h"
#include "simulator/lifetimes/destroy_needs.h"
#include "simulator/order/happens_before.h"

namespace interlock {

std::vector<OracleFinding> find_exactly(const Program& program) {
  return find_exactly(program, HappensBefore(program), ByteSegments(program));
}

std::vector<OracleFinding> find_exactly(const Program& program, const HappensBefore& order,
                                        const ByteSegments& segments) {
  std::vector<OracleFinding> findings;
  for (const Hazard& hazard : find_hazards(program, order, segments)) {
    if (is_stopped()) return findings;
    OracleFinding finding;
    finding.kind = hazard.kind;
    finding.first = hazard.first;
    finding.second = hazard.second;
    finding.memory = program.accesses_of(hazard.first.dispatch)[hazard.first.access].memory;
    finding.overlap = hazard.overlap;
    finding.is_ordered = hazard.is_ordered;
    findings.push_back(finding);
  }
  if (is_stopped()) return findings;
  for (const AliasViolation& violation : find_alias_violations(program)) {
    if (is_stopped()) return findings;
    OracleFinding finding;
    finding.kind = FindingKind::kAlias;
    finding.first = {violation.dispatch, violation.first};
    finding.second = AccessRef{violation.dispatch, violation.second};
    finding.memory = program.accesses_of(violation.dispatch)[violation.first].memory;
    finding.overlap = violation.overlap;
    findings.push_back(finding);
  }
  for (const UndeclaredAccess& undeclared : find_undeclared_accesses(program)) {
    OracleFinding finding;
    finding.kind = FindingKind::kUndeclared;
    finding.first = undeclared.access;
    finding.memory =
        program.accesses_of(undeclared.access.dispatch)[undeclared.access.access].memory;
    finding.overlap = undeclared.bytes;
    findings.push_back(finding);
  }
  if (!program.has_program_order || is_stopped()) return findings;
  for (const ReorderedRead& read : find_reordered(program)) {
    OracleFinding finding;
    finding.kind = FindingKind::kReordered;
    finding.first = {read.reader, read.access};
    finding.reordered = read;
    finding.memory = read.memory;
    finding.overlap = read.bytes;
    findings.push_back(finding);
  }
  return findings;
}

std::optional<OracleFinding> find_excess(const Program& program) {
  const ByteSegments segments(program);
  GreedyBarriers greedy(find_destroy_needs(program).pairs);
  ConflictObserver* const observers[] = {&greedy};
  const bool is_clean =
      find_hazards(program, HappensBefore(program), segments, 1, observers).empty();
  if (!is_clean || program.barriers.size() <= greedy.count()) return std::nullopt;
  OracleFinding finding;
  finding.is_excess = true;
  return finding;
}

}  // namespace interlock
