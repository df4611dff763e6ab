// The rules of lifetime statements. An adopted tensor keeps its implicit memory while items arrive,
// because declarations may stand before or after the adoption; finish() moves it, and all that
// views or donates it, onto the bytes that it adopts.
#include "encoder/build/program_builder.h"
#include "encoder/program/names.h"

namespace interlock {
namespace {

// Adopted bytes start at a multiple of it, so that whatever views them is aligned.
constexpr uint64_t kAdoptionAlignmentBytes = 4;

}  // namespace

Result<Success> ProgramBuilder::add(const LifetimeDraft& item) {
  if (auto room = check_room_for_statements(1); !room) {
    return room;
  }
  if (auto labelled = check_label(item.label); !labelled) {
    return labelled;
  }
  Lifetime lifetime;
  lifetime.statement = StatementId(program_.statements.size());
  lifetime.kind = item.kind;
  if (auto resolved = resolve_lifetime(item, lifetime); !resolved) {
    return resolved;
  }
  if (open_capture_) return record_lifetime(item, lifetime);
  if (lifetime.tensor.is_some()) is_in_use_[base_of_[lifetime.tensor.index].index] = true;
  if (lifetime.kind == LifetimeKind::kPin) ++pin_counts_[lifetime.tensor];
  if (lifetime.kind == LifetimeKind::kUnpin) --pin_counts_[lifetime.tensor];
  if (lifetime.kind == LifetimeKind::kAdopt) {
    adopted_from_[lifetime.tensor.index] = lifetime.source;
    is_in_use_[base_of_[lifetime.source.index].index] = true;
    has_adoption_ = true;
  }
  Statement statement{
      StatementKind::kLifetime, static_cast<uint32_t>(program_.lifetimes.size()), {}};
  claim_label(item.label, statement);
  program_.lifetimes.push_back(lifetime);
  program_.statements.push_back(statement);
  return Success{};
}

Result<Success> ProgramBuilder::resolve_lifetime(const LifetimeDraft& item, Lifetime& lifetime) {
  if (item.kind == LifetimeKind::kReset) {
    lifetime.memory = meaning_of(item.name).memory;
    if (lifetime.memory.is_some()) return Success{};
    NearestName nearest(item.name);
    offer_names(&NameMeaning::memory, nearest);
    return fail(ItemPart::kName, "no memory {} is declared before this reset.{}",
                in_quotes(item.name), nearest.advice());
  }
  const Result<TensorId> tensor = find_value(item, ItemPart::kName, item.name);
  if (!tensor) {
    return tensor.error();
  }
  lifetime.tensor = *tensor;
  lifetime.memory = program_.tensor(*tensor).memory;
  const bool is_executed = !open_capture_;  // In a capture, each replay checks its pins.
  if (item.kind == LifetimeKind::kUnpin && is_executed) {
    const auto pins = pin_counts_.find(*tensor);
    if (pins == pin_counts_.end() || pins->second == 0) {
      return fail(ItemPart::kName,
                  "tensor {} is not pinned here; every unpin ends one pin before it.",
                  in_quotes(item.name));
    }
  }
  if (item.kind != LifetimeKind::kAdopt) {
    return Success{};
  }
  const Result<TensorId> source = find_value(item, ItemPart::kBase, item.source);
  if (!source) {
    return source.error();
  }
  lifetime.source = *source;
  return check_adoption(item, lifetime);
}

Result<TensorId> ProgramBuilder::find_value(const LifetimeDraft& item, ItemPart part,
                                            const std::string& name) {
  const TensorId id = meaning_of(name).tensor;
  if (!id.is_some()) {
    NearestName nearest(name);
    offer_names(&NameMeaning::tensor, nearest);
    return fail(part, "no tensor {} is declared before this {}.{}", in_quotes(name),
                word_of(item.kind), nearest.advice());
  }
  const Tensor& tensor = program_.tensor(id);
  if (tensor.placement == Placement::kView) {
    return fail(part, "tensor {} is a view; lifetimes are those of values, and this one is {}.",
                in_quotes(name), in_quotes(program_.name(program_.tensor(tensor.root).name)));
  }
  return id;
}

Result<Success> ProgramBuilder::check_adoption(const LifetimeDraft& item,
                                               const Lifetime& lifetime) {
  const Tensor& tensor = program_.tensor(lifetime.tensor);
  const Tensor& source = program_.tensor(lifetime.source);
  const TensorId adopted_before = adopted_from_[lifetime.tensor.index];
  if (tensor.placement != Placement::kUnplaced) {
    return fail(ItemPart::kName,
                "tensor {} has a place of its own; what is adopted into is declared without one.",
                in_quotes(item.name));
  }
  if (adopted_before.is_some() && adopted_before != lifetime.source) {
    return fail(ItemPart::kBase, "tensor {} adopts the bytes of {} already; it has one place.",
                in_quotes(item.name),
                in_quotes(program_.name(program_.tensor(adopted_before).name)));
  }
  if (!adopted_before.is_some() && is_in_use_[lifetime.tensor.index]) {
    return fail(ItemPart::kName, "tensor {} is in use before it adopts the bytes of {}.",
                in_quotes(item.name), in_quotes(item.source));
  }
  if (has_initial_[lifetime.tensor.index]) {
    return fail(
        ItemPart::kName,
        "tensor {} has an initial value, or a donation of it has; it holds nothing before it adopts the bytes of {}.",
        in_quotes(item.name), in_quotes(item.source));
  }
  const TensorId base = base_of_[lifetime.source.index];
  if (base == lifetime.tensor || adopted_from_[base.index].is_some()) {
    return fail(ItemPart::kBase,
                "the bytes of {} are adopted themselves; name the tensor that they come from.",
                in_quotes(item.source));
  }
  if (tensor.range.size_bytes() > source.range.size_bytes()) {
    return fail(ItemPart::kBase,
                "tensor {} has {} bytes, more than {} ({} bytes), which it adopts.",
                in_quotes(item.name), tensor.range.size_bytes(), in_quotes(item.source),
                source.range.size_bytes());
  }
  if (source.range.begin % kAdoptionAlignmentBytes != 0) {
    return fail(ItemPart::kBase,
                "tensor {} starts at byte {}; adopted bytes start at a multiple of {}.",
                in_quotes(item.source), source.range.begin, kAdoptionAlignmentBytes);
  }
  return Success{};
}

// Bases stand before what views or donates them, so one pass settles all places. What is adopted is
// not adopted itself and stands where it stood.
void ProgramBuilder::place_adopted_tensors() {
  const auto adopted_of = [&](TensorId id) { return adopted_from_[base_of_[id.index].index]; };
  const auto shift_of = [&](TensorId id) { return program_.tensor(adopted_of(id)).range.begin; };
  const auto moved = [&](Access& access) {
    if (!access.tensor.is_some() || !adopted_of(access.tensor).is_some()) return;
    const uint64_t shift = shift_of(access.tensor);
    access.memory = program_.tensor(adopted_of(access.tensor)).memory;
    access.range = {access.range.begin + shift, access.range.end + shift};
  };
  for (Access& access : program_.accesses) moved(access);
  for (Access& operand : program_.barrier_operands) moved(operand);
  for (size_t i = 0; i < program_.tensors.size(); ++i) {
    const TensorId id(i);
    if (!adopted_of(id).is_some()) continue;
    Tensor& tensor = program_.tensors[i];
    const uint64_t shift = shift_of(id);
    if (!tensor.source.is_some()) dropped_memories_.push_back(tensor.memory);
    tensor.memory = program_.tensor(adopted_of(id)).memory;
    tensor.range = {tensor.range.begin + shift, tensor.range.end + shift};
  }
  for (Lifetime& lifetime : program_.lifetimes) {
    if (lifetime.tensor.is_some()) lifetime.memory = program_.tensor(lifetime.tensor).memory;
  }
}

}  // namespace interlock
