// The basic idea is that an item is checked in full before anything of it is kept: an add() either
// succeeds or leaves no trace. All checks are made as items arrive, so that a caller that skips
// items that do not fit is left with a valid program.
#include "encoder/build/program_builder.h"

#include "encoder/program/error_of.h"
#include "encoder/program/names.h"
#include "encoder/program/program_order.h"

namespace interlock {

ProgramBuilder::ProgramBuilder(Limits limits, const BackwardSource* backwards)
    : limits_(limits), backwards_(backwards) {}

bool ProgramBuilder::append(const ItemDraft& item) {
  return std::visit([this](const auto& alternative) { return append(alternative); }, item);
}

Result<Program> ProgramBuilder::finish() {
  if (open_capture_) {
    return error_of("capture {} has no end; expected 'end' after what it records.",
                    in_quotes(program_.name(open_capture_->name)));
  }
  if (auto fault = settle_waits()) {
    faulty_statement_ = *std::move(fault);
    return Error{faulty_statement_.message};
  }
  if (!program_.semaphores.empty()) number_semaphores();
  if (!program_.uncounted_dispatches.empty()) order_host_statements(program_);
  // A queue that is declared as what it is anyway says nothing.
  const bool has_plain_queue_only =
      program_.queues.size() == 1 && program_.queues[0].kind == QueueKind::kConcurrent;
  if (has_plain_queue_only) program_.queues.clear();
  return settled();
}

// The program, with each tensor in its place. Requires: called once, last.
Program ProgramBuilder::settled() {
  if (has_adoption_) place_adopted_tensors();
  if (has_late_memory_ || has_adoption_) number_memories();
  return std::move(program_);
}

// Declared memories first, then those of unplaced tensors: canonical text declares memories before
// tensors, so that only this order survives it.
void ProgramBuilder::number_memories() {
  std::vector<MemoryId> new_ids(program_.memories.size());
  std::vector<bool> is_dropped(program_.memories.size(), false);
  for (const MemoryId id : dropped_memories_) is_dropped[id.index] = true;
  std::vector<Memory> memories;
  memories.reserve(program_.memories.size());
  for (const bool is_implicit : {false, true}) {
    for (size_t i = 0; i < program_.memories.size(); ++i) {
      if (is_dropped[i] || program_.memories[i].is_implicit != is_implicit) continue;
      new_ids[i] = MemoryId(memories.size());
      memories.push_back(program_.memories[i]);
    }
  }
  program_.memories = std::move(memories);
  for (Tensor& tensor : program_.tensors) tensor.memory = new_ids[tensor.memory.index];
  for (Access& access : program_.accesses) access.memory = new_ids[access.memory.index];
  for (Access& operand : program_.barrier_operands) operand.memory = new_ids[operand.memory.index];
  for (Lifetime& lifetime : program_.lifetimes) lifetime.memory = new_ids[lifetime.memory.index];
}

bool ProgramBuilder::check_name(ItemPlace place, std::string_view noun, std::string_view name) {
  const bool is_fit = place.part == ItemPart::kLabel ? is_label(name) : is_name(name);
  if (!is_fit) {
    return fail(
        place,
        "{} is not a name for a {}; names have letters, digits, '_' and '.', and do not start with a digit or '.'.",
        in_quotes(name), noun);
  }
  if (is_reserved(name)) {
    return fail(place, "{} is a word of the format and cannot name a {}.", in_quotes(name), noun);
  }
  if (name.size() > limits_.name_bytes) {
    return fail(place, "the name {} has {} bytes, more than the limit of {}.", in_quotes(name),
                name.size(), limits_.name_bytes);
  }
  return true;
}

bool ProgramBuilder::check_label(std::string_view label) {
  if (!check_name(ItemPart::kLabel, "label", label)) return false;
  const uint64_t room_bytes = label_room_bytes();
  if (label.size() + room_bytes > limits_.name_bytes) {
    return fail(
        ItemPart::kLabel,
        "the label {} has {} bytes, and replays add up to {}, which is more than the limit of {}.",
        in_quotes(label), label.size(), room_bytes, limits_.name_bytes);
  }
  label_mention_ = mention_of(label);
  const NameMeaning meaning = names_.meaning_of(label_mention_);
  if (meaning.recorded_label.is_some()) {
    const bool is_open = meaning.recorded_label.index == program_.captures.size();
    const NameId capture =
        is_open ? open_capture_->name : program_.captures[meaning.recorded_label.index].name;
    return fail(ItemPart::kLabel, "label {} already stands in capture {}; labels must differ.",
                in_quotes(label), in_quotes(program_.name(capture)));
  }
  if (const StatementId holder = meaning.label; holder.is_some()) {
    const Statement& other = program_.statements[holder.index];
    const bool is_dispatch = other.kind == StatementKind::kDispatch;
    if (is_dispatch && program_.dispatches[other.index].is_transition()) {
      return fail(
          ItemPart::kLabel,
          "label {} already stands for what a barrier does to operands; labels must differ.",
          in_quotes(label));
    }
    if (is_dispatch && program_.dispatches[other.index].host != HostAccess::kNone) {
      return fail(ItemPart::kLabel,
                  "label {} already stands on a statement of the host; labels must differ.",
                  in_quotes(label));
    }
    return fail(ItemPart::kLabel, "label {} already stands on {} {}; labels must differ.",
                in_quotes(label), noun_of(other.kind).substr(2),
                is_dispatch ? program_.number_of(DispatchId(other.index)) : other.index);
  }
  return true;
}

void ProgramBuilder::append_statement(StatementKind kind, size_t index, std::string_view label,
                                      QueueIndex queue) {
  Statement statement{kind, queue, static_cast<uint32_t>(index), {}};
  if (!label.empty()) {
    statement.label = names_.add(program_.names, label, label_mention_);
    names_.meaning(statement.label).label = StatementId(program_.statements.size());
  }
  program_.statements.push_back(statement);
}

bool ProgramBuilder::check_room_for_statements(uint64_t added_count) {
  const uint64_t count = program_.statements.size() + recorded_count_ + group_count_;
  return check_count(count + added_count, "statements", limits_.statement_count);
}

bool ProgramBuilder::check_count(uint64_t count, std::string_view noun, uint64_t limit) {
  return count <= limit ||
         fail(ItemPart::kItem, "the program has more {} than the limit of {}.", noun, limit);
}

bool ProgramBuilder::check_line_length(std::string_view what, uint64_t length) {
  return length <= limits_.line_bytes ||
         fail(ItemPart::kItem, "{} {} bytes of text, more than the limit of {} for a line.", what,
              length, limits_.line_bytes);
}

bool ProgramBuilder::find_tensor(ItemPlace place, const std::string& name, std::string_view where,
                                 TensorId& id) {
  id = meaning_of(name).tensor;
  return id.is_some() || fail(place, "no tensor {} is declared before {}.{}", in_quotes(name),
                              where, advice_for(name, &NameMeaning::tensor));
}

void ProgramBuilder::use(std::span<const Access> operands) {
  for (const Access& operand : operands) {
    if (operand.tensor.is_some()) {
      use(operand.tensor);
    } else {
      is_raw_operand_[operand.memory.index] = true;
    }
  }
}

}  // namespace interlock
