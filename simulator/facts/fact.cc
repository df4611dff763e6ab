#include "simulator/facts/fact.h"

#include <cstddef>
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

// Fills in all but the kind.
class PlaceOf {
 public:
  PlaceOf(const Program& program, FactPlace& place) : program_(program), place_(place) {}

  void operator()(const Hazard& hazard) const {
    place_.first = hazard.first;
    place_.second = hazard.second;
    place_.memory = access_of(program_, hazard.first).memory;
    place_.overlap = hazard.overlap;
  }

  void operator()(const AliasViolation& violation) const {
    place_.first = {violation.dispatch, violation.first};
    place_.second = AccessRef{violation.dispatch, violation.second};
    place_.memory = access_of(program_, place_.first).memory;
    place_.overlap = violation.overlap;
  }

  void operator()(const UndeclaredAccess& undeclared) const {
    place_.first = undeclared.access;
    place_.memory = access_of(program_, undeclared.access).memory;
    place_.overlap = undeclared.bytes;
  }

  void operator()(const ReorderedRead& read) const {
    const ReorderedPair pair = reordered_pair_of(program_, read);
    place_.first = pair.issued_first;
    place_.second = pair.issued_second;
    place_.memory = read.memory;
    place_.overlap = read.bytes;
  }

  void operator()(const LifetimeFinding& finding) const {
    const bool is_clobber = finding.kind == FindingKind::kClobber;
    place_.first = is_clobber ? finding.overwriter : finding.reader;
    if (is_clobber && finding.reader.dispatch.is_some()) place_.second = finding.reader;
    place_.memory = finding.memory;
    place_.overlap = finding.bytes;
    place_.lifetime = finding.ended_by;
  }

  void operator()(const GradientFinding& finding) const {
    const Tensor& gradient = program_.tensor(finding.gradient);
    place_.memory = gradient.memory;
    place_.overlap = gradient.range;
    place_.tensor = finding.tensor;
    if (!finding.writer.is_some()) return;
    place_.first.dispatch = finding.writer;
    const std::span<const Access> accesses = program_.accesses_of(finding.writer);
    for (size_t a = 0; a < accesses.size(); ++a) {
      const bool is_it = !accesses[a].only_reads() && accesses[a].tensor.is_some() &&
                         program_.tensor(accesses[a].tensor).root == gradient.root;
      if (is_it) place_.first.access = static_cast<uint32_t>(a);
    }
  }

  void operator()(const ExcessBarriers&) const { INTERLOCK_CHECK(false); }

 private:
  const Program& program_;
  FactPlace& place_;
};

}  // namespace

FindingKind kind_of(const Fact& fact) { return std::visit(KindOf{}, fact); }

FactPlace place_of(const Program& program, const Fact& fact) {
  FactPlace place;
  place.kind = kind_of(fact);
  std::visit(PlaceOf(program, place), fact);
  return place;
}

}  // namespace interlock
