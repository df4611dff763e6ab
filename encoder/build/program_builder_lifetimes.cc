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

bool ProgramBuilder::append(const LifetimeDraft& item) {
  if (!check_statement(item.label)) return false;
  Lifetime lifetime;
  lifetime.statement = StatementId(program_.statements.size());
  lifetime.kind = item.kind;
  QueueIndex queue = kNoQueue;
  const bool has_queue = !item.queue.empty();
  if (!resolve_lifetime(item, lifetime) || (has_queue && !find_queue(item.queue, queue))) {
    return false;
  }
  const bool ends_a_tensor =
      item.kind == LifetimeKind::kFree || item.kind == LifetimeKind::kDestroy;
  if (has_queue && !ends_a_tensor) {
    return fail(ItemPart::kQueue, "{} is of no queue; a free or a destroy can be of one.",
                in_quotes(word_of(item.kind)));
  }
  if (lifetime.tensor.is_some()) use(lifetime.tensor);
  if (lifetime.kind == LifetimeKind::kAdopt) {
    // Which bytes a tensor has is settled when it is recorded, not when it is replayed.
    TensorId& adopted_from = adopted_from_[lifetime.tensor.index];
    const bool is_first = !adopted_from.is_some();
    if (open_capture_ && is_first) open_capture_->adopted.push_back(lifetime.tensor);
    adopted_from = lifetime.source;
    use(lifetime.source);
    has_adoption_ = true;
  }
  if (open_capture_) {
    record(item);
    return true;
  }
  if (lifetime.kind == LifetimeKind::kPin) ++pin_counts_[lifetime.tensor];
  if (lifetime.kind == LifetimeKind::kUnpin) --pin_counts_[lifetime.tensor];
  append_statement(StatementKind::kLifetime, program_.lifetimes.size(), item.label, queue);
  program_.lifetimes.push_back(lifetime);
  return true;
}

bool ProgramBuilder::resolve_lifetime(const LifetimeDraft& item, Lifetime& lifetime) {
  if (item.kind == LifetimeKind::kReset) {
    lifetime.memory = meaning_of(item.name).memory;
    return lifetime.memory.is_some() ||
           fail(ItemPart::kName, "no memory {} is declared before this reset.{}",
                in_quotes(item.name), advice_for(item.name, &NameMeaning::memory));
  }
  if (!find_value(item, ItemPart::kName, item.name, lifetime.tensor)) return false;
  lifetime.memory = program_.tensor(lifetime.tensor).memory;
  const bool is_executed = !open_capture_;  // In a capture, each replay checks its pins.
  if (item.kind == LifetimeKind::kUnpin && is_executed) {
    const auto pins = pin_counts_.find(lifetime.tensor);
    if (pins == pin_counts_.end() || pins->second == 0) {
      return fail(ItemPart::kName,
                  "tensor {} is not pinned here; every unpin ends one pin before it.",
                  in_quotes(item.name));
    }
  }
  return item.kind != LifetimeKind::kAdopt ||
         (find_value(item, ItemPart::kBase, item.source, lifetime.source) &&
          check_adoption(item, lifetime));
}

bool ProgramBuilder::find_value(const LifetimeDraft& item, ItemPart part, const std::string& name,
                                TensorId& id) {
  if (!find_tensor(part, name, fmt::format("this {}", word_of(item.kind)), id)) return false;
  const Tensor& tensor = program_.tensor(id);
  return tensor.placement != Placement::kView ||
         fail(part, "tensor {} is a view; lifetimes are those of values, and this one is {}.",
              in_quotes(name), in_quotes(program_.name(program_.tensor(tensor.root).name)));
}

bool ProgramBuilder::check_adoption(const LifetimeDraft& item, const Lifetime& lifetime) {
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
  return true;
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
