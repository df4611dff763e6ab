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
    add("memory ", item.name, ' ', item.size_bytes, item.is_scratch ? " scratch" : "");
  }

  void operator()(const TensorDraft& item) {
    add("tensor ", item.name, ' ', word_of(item.dtype), '[');
    for (size_t i = 0; i < item.shape.size(); ++i) add(i == 0 ? "" : ",", item.shape[i]);
    add(']');
    if (item.placement != Placement::kUnplaced) {
      add(' ', word_in(kPlacementWords, item.placement), ' ', item.base);
      if (item.placement != Placement::kDonation) add('+', item.offset_bytes);
    }
    if (item.initial.kind == InitialKind::kNone) return;
    add(" = ", word_in(kInitialWords, item.initial.kind));
    if (item.initial.kind == InitialKind::kRandom) add('(', item.initial.seed, ')');
    if (item.initial.kind != InitialKind::kValues) return;
    for (size_t i = 0; i < item.initial.values.size(); ++i) {
      add(i == 0 ? '(' : ',', text_of_element(item.dtype, item.initial.values[i]));
    }
    add(')');
  }

  void operator()(const OutputDraft& item) {
    add("output");
    for (const std::string& tensor : item.tensors) add(' ', tensor);
  }

  void operator()(const DispatchDraft& item) {
    add_label(item.label);
    add("dispatch ", item.kernel);
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
    for (const auto& attribute : item.attributes) add(' ', attribute.first, '=', attribute.second);
  }

  void operator()(const BarrierDraft& item) {
    add_label(item.label);
    add(item.kind == BarrierKind::kExecution ? "barrier execution" : "barrier");
    for (size_t i = 0; i < item.dependencies.size(); ++i) {
      const DependencyDraft& dependency = item.dependencies[i];
      add(i == 0 ? " " : ", ", text_of(dependency.source), " -> ", text_of(dependency.destination));
      for (const OperandDraft& operand : dependency.operands) add_operand(operand);
    }
  }

  void operator()(const LifetimeDraft& item) {
    add_label(item.label);
    add(text_of(item));
  }

  void operator()(const CaptureDraft& item) { add("capture ", item.name); }

  void operator()(const EndDraft&) { add("end"); }

  void operator()(const ReplayDraft& item) { add("replay ", item.capture); }

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
    add(' ', word_of(item.kind), ' ', item.first);
    if (!item.second.empty()) add(' ', item.second);
  }

 private:
  template <typename... Parts>
  void add(const Parts&... parts) {
    (out_.append(parts), ...);
  }

  void add_operand(const OperandDraft& operand) {
    add(' ', operand.name);
    if (operand.slice) add('[', operand.slice->begin, ':', operand.slice->end, ']');
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
