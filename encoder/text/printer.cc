// The canonical text: one space between words, numbers in decimal, clauses in the order of the
// format, no comments.
#include "encoder/text/printer.h"

#include <fmt/format.h>

#include <variant>

#include "encoder/program/draft_text.h"
#include "encoder/program/element_text.h"
#include "encoder/program/words.h"
#include "encoder/text/text_buffer.h"

namespace interlock {
namespace {

// Appends the line of one item, without a newline.
class LinePrinter {
 public:
  explicit LinePrinter(TextBuffer& text) : out_(text) {}

  void operator()(const MemoryDraft& item) {
    add("memory ", item.name, ' ', item.size_bytes, item.is_scratch ? " scratch" : "",
        item.is_unified ? " unified" : "");
    if (item.atom_bytes != 0) add(" noncoherent=", uint64_t{item.atom_bytes});
  }

  void operator()(const TensorDraft& item) {
    add("tensor ", item.name, ' ', word_of(item.dtype), '[');
    for (size_t i = 0; i < item.shape.size(); ++i) add(i == 0 ? "" : ",", item.shape[i]);
    add(']');
    if (item.placement != Placement::kUnplaced) {
      add(' ', word_in(kPlacementWords, item.placement), ' ', item.base);
      if (item.placement != Placement::kDonation) add('+', item.offset_bytes);
    }
    add_value(item.dtype, item.initial);
  }

  void operator()(const OutputDraft& item) {
    add("output");
    for (const std::string& tensor : item.tensors) add(' ', tensor);
  }

  void operator()(const DispatchDraft& item) {
    add_label(item.label);
    add("dispatch ", item.kernel);
    if (item.stage != Stage::kCompute) add(' ', kStageWord, ' ', text_of(item.stage));
    if (item.order) add(" order=", *item.order);
    for (size_t i = 0; i < item.operands.size(); ++i) {
      const OperandDraft& operand = item.operands[i];
      const bool begins_actual =
          operand.is_undeclared && (i == 0 || !item.operands[i - 1].is_undeclared);
      if (begins_actual) add(" actual");
      if (i == 0 || begins_actual || operand.mode != item.operands[i - 1].mode) {
        add(' ', clause_of(operand.mode));
      }
      add_operand(operand);
    }
    if (item.is_partial) add(" partial");
    if (item.is_approximate) add(" approximate");
    for (const auto& attribute : item.attributes) add(' ', attribute.first, '=', attribute.second);
    for (size_t i = 0; i < item.after.size(); ++i) add(i == 0 ? " after " : " ", item.after[i]);
    if (item.is_programmatic) add(" programmatic");
    add_queue(item.queue);
  }

  void operator()(const BarrierDraft& item) {
    add_label(item.label);
    add("barrier");
    add_barrier(item.kind, item.dependencies);
    add_queue(item.queue);
  }

  void operator()(const LifetimeDraft& item) {
    add_label(item.label);
    add(text_of(item));
    add_queue(item.queue);
  }

  void operator()(const QueueDraft& item) { add(item.name, ": queue ", word_of(item.kind)); }

  void operator()(const SemaphoreDraft& item) {
    add(item.name, ": semaphore");
    if (item.is_binary) {
      add(" binary");
    } else {
      add(" = ", item.initial);
    }
  }

  void operator()(const SyncDraft& item) {
    add_label(item.label);
    add(word_of(item.kind));
    if (!item.event.empty()) add(' ', item.event);
    if (item.kind == SyncKind::kSet) add_barrier(item.barrier_kind, item.dependencies);
    for (size_t i = 0; i < item.semaphores.size(); ++i) {
      const SemaphoreUseDraft& use = item.semaphores[i];
      add(i == 0 ? " " : ", ", use.semaphore);
      if (use.value) add('=', *use.value);
      if (use.is_from_outside) add(" from outside");
      if (use.stages == kAllStages) continue;
      add(item.kind == SyncKind::kSignal ? " after " : " before ", text_of(Scope{use.stages, 0}));
    }
    for (const OperandDraft& operand : item.operands) add_operand(operand);
    add_queue(item.queue);
  }

  void operator()(const HostAccessDraft& item) {
    add_label(item.label);
    add(item.access == HostAccess::kWrites ? "host writes" : "host reads");
    for (const OperandDraft& operand : item.operands) add_operand(operand);
    if (item.is_approximate) add(" approximate");
    add_value(item.dtype, item.value);
  }

  void operator()(const CaptureDraft& item) { add("capture ", item.name); }

  void operator()(const EndDraft&) { add("end"); }

  void operator()(const ReplayDraft& item) {
    add("replay ", item.capture);
    add_queue(item.queue);
  }

  void operator()(const BackwardDraft& item) {
    add("backward ", item.loss, " wrt");
    for (const std::string& tensor : item.wrt) add(' ', tensor);
    if (item.mode != kDefaultBackwardMode) add(" mode=", item.mode);
  }

  void operator()(const WitnessDraft& item) { add("witness ", text_of(item)); }

  void operator()(const ExpectDraft& item) {
    add("expect");
    if (!item.encoder.empty()) add(" encoder=", item.encoder);
    if (item.is_clean) {
      add(" clean");
      return;
    }
    add(' ', word_of(item.kind));
    if (!item.first.empty()) add(' ', item.first);
    if (!item.second.empty()) add(' ', item.second);
    for (const std::string& waiting : item.waiting) add(' ', waiting);
  }

 private:
  template <typename... Parts>
  void add(const Parts&... parts) {
    (out_.append(parts), ...);
  }

  void add_operand(const OperandDraft& operand) {
    add(' ', operand.name);
    if (!operand.slice) return;
    add('[', operand.slice->begin, ':', operand.slice->end);
    if (operand.stride) {
      add(" rows ", operand.stride->row_count, " pitch ", operand.stride->pitch_bytes, " width ",
          operand.stride->width_bytes);
    }
    add(']');
  }

  void add_barrier(BarrierKind kind, const std::vector<DependencyDraft>& dependencies) {
    if (kind == BarrierKind::kExecution) add(" execution");
    for (size_t i = 0; i < dependencies.size(); ++i) {
      const DependencyDraft& dependency = dependencies[i];
      add(i == 0 ? " " : ", ", text_of(dependency.source), " -> ", text_of(dependency.destination));
      if (dependency.transition != TransitionKind::kNone) {
        add(' ', word_of(dependency.transition));
      }
      for (const OperandDraft& operand : dependency.operands) add_operand(operand);
    }
  }

  void add_value(DType dtype, const InitialValue& value) {
    if (value.kind == InitialKind::kNone) return;
    add(" = ", word_in(kInitialWords, value.kind));
    if (value.kind == InitialKind::kRandom) add('(', value.seed, ')');
    if (value.kind != InitialKind::kValues) return;
    for (size_t i = 0; i < value.values.size(); ++i) {
      add(i == 0 ? '(' : ',', text_of_element(dtype, value.values[i]));
    }
    add(')');
  }

  void add_queue(const std::string& queue) {
    if (!queue.empty()) add(" on ", queue);
  }

  void add_label(const std::string& label) {
    if (!label.empty()) add(label, ": ");
  }

  TextBuffer& out_;
};

}  // namespace

std::string print(const ItemDraft& item) {
  std::string text;
  TextBuffer buffer(text);
  std::visit(LinePrinter(buffer), item);
  buffer.flush();
  return text;
}

std::string print(const ProgramDraft& draft) {
  constexpr size_t kLineBytesTypical = 64;
  std::string text;
  text.reserve(kLineBytesTypical * (draft.items.size() + 1));
  TextBuffer buffer(text);
  buffer.append("interlock 1\n");
  LinePrinter printer(buffer);
  for (const ItemDraft& item : draft.items) {
    std::visit(printer, item);
    buffer.append('\n');
  }
  buffer.flush();
  return text;
}

std::string print(const Program& program) { return print(draft_of(program)); }

}  // namespace interlock
