// The rules of witnesses and expectations.
#include <algorithm>
#include <limits>
#include <optional>

#include "encoder/build/program_builder.h"
#include "encoder/kernel/kernel_binding.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/program/names.h"
#include "encoder/program/registry.h"
#include "encoder/program/statement_number.h"
#include "encoder/sync/encoder.h"

namespace interlock {
namespace {

bool concerns_one_dispatch(FindingKind kind) {
  return kind == FindingKind::kAlias || kind == FindingKind::kUndeclared ||
         kind == FindingKind::kUninitialized;
}

}  // namespace

// `@3`: the statement of that number; `@3@2`: the second thing that the barrier there does to
// operands.
bool ProgramBuilder::find_numbered(ItemPlace place, std::string_view reference,
                                   StatementId& statement) {
  const size_t end = std::min(reference.find('@', 1), reference.size());
  const bool is_whole = end == reference.size();
  const std::optional<uint64_t> number = decimal_of(reference.substr(1, end - 1));
  const std::optional<uint64_t> position =
      is_whole ? std::optional<uint64_t>(0) : decimal_of(reference.substr(end + 1));
  const size_t size = program_.statements.size();
  const auto number_at = [&](size_t i) { return text_number_of(program_, StatementId(i)); };
  const uint64_t count = size == 0 ? 0 : uint64_t{number_at(size - 1)} + 1;
  if (!number || !position || *number >= count) {
    return fail(place, "there is no statement {}; {} stand before this line.", in_quotes(reference),
                count);
  }
  size_t first = static_cast<size_t>(*number);
  for (size_t last = size; first < last;) {
    const size_t middle = first + (last - first) / 2;
    if (number_at(middle) < *number) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  const bool is_there = is_whole || (*position > 0 && *position < size - first &&
                                     number_at(first + *position) == *number);
  statement = StatementId(first + (is_there ? *position : 0));
  return is_there || fail(place, "statement {} does not do so many things to operands.",
                          in_quotes(reference.substr(0, end)));
}

// Finds the statement of this kind that `reference` names, by label, by position in its list or by
// number.
bool ProgramBuilder::find_statement(ItemPlace part, StatementKind kind,
                                    const std::string& reference, uint32_t& index) {
  const bool is_lifetime = kind == StatementKind::kLifetime;
  const std::string_view noun = noun_of(kind).substr(2);
  if (!reference.empty() && is_digit(reference[0])) {
    const bool is_dispatch = kind == StatementKind::kDispatch;
    const size_t count = is_lifetime   ? program_.lifetimes.size()
                         : is_dispatch ? counted_dispatch_count()
                                       : program_.barriers.size();
    const auto position = decimal_of(reference);
    if (!position || *position >= count) {
      return fail(part, "there is no {} {}; {} stand before this line.", noun, in_quotes(reference),
                  count);
    }
    index = is_dispatch ? program_.dispatch_of_number(*position).index
                        : static_cast<uint32_t>(*position);
    return true;
  }
  NameMeaning meaning = meaning_of(reference);
  if (reference.starts_with('@') && !find_numbered(part, reference, meaning.label)) return false;
  if (!meaning.label.is_some() && meaning.recorded_label.is_some()) {
    return fail(
        part,
        "label {} stands in capture {}, which only its replays execute; expected {}@1 for the first of them.",
        in_quotes(reference),
        in_quotes(program_.name(program_.captures[meaning.recorded_label.index].name)), reference);
  }
  if (!meaning.label.is_some()) {
    return fail(part, "no {} before this line has the label {}.{}",
                is_lifetime ? "free, destroy or reset" : noun, in_quotes(reference),
                advice_for(reference, &NameMeaning::label));
  }
  const Statement& statement = program_.statements[meaning.label.index];
  if (kind == StatementKind::kDispatch && has_transition(meaning.label)) {
    index = program_.statements[size_t{meaning.label.index} + 1].index;
    return true;
  }
  if (statement.kind != kind) {
    return fail(part, "{}{} stands on {}; expected {}.", reference.starts_with('@') ? "" : "label ",
                in_quotes(reference), noun_of(statement.kind),
                is_lifetime ? "a free, a destroy or a reset" : noun_of(kind));
  }
  index = statement.index;
  return true;
}

bool ProgramBuilder::append(const WitnessDraft& item) {
  if (!check_not_recording("a witness") ||
      !check_count(program_.witness.size() + 1, "witness lines", limits_.witness_count)) {
    return false;
  }
  Displacement displacement;
  displacement.kind = item.kind;
  DispatchId& moved = displacement.moved;
  if (!find_dispatch(ItemPart::kFirst, item.moved, moved) ||
      !find_dispatch(ItemPart::kSecond, item.anchor, displacement.anchor)) {
    return false;
  }
  if (moved == displacement.anchor) {
    return fail(ItemPart::kSecond,
                "the witness moves {} relative to itself; expected two dispatches.",
                in_quotes(item.moved));
  }
  if (item.slices) {
    const auto [first, end] = *item.slices;
    const uint64_t slice_count = slice_count_of(program_, program_.dispatch(moved));
    if (first >= end) {
      return fail(ItemPart::kSlices, "the slices [{}:{}] of {} are none; expected at least one.",
                  first, end, in_quotes(item.moved));
    }
    if (end > slice_count || end > std::numeric_limits<uint32_t>::max()) {
      return fail(ItemPart::kSlices, "the slices [{}:{}] end past the last of {}, which has {}.",
                  first, end, program_.description_of(moved), slice_count);
    }
    displacement.has_slices = true;
    displacement.first_slice = static_cast<uint32_t>(first);
    displacement.slice_count = static_cast<uint32_t>(end - first);
  }
  program_.witness.push_back(displacement);
  return true;
}

bool ProgramBuilder::find_dispatches(const ExpectDraft& item, Expectation& expectation) {
  if (!find_dispatch(ItemPart::kFirst, item.first, expectation.first)) return false;
  if (item.second.empty()) {
    return !is_hazard(item.kind) ||
           fail(ItemPart::kFirst, "{} concerns two dispatches, and only {} is named.",
                word_of(item.kind), in_quotes(item.first));
  }
  if (concerns_one_dispatch(item.kind)) {
    return fail(ItemPart::kSecond, "{} concerns one dispatch, and {} is a second.",
                in_quotes(word_of(item.kind)), in_quotes(item.second));
  }
  return find_dispatch(ItemPart::kSecond, item.second, expectation.second);
}

// What a line about `redundant` names: an edge by its two ends, all else by itself.
bool ProgramBuilder::find_redundant(const ExpectDraft& item, Expectation& expectation) {
  if (item.encoder.empty() && !item.second.empty() && !program_.edges.empty()) {
    if (!find_dispatch(ItemPart::kFirst, item.first, expectation.first) ||
        !find_dispatch(ItemPart::kSecond, item.second, expectation.second)) {
      return false;
    }
    const auto edges = program_.edges_to(expectation.second);
    return std::ranges::count(edges, expectation.first, &Edge::from) > 0 ||
           fail(ItemPart::kSecond, "{} has no edge from {}; expected one that is 'after' it.",
                program_.description_of(expectation.second),
                program_.description_of(expectation.first));
  }
  StatementId labelled = item.encoder.empty() ? meaning_of(item.first).label : StatementId();
  if (item.encoder.empty() && item.first.starts_with('@') &&
      !find_numbered(ItemPart::kFirst, item.first, labelled)) {
    return false;
  }
  if (labelled.is_some() && item.second.empty()) {
    const Statement& statement = program_.statements[labelled.index];
    if (statement.kind == StatementKind::kSync) {
      expectation.sync = SyncId(statement.index);
      return true;
    }
  }
  return find_barrier(item, expectation.barrier);
}

// The statements that wait for each other, on a line about `deadlock`.
bool ProgramBuilder::find_waiting(const ExpectDraft& item, Expectation& expectation) {
  if (item.waiting.empty() || item.waiting.size() > limits_.access_count_per_dispatch) {
    return fail(ItemPart::kItem, "'deadlock' concerns {} statements here; expected 1 to {}.",
                item.waiting.size(), limits_.access_count_per_dispatch);
  }
  for (size_t i = 0; i < item.waiting.size(); ++i) {
    const std::string& reference = item.waiting[i];
    const ItemPlace place(ItemPart::kOperand, i);
    StatementId labelled = meaning_of(reference).label;
    if (reference.starts_with('@') && !find_numbered(place, reference, labelled)) return false;
    if (labelled.is_some()) {
      expectation.waiting.push_back(labelled);
      continue;
    }
    DispatchId dispatch;
    if (!find_statement(place, StatementKind::kDispatch, reference, dispatch.index)) return false;
    expectation.waiting.push_back(program_.dispatch(dispatch).statement);
  }
  return true;
}

// The barrier that a line about `redundant` names.
bool ProgramBuilder::find_barrier(const ExpectDraft& item, BarrierId& barrier) {
  const std::string& reference = item.first;
  if (!item.second.empty()) {
    return fail(ItemPart::kSecond, "'redundant' concerns one barrier, and {} is a second.",
                in_quotes(item.second));
  }
  if (item.encoder.empty()) {
    return find_statement(ItemPart::kFirst, StatementKind::kBarrier, reference, barrier.index);
  }
  if (reference.empty() || !is_digit(reference[0])) {
    return fail(ItemPart::kFirst,
                "{} names no barrier of an encoder; such barriers have no labels, only positions.",
                in_quotes(reference));
  }
  const auto index = decimal_of(reference);
  if (!index || *index >= std::min<uint64_t>(limits_.statement_count, UINT32_MAX)) {
    return fail(ItemPart::kFirst, "barrier {} is past the limit of {} statements.",
                in_quotes(reference), limits_.statement_count);
  }
  barrier = BarrierId(*index);
  return true;
}

// What ends the value, on a line about `use-after-free`.
bool ProgramBuilder::find_lifetime(const ExpectDraft& item, LifetimeId& lifetime) {
  if (!find_statement(ItemPart::kFirst, StatementKind::kLifetime, item.first, lifetime.index)) {
    return false;
  }
  const LifetimeKind kind = program_.lifetimes[lifetime.index].kind;
  if (kind == LifetimeKind::kPin || kind == LifetimeKind::kUnpin || kind == LifetimeKind::kAdopt) {
    return fail(ItemPart::kFirst, "{} is {} {}; expected a free, a destroy or a reset.",
                in_quotes(item.first), kind == LifetimeKind::kPin ? "a" : "an", word_of(kind));
  }
  return true;
}

// What a line about anything but `clean` names.
bool ProgramBuilder::find_finding(const ExpectDraft& item, Expectation& expectation) {
  switch (item.kind) {
    case FindingKind::kRedundant:
      return find_redundant(item, expectation);
    case FindingKind::kDeadlock:
      return find_waiting(item, expectation);
    case FindingKind::kGradient:  // By the tensor to differentiate by.
      if (!item.second.empty()) {
        return fail(ItemPart::kSecond, "'gradient' concerns one tensor, and {} is a second.",
                    in_quotes(item.second));
      }
      return find_tensor(ItemPart::kFirst, item.first, "this line", expectation.tensor);
    case FindingKind::kUseAfterFree:
      return find_lifetime(item, expectation.lifetime) &&
             (item.second.empty() ||
              find_dispatch(ItemPart::kSecond, item.second, expectation.first));
    default:
      return find_dispatches(item, expectation);
  }
}

bool ProgramBuilder::append(const ExpectDraft& item) {
  if (!check_not_recording("an expectation") ||
      !check_count(program_.expectations.size() + 1, "expect lines", limits_.expectation_count)) {
    return false;
  }
  if (!item.encoder.empty() &&
      (!is_word(item.encoder) || item.encoder.size() > limits_.name_bytes)) {
    return fail(
        ItemPart::kEncoder,
        "{} is not a name for an encoder; such names have letters, digits, '_', '.' and '-', at most {} bytes.",
        in_quotes(item.encoder), limits_.name_bytes);
  }
  if (!item.encoder.empty() && find_encoder(item.encoder) == nullptr) {
    return fail(ItemPart::kEncoder, "there is {} `interlock list encoders` names them.",
                no_entry_text(encoder_registry(), "encoder", item.encoder));
  }
  Expectation expectation;
  expectation.is_clean = item.is_clean;
  if (!item.is_clean) {
    if (!is_checkable(item.kind)) {
      return fail(ItemPart::kItem, "a check cannot find '{}'; only executions do.",
                  word_of(item.kind));
    }
    expectation.kind = item.kind;
    if (!find_finding(item, expectation)) return false;
  }
  if (!item.encoder.empty()) expectation.encoder = intern(item.encoder);
  program_.expectations.push_back(expectation);
  return true;
}

}  // namespace interlock
