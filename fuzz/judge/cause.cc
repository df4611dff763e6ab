// The basic idea is to generalize a find as far as the encoder still goes wrong: finds that meet at
// one probe have one cause. A name read off the find alone would be a guess; that the encoder goes
// wrong on a probe is observed.
#include "fuzz/judge/cause.h"

#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/text/printer.h"
#include "fuzz/generate/draft_positions.h"
#include "fuzz/judge/findings.h"
#include "fuzz/judge/oracles.h"
#include "fuzz/judge/probes.h"
#include "fuzz/judge/signature.h"

namespace interlock {
namespace {

constexpr FindingKind kHazardKinds[] = {FindingKind::kReadAfterWrite, FindingKind::kWriteAfterRead,
                                        FindingKind::kWriteAfterWrite};

std::string kind_word(FindingKind kind, bool is_ordered) {
  return std::string(word_of(kind)) + (is_ordered ? "-ordered" : "");
}

// The kinds of the conflict, that of the finding first: an update or an atomic has several.
std::vector<FindingKind> conflicts_of(const Program& program, const Hazard& hazard) {
  const ConflictKinds has = conflict_kinds(
      access_of(program, hazard.first), program.dispatch(hazard.first.dispatch).atomic_op,
      access_of(program, hazard.second), program.dispatch(hazard.second.dispatch).atomic_op);
  std::vector<FindingKind> kinds = {hazard.kind};
  for (const FindingKind kind : kHazardKinds) {
    if (kind != hazard.kind && has.has(kind)) kinds.push_back(kind);
  }
  return kinds;
}

Hazard of_kind(Hazard hazard, FindingKind kind) {
  hazard.kind = kind;
  return hazard;
}

// Where the dispatch of this label stands; none if there is none.
DispatchId find_label(const Program& program, std::string_view label) {
  for (uint32_t i = 0; i < program.dispatches.size(); ++i) {
    const NameId name = program.statements[program.dispatches[i].statement.index].label;
    if (name.is_some() && program.name(name) == label) return DispatchId(i);
  }
  return {};
}

}  // namespace

bool CauseFinder::fails(const ProgramDraft& probe, FindingKind kind, bool is_ordered) {
  const std::string question = kind_word(kind, is_ordered) + '\n' + print(probe);
  const auto [place, is_new] = answers_.emplace(question, false);
  if (!is_new) return place->second;
  // What is cut out of a find need not be a program.
  const auto program = build(probe);
  if (!program) return false;
  const Program encoded = encode_with(*program, &encoder_);
  const DispatchId first = find_label(encoded, kFirstOfProbe);
  const DispatchId second = find_label(encoded, kSecondOfProbe);
  for (const Fact& fact : find_exactly(encoded)) {
    const auto* const hazard = std::get_if<Hazard>(&fact);
    place->second |= hazard != nullptr && hazard->kind == kind &&
                     hazard->is_ordered == is_ordered && hazard->first.dispatch == first &&
                     hazard->second.dispatch == second;
  }
  return place->second;
}

bool CauseFinder::fails_on_one_range(FindingKind kind, bool is_ordered, const Program& encoded,
                                     const Hazard& hazard) {
  return fails(probe_of(encoded, of_kind(hazard, kind), {}), kind, is_ordered);
}

// "RAW-WAW": the kinds that the encoder misses in this shape, of those that it does not miss
// anyway. Empty if it misses all of those: then the shape alone is to blame.
std::string CauseFinder::kinds_of(const Program& encoded, const Hazard& hazard,
                                  const ProbeShape& shape) {
  std::string words;
  bool are_all = true;
  for (const FindingKind kind : kHazardKinds) {
    if (fails_on_one_range(kind, hazard.is_ordered, encoded, hazard)) continue;
    if (!fails(probe_of(encoded, of_kind(hazard, kind), shape), kind, hazard.is_ordered)) {
      are_all = false;
      continue;
    }
    words += kind_word(kind, hazard.is_ordered) + '-';
  }
  return are_all ? "" : words;
}

// Memories and tensors are missed alike as a rule. A barrier that is no memory dependency misses
// all that needs one.
Cause CauseFinder::cause_on_one_range(const Program& encoded, const Hazard& hazard,
                                      const std::string& probe) {
  ProbeShape other_names;
  other_names.swaps_names = true;
  if (!fails(probe_of(encoded, hazard, other_names), hazard.kind, hazard.is_ordered)) {
    const std::string_view word = names_tensors(encoded, hazard) ? "-tensors" : "-memories";
    return {kind_word(hazard.kind, hazard.is_ordered) + std::string(word), probe, false};
  }
  const bool misses_both =
      hazard.is_ordered &&
      fails_on_one_range(FindingKind::kReadAfterWrite, true, encoded, hazard) &&
      fails_on_one_range(FindingKind::kWriteAfterWrite, true, encoded, hazard);
  return {misses_both ? "ordered" : kind_word(hazard.kind, hazard.is_ordered), probe, true};
}

// Encoders see no kernels: if opaque dispatches come out of order, too, all do for one reason.
Cause CauseFinder::cause_of_reordering(const Program& given, const std::string& signature) {
  ProgramDraft draft = without_evidence(draft_of(given));
  for (DispatchDraft* dispatch : items_of<DispatchDraft>(draft)) {
    dispatch->kernel = "Opaque";
    if (!has_atomics(*dispatch)) dispatch->attributes.clear();
  }
  const auto program = build(draft);
  if (!program) return {signature, "", false};
  for (const Fact& fact : find_exactly(encode_with(*program, &encoder_))) {
    if (!std::holds_alternative<ReorderedRead>(fact)) continue;
    return {std::string(word_of(FindingKind::kReordered)), print(*program), false};
  }
  return {signature, "", false};
}

Cause CauseFinder::cause_of(const Program& given, const Program& encoded, const Fact& fact) {
  const std::string signature = signature_of(encoded, fact);
  if (std::holds_alternative<ReorderedRead>(fact)) return cause_of_reordering(given, signature);
  const auto* const hazard = std::get_if<Hazard>(&fact);
  const bool is_of_two = hazard != nullptr && hazard->second.dispatch != hazard->first.dispatch;
  if (!is_of_two) return {signature, "", false};
  const std::vector<FindingKind> kinds = conflicts_of(encoded, *hazard);
  for (const ProbeShape& shape : probe_shapes_of(encoded, *hazard, !encoded.barriers.empty())) {
    for (const FindingKind kind : kinds) {
      const bool has_plain_modes = shape.modes == ProbeModes::kPlain;
      if (!has_plain_modes && kind != hazard->kind) continue;
      const Hazard probed = of_kind(*hazard, kind);
      const ProgramDraft probe = probe_of(encoded, probed, shape);
      if (!fails(probe, kind, hazard->is_ordered)) continue;
      const std::string text = print(build(probe).value());
      if (shape == ProbeShape{}) return cause_on_one_range(encoded, probed, text);
      const std::string words = words_of(encoded, probed, shape);
      return {has_plain_modes ? kinds_of(encoded, probed, shape) + words : words, text, false};
    }
  }
  return {signature, "", false};
}

}  // namespace interlock
