// Fact: what a check establishes about a program, in the words of that check. A value, never an
// exception; one type for reports, campaigns and minimization. explain() (report/explain.h) makes
// sentences of it, find_facts() (find_facts.h) finds all of them. That a run differs from the
// reference is no fact of a program but of that run and its device: backends say it themselves.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/bytes/access_ref.h"
#include "simulator/gradients/gradient_check.h"
#include "simulator/hazards/alias_contracts.h"
#include "simulator/hazards/data_flow.h"
#include "simulator/hazards/hazards.h"
#include "simulator/hazards/undeclared.h"
#include "simulator/lifetimes/lifetimes.h"
#include "simulator/order/deadlock.h"

namespace interlock {

// A program without a hazard that has more barriers than the fewest for its order.
struct ExcessBarriers {
  uint64_t barrier_count = 0;
  uint64_t fewest = 0;

  bool operator==(const ExcessBarriers&) const = default;
};

// Statements that wait for each other, so that the reference run ends before them.
struct Deadlock {
  std::vector<BlockedStatement> cycle;

  bool operator==(const Deadlock&) const = default;
};

using Fact = std::variant<Hazard, AliasViolation, UndeclaredAccess, ReorderedRead, LifetimeFinding,
                          GradientFinding, ExcessBarriers, Deadlock>;

// Excess is kRedundant: some barrier can go, though no single one need be named.
FindingKind kind_of(const Fact& fact);

// Where in the program a fact is.
struct FactPlace {
  FindingKind kind = FindingKind::kReadAfterWrite;
  // Hazards: the earlier access. Alias: the input. Reordered: see ReorderedPair. Clobber: the
  // overwriter. Uninitialized, use-after-free: the reader, which is no dispatch if the end of the
  // program reads. Gradient: the last write of it, if any.
  AccessRef first;
  // Hazards: the later access. Alias: the output. Clobber: the reader; none if it is the end.
  std::optional<AccessRef> second;
  MemoryId memory;
  ByteRange overlap;
  LifetimeId lifetime;  // Use-after-free: what ended the value.
  // Use-after-free by a destroy that does not wait for `first`: what carries it out; none: another
  // fact.
  LifetimeId pending_at;
  TensorId tensor;  // Gradient: the tensor that it is by.
  // Deadlock: the statements of the cycle that wait, the first of the text first; not those that
  // are only not submitted. It has no accesses.
  std::vector<StatementId> waiting;
};

// Requires: the fact is of `program`; it is no ExcessBarriers, which is in no place.
// Cost: linear in the operands of the dispatches that it names.
FactPlace place_of(const Program& program, const Fact& fact);

// The two dispatches whose order is wrong where a read sees another writer than program order gives
// it. `check` and an expect line name these two: of the reader, the writer that it sees and the
// right one. Each with the operand that touches the bytes.
struct ReorderedPair {
  AccessRef issued_first;
  AccessRef issued_second;
  // Whether program order has the two the other way round, which explains the read. Where rows of
  // atomics differ without such a pair: the writer that is seen, or else the right one, and the
  // reader; at the end of the program the two writers.
  bool is_inverted = false;
};

// Cost: linear in the operands of the three dispatches.
ReorderedPair reordered_pair_of(const Program& program, const ReorderedRead& read);

}  // namespace interlock
