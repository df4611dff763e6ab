// The rules of barriers, witnesses and expectations.
#include <algorithm>
#include <limits>

#include "encoder/build/program_builder.h"
#include "encoder/kernel/kernel_binding.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/program/names.h"
#include "encoder/program/registry.h"
#include "encoder/sync/encoder.h"

namespace interlock {
namespace {

// An operand as the printer writes it, with its space.
uint64_t text_bytes_max(const OperandDraft& operand) {
  constexpr uint64_t kRangeBytesMax = 44;  // "[a:b]" of two 64-bit numbers.
  return 1 + operand.name.size() + (operand.slice ? kRangeBytesMax : 0);
}

// The parser makes no other; a draft can have been made by hand.
bool is_scope(Scope scope) {
  if (scope.stages == 0 || (scope.stages & ~kAllStages) != 0) return false;
  for (size_t i = 0; i < kStageAccessCount; ++i) {
    const auto access = static_cast<StageAccess>(i);
    if ((scope.accesses & bit_of(access)) != 0 && (scope.stages & bit_of(stage_of(access))) == 0) {
      return false;
    }
  }
  return true;
}

bool needs_two_dispatches(FindingKind kind) { return is_hazard(kind); }

bool concerns_one_dispatch(FindingKind kind) {
  return kind == FindingKind::kAlias || kind == FindingKind::kUndeclared ||
         kind == FindingKind::kUninitialized;
}

}  // namespace

Result<Success> ProgramBuilder::add(const BarrierDraft& item) {
  if (auto room = check_room_for_statements(1); !room) {
    return room;
  }
  if (auto labelled = check_label(item.label); !labelled) {
    return labelled;
  }
  Barrier barrier{StatementId(program_.statements.size()), item.kind,
                  static_cast<uint32_t>(program_.dependencies.size())};
  const size_t operand_count = program_.barrier_operands.size();
  if (auto appended = append_dependencies(item, barrier); !appended) {
    program_.dependencies.resize(barrier.first_dependency);
    program_.barrier_operands.resize(operand_count);
    return appended;
  }
  for (size_t i = operand_count; i < program_.barrier_operands.size(); ++i) {
    const Access& operand = program_.barrier_operands[i];
    if (operand.tensor.is_some()) {
      is_in_use_[base_of_[operand.tensor.index].index] = true;
    } else {
      is_raw_operand_[operand.memory.index] = true;
    }
  }
  if (open_capture_) {
    BarrierDraft recorded = draft_of(program_, barrier, NameId());
    recorded.label = item.label;
    program_.dependencies.resize(barrier.first_dependency);
    program_.barrier_operands.resize(operand_count);
    record(std::move(recorded));
    return Success{};
  }
  Statement statement{StatementKind::kBarrier, static_cast<uint32_t>(program_.barriers.size()), {}};
  claim_label(item.label, statement);
  program_.barriers.push_back(barrier);
  program_.statements.push_back(statement);
  return Success{};
}

Result<Success> ProgramBuilder::append_dependencies(const BarrierDraft& item, Barrier& barrier) {
  if ((item.kind == BarrierKind::kScoped) != !item.dependencies.empty()) {
    return fail(
        ItemPart::kItem,
        "a scoped barrier has dependencies, and no other barrier has any; this one does not fit.");
  }
  if (item.dependencies.size() > limits_.dependency_count_per_barrier) {
    return fail(ItemPart::kItem, "the barrier has {} dependencies, more than the limit of {}.",
                item.dependencies.size(), limits_.dependency_count_per_barrier);
  }
  size_t position = 0;  // Among all operands of the barrier.
  for (const DependencyDraft& part : item.dependencies) {
    if (!is_scope(part.source) || !is_scope(part.destination)) {
      return fail(ItemPart::kItem,
                  "a scope of the barrier is empty or names an access outside of its stages.");
    }
    Dependency dependency{part.source, part.destination,
                          static_cast<uint32_t>(program_.barrier_operands.size())};
    for (const OperandDraft& operand : part.operands) {
      if (position == limits_.operand_count_per_barrier) {
        return fail_at(ItemPart::kOperand, position,
                       "the barrier has more operands than the limit of {}.",
                       limits_.operand_count_per_barrier);
      }
      const Result<Access> range = resolve(operand, position++);
      if (!range) return range.error();
      program_.barrier_operands.push_back(*range);
      ++dependency.operand_count;
    }
    program_.dependencies.push_back(dependency);
    ++barrier.dependency_count;
  }
  return check_line_length(item);
}

// The canonical line must be short enough to be read again.
Result<Success> ProgramBuilder::check_line_length(const BarrierDraft& item) {
  uint64_t length =
      label_room_bytes() + item.label.size() + std::string_view(": barrier execution").size();
  for (const DependencyDraft& part : item.dependencies) {
    length += text_of(part.source).size() + text_of(part.destination).size() + 6;
    for (const OperandDraft& operand : part.operands) length += text_bytes_max(operand);
  }
  if (length > limits_.line_bytes) {
    return fail(ItemPart::kItem,
                "the barrier needs up to {} bytes of text, more than the limit of {} for a line.",
                length, limits_.line_bytes);
  }
  return Success{};
}

Error ProgramBuilder::fail_unknown_label(ItemPart part, std::string_view noun,
                                         const std::string& reference) {
  if (const CaptureId capture = meaning_of(reference).recorded_label; capture.is_some()) {
    return fail(
        part,
        "label {} stands in capture {}, which only its replays execute; expected {}@1 for the first of them.",
        in_quotes(reference), in_quotes(program_.name(program_.captures[capture.index].name)),
        reference);
  }
  NearestName nearest(reference);
  offer_names(&NameMeaning::label, nearest);
  return fail(part, "no {} before this line has the label {}.{}", noun, in_quotes(reference),
              nearest.advice());
}

Result<DispatchId> ProgramBuilder::find_dispatch(ItemPart part, const std::string& reference) {
  if (!reference.empty() && is_digit(reference[0])) {
    const auto index = decimal_of(reference);
    if (!index || *index >= program_.dispatches.size()) {
      return fail(part, "there is no dispatch {}; {} stand before this line.", in_quotes(reference),
                  program_.dispatches.size());
    }
    return DispatchId(*index);
  }
  const StatementId holder = meaning_of(reference).label;
  if (!holder.is_some()) {
    return fail_unknown_label(part, "dispatch", reference);
  }
  const Statement& statement = program_.statements[holder.index];
  if (statement.kind != StatementKind::kDispatch) {
    return fail(part, "label {} stands on {}; expected a dispatch.", in_quotes(reference),
                noun_of(statement.kind));
  }
  return DispatchId(statement.index);
}

Result<Success> ProgramBuilder::add(const WitnessDraft& item) {
  if (auto outside = check_not_recording("a witness"); !outside) {
    return outside;
  }
  if (program_.witness.size() >= limits_.witness_count) {
    return fail(ItemPart::kItem, "the program has more witness lines than the limit of {}.",
                limits_.witness_count);
  }
  const auto moved = find_dispatch(ItemPart::kFirst, item.moved);
  if (!moved) {
    return moved.error();
  }
  const auto anchor = find_dispatch(ItemPart::kSecond, item.anchor);
  if (!anchor) {
    return anchor.error();
  }
  if (*moved == *anchor) {
    return fail(ItemPart::kSecond,
                "the witness moves {} relative to itself; expected two dispatches.",
                in_quotes(item.moved));
  }
  Displacement displacement{*moved, *anchor, item.kind};
  if (item.slices) {
    const auto [first, end] = *item.slices;
    const uint64_t slice_count = slice_count_of(program_, program_.dispatch(*moved));
    if (first >= end) {
      return fail(ItemPart::kSlices, "the slices [{}:{}] of {} are none; expected at least one.",
                  first, end, in_quotes(item.moved));
    }
    if (end > slice_count || end > std::numeric_limits<uint32_t>::max()) {
      return fail(ItemPart::kSlices, "the slices [{}:{}] end past the last of {}, which has {}.",
                  first, end, program_.description_of(*moved), slice_count);
    }
    displacement.has_slices = true;
    displacement.first_slice = static_cast<uint32_t>(first);
    displacement.slice_count = static_cast<uint32_t>(end - first);
  }
  program_.witness.push_back(displacement);
  return Success{};
}

Result<Success> ProgramBuilder::set_expected_dispatches(const ExpectDraft& item,
                                                        Expectation& expectation) {
  const auto first = find_dispatch(ItemPart::kFirst, item.first);
  if (!first) {
    return first.error();
  }
  expectation.first = *first;
  if (item.second.empty() && needs_two_dispatches(item.kind)) {
    return fail(ItemPart::kFirst, "{} concerns two dispatches, and only {} is named.",
                word_of(item.kind), in_quotes(item.first));
  }
  if (!item.second.empty()) {
    if (concerns_one_dispatch(item.kind)) {
      return fail(ItemPart::kSecond, "{} concerns one dispatch, and {} is a second.",
                  in_quotes(word_of(item.kind)), in_quotes(item.second));
    }
    const auto second = find_dispatch(ItemPart::kSecond, item.second);
    if (!second) {
      return second.error();
    }
    expectation.second = *second;
  }
  return Success{};
}

// The tensor that a line about `gradient` names: the one to differentiate by.
Result<TensorId> ProgramBuilder::find_expected_tensor(const ExpectDraft& item) {
  if (!item.second.empty()) {
    return fail(ItemPart::kSecond, "'gradient' concerns one tensor, and {} is a second.",
                in_quotes(item.second));
  }
  const TensorId tensor = meaning_of(item.first).tensor;
  if (tensor.is_some()) {
    return tensor;
  }
  NearestName nearest(item.first);
  offer_names(&NameMeaning::tensor, nearest);
  return fail(ItemPart::kFirst, "no tensor {} is declared before this line.{}",
              in_quotes(item.first), nearest.advice());
}

// The barrier that a line about `redundant` names.
Result<BarrierId> ProgramBuilder::find_barrier(const ExpectDraft& item) {
  const std::string& reference = item.first;
  if (!item.second.empty()) {
    return fail(ItemPart::kSecond, "'redundant' concerns one barrier, and {} is a second.",
                in_quotes(item.second));
  }
  if (!reference.empty() && is_digit(reference[0])) {
    const auto index = decimal_of(reference);
    const uint64_t barrier_count =
        item.encoder.empty() ? program_.barriers.size() : limits_.statement_count;
    if (!index || *index >= std::min<uint64_t>(barrier_count, UINT32_MAX)) {
      return fail(ItemPart::kFirst,
                  item.encoder.empty()
                      ? fmt::format("there is no barrier {}; {} stand before this line.",
                                    in_quotes(reference), program_.barriers.size())
                      : fmt::format("barrier {} is past the limit of {} statements.",
                                    in_quotes(reference), limits_.statement_count));
    }
    return BarrierId(*index);
  }
  if (!item.encoder.empty()) {
    return fail(ItemPart::kFirst,
                "{} names no barrier of an encoder; such barriers have no labels, only positions.",
                in_quotes(reference));
  }
  const StatementId holder = meaning_of(reference).label;
  if (!holder.is_some()) {
    return fail_unknown_label(ItemPart::kFirst, "barrier", reference);
  }
  const Statement& statement = program_.statements[holder.index];
  if (statement.kind != StatementKind::kBarrier) {
    return fail(ItemPart::kFirst, "label {} stands on {}; expected a barrier.",
                in_quotes(reference), noun_of(statement.kind));
  }
  return BarrierId(statement.index);
}

// What ends the value, on a line about `use-after-free`.
Result<LifetimeId> ProgramBuilder::find_lifetime(const ExpectDraft& item) {
  const std::string& reference = item.first;
  LifetimeId id;
  if (!reference.empty() && is_digit(reference[0])) {
    const auto index = decimal_of(reference);
    if (!index || *index >= program_.lifetimes.size()) {
      return fail(ItemPart::kFirst, "there is no lifetime statement {}; {} stand before this line.",
                  in_quotes(reference), program_.lifetimes.size());
    }
    id = LifetimeId(*index);
  } else {
    const StatementId holder = meaning_of(reference).label;
    if (!holder.is_some()) {
      return fail_unknown_label(ItemPart::kFirst, "free, destroy or reset", reference);
    }
    const Statement& statement = program_.statements[holder.index];
    if (statement.kind != StatementKind::kLifetime) {
      return fail(ItemPart::kFirst, "label {} stands on {}; expected a free, a destroy or a reset.",
                  in_quotes(reference), noun_of(statement.kind));
    }
    id = LifetimeId(statement.index);
  }
  const LifetimeKind kind = program_.lifetimes[id.index].kind;
  if (kind == LifetimeKind::kPin || kind == LifetimeKind::kUnpin || kind == LifetimeKind::kAdopt) {
    return fail(ItemPart::kFirst, "{} is {} {}; expected a free, a destroy or a reset.",
                in_quotes(reference), kind == LifetimeKind::kPin ? "a" : "an", word_of(kind));
  }
  return id;
}

Result<Success> ProgramBuilder::add(const ExpectDraft& item) {
  if (auto outside = check_not_recording("an expectation"); !outside) {
    return outside;
  }
  if (program_.expectations.size() >= limits_.expectation_count) {
    return fail(ItemPart::kItem, "the program has more expect lines than the limit of {}.",
                limits_.expectation_count);
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
    if (item.kind == FindingKind::kRedundant) {
      const auto barrier = find_barrier(item);
      if (!barrier) {
        return barrier.error();
      }
      expectation.barrier = *barrier;
    } else if (item.kind == FindingKind::kGradient) {
      const auto tensor = find_expected_tensor(item);
      if (!tensor) {
        return tensor.error();
      }
      expectation.tensor = *tensor;
    } else if (item.kind == FindingKind::kUseAfterFree) {
      const auto lifetime = find_lifetime(item);
      if (!lifetime) {
        return lifetime.error();
      }
      expectation.lifetime = *lifetime;
      if (!item.second.empty()) {
        const auto reader = find_dispatch(ItemPart::kSecond, item.second);
        if (!reader) {
          return reader.error();
        }
        expectation.first = *reader;
      }
    } else if (auto found = set_expected_dispatches(item, expectation); !found) {
      return found;
    }
  }
  if (!item.encoder.empty()) {
    expectation.encoder = intern(item.encoder);
  }
  program_.expectations.push_back(expectation);
  return Success{};
}

}  // namespace interlock
