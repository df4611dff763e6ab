#include "simulator/facts/fact.h"

#include <cstdint>
#include <span>

#include "encoder/program/check.h"
#include "simulator/facts/reordered_pair.h"

namespace interlock {
namespace {

struct KindOf {
  FindingKind operator()(const Hazard& hazard) const { return hazard.kind; }
  FindingKind operator()(const AliasViolation&) const { return FindingKind::kAlias; }
  FindingKind operator()(const UndeclaredAccess&) const { return FindingKind::kUndeclared; }
  FindingKind operator()(const ReorderedRead&) const { return FindingKind::kReordered; }
  FindingKind operator()(const LifetimeFinding& finding) const { return finding.kind; }
  FindingKind operator()(const GradientFinding&) const { return FindingKind::kGradient; }
  FindingKind operator()(const ExcessBarriers&) const { return FindingKind::kRedundant; }
};

// All but the kind.
struct PlaceOf {
  const Program& program;

  FactPlace operator()(const Hazard& hazard) const {
    return {.first = hazard.first,
            .second = hazard.second,
            .memory = access_of(program, hazard.first).memory,
            .overlap = hazard.overlap};
  }

  FactPlace operator()(const AliasViolation& violation) const {
    const AccessRef first{violation.dispatch, violation.first};
    return {.first = first,
            .second = AccessRef{violation.dispatch, violation.second},
            .memory = access_of(program, first).memory,
            .overlap = violation.overlap};
  }

  FactPlace operator()(const UndeclaredAccess& undeclared) const {
    return {.first = undeclared.access,
            .memory = access_of(program, undeclared.access).memory,
            .overlap = undeclared.bytes};
  }

  FactPlace operator()(const ReorderedRead& read) const {
    const ReorderedPair pair = reordered_pair_of(program, read);
    return {.first = pair.issued_first,
            .second = pair.issued_second,
            .memory = read.memory,
            .overlap = read.bytes};
  }

  FactPlace operator()(const LifetimeFinding& finding) const {
    const bool is_clobber = finding.kind == FindingKind::kClobber;
    FactPlace place{.first = is_clobber ? finding.overwriter : finding.reader,
                    .memory = finding.memory,
                    .overlap = finding.bytes,
                    .lifetime = finding.ended_by};
    if (is_clobber && finding.reader.dispatch.is_some()) place.second = finding.reader;
    return place;
  }

  FactPlace operator()(const GradientFinding& finding) const {
    const Tensor& gradient = program.tensor(finding.gradient);
    FactPlace place{.memory = gradient.memory, .overlap = gradient.range, .tensor = finding.tensor};
    if (!finding.writer.is_some()) return place;
    place.first.dispatch = finding.writer;
    const std::span<const Access> accesses = program.accesses_of(finding.writer);
    for (uint32_t a = 0; a < accesses.size(); ++a) {
      const bool is_it = !accesses[a].only_reads() && accesses[a].tensor.is_some() &&
                         program.tensor(accesses[a].tensor).root == gradient.root;
      if (is_it) place.first.access = a;
    }
    return place;
  }

  FactPlace operator()(const ExcessBarriers&) const { INTERLOCK_CHECK(false); }
};

}  // namespace

FindingKind kind_of(const Fact& fact) { return std::visit(KindOf{}, fact); }

FactPlace place_of(const Program& program, const Fact& fact) {
  FactPlace place = std::visit(PlaceOf{program}, fact);
  place.kind = kind_of(fact);
  return place;
}

}  // namespace interlock
