#include "simulator/facts/fact.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "encoder/program/check.h"
#include "encoder/program/program_order.h"

namespace interlock {
namespace {

// The lowest position through which `writer` writes a byte of `bytes`.
AccessRef write_of(const Program& program, DispatchId writer, MemoryId memory, ByteRange bytes) {
  const std::span<const Access> accesses = program.accesses_of(writer);
  for (uint32_t k = 0; k < accesses.size(); ++k) {
    if (!accesses[k].only_reads() && accesses[k].memory == memory &&
        share_a_byte(accesses[k].range, bytes)) {
      return {writer, k};
    }
  }
  return {writer, 0};
}

bool are_inverted(const Program& program, DispatchId a, DispatchId b) {
  return a.is_some() && b.is_some() && a < b && is_earlier_in_program_order(program, b, a);
}

struct KindOf {
  FindingKind operator()(const Hazard& hazard) const { return hazard.kind; }
  FindingKind operator()(const AliasViolation&) const { return FindingKind::kAlias; }
  FindingKind operator()(const UndeclaredAccess&) const { return FindingKind::kUndeclared; }
  FindingKind operator()(const ReorderedRead&) const { return FindingKind::kReordered; }
  FindingKind operator()(const LifetimeFinding& finding) const { return finding.kind; }
  FindingKind operator()(const GradientFinding&) const { return FindingKind::kGradient; }
  FindingKind operator()(const ExcessBarriers&) const { return FindingKind::kRedundant; }
  FindingKind operator()(const Deadlock&) const { return FindingKind::kDeadlock; }
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
    if (finding.is_pending) place.pending_at = finding.ended_at;
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

  FactPlace operator()(const Deadlock& deadlock) const {
    FactPlace place;
    for (const BlockedStatement& blocked : deadlock.cycle) {
      if (blocked.is_a_wait) place.waiting.push_back(blocked.statement);
    }
    return place;
  }
};

}  // namespace

FindingKind kind_of(const Fact& fact) { return std::visit(KindOf{}, fact); }

FactPlace place_of(const Program& program, const Fact& fact) {
  FactPlace place = std::visit(PlaceOf{program}, fact);
  place.kind = kind_of(fact);
  return place;
}

ReorderedPair reordered_pair_of(const Program& program, const ReorderedRead& read) {
  const auto pair_of = [&](DispatchId first, DispatchId second, bool is_inverted) {
    const auto access_of_dispatch = [&](DispatchId id) {
      return id == read.reader ? AccessRef{read.reader, read.access}
                               : write_of(program, id, read.memory, read.bytes);
    };
    return ReorderedPair{access_of_dispatch(first), access_of_dispatch(second), is_inverted};
  };
  const std::pair<DispatchId, DispatchId> pairs[] = {{read.seen_writer, read.reader},
                                                     {read.reader, read.right_writer},
                                                     {read.right_writer, read.seen_writer}};
  for (const auto& [first, second] : pairs) {
    if (are_inverted(program, first, second)) return pair_of(first, second, true);
  }
  const DispatchId writer = read.seen_writer.is_some() ? read.seen_writer : read.right_writer;
  const auto [first, second] = read.reader.is_some()
                                   ? std::minmax({writer, read.reader})
                                   : std::minmax({read.seen_writer, read.right_writer});
  return pair_of(first, second, false);
}

}  // namespace interlock
