// The basic idea for relations: walk the views and donations of one tensor down until the other one
// turns up, and say each step on the way.
#include "simulator/report/operand_text.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "encoder/program/draft.h"
#include "encoder/program/draft_text.h"
#include "encoder/program/statement_number.h"
#include "encoder/text/printer.h"

namespace interlock {

std::string text_of(const Program& program, StatementId statement) {
  Statement unlabelled = program.statements[statement.index];
  unlabelled.label = NameId();
  return print(draft_of(program, unlabelled));
}

std::string quoted_text_of(const Program& program, StatementId id) {
  const Statement& statement = program.statements[id.index];
  const std::string label =
      statement.label.is_some() ? fmt::format("{}, ", program.name(statement.label)) : "";
  return fmt::format("'{}' ({}statement {})", text_of(program, id), label,
                     text_number_of(program, id));
}

std::string_view name_of(const Program& program, TensorId tensor) {
  return program.name(program.tensor(tensor).name);
}

namespace {

// "gx donates g and g views h", from `tensor` down to `ancestor`; nothing if there is no such way.
std::optional<std::string> descent(const Program& program, TensorId tensor, TensorId ancestor) {
  std::string text;
  while (tensor != ancestor) {
    const Tensor& step = program.tensor(tensor);
    if (!step.source.is_some()) return std::nullopt;
    text += fmt::format("{}{} {} {}", text.empty() ? "" : " and ", name_of(program, tensor),
                        step.placement == Placement::kView ? "views" : "donates",
                        name_of(program, step.source));
    tensor = step.source;
  }
  return text;
}

// The tensor on `tensor`'s way down that has a place of its own.
TensorId placed_ancestor(const Program& program, TensorId tensor) {
  while (program.tensor(tensor).source.is_some()) {
    tensor = program.tensor(tensor).source;
  }
  return tensor;
}

std::string shared_bytes_clause(const Program& program, const Tensor& a, const Tensor& b) {
  if (a.range == b.range) {
    return fmt::format("so both name the same {} bytes", a.range.size_bytes());
  }
  return fmt::format("so both name {}",
                     text_of_bytes(program, a.memory, intersection(a.range, b.range)));
}

}  // namespace

std::string text_of_bytes(const Program& program, MemoryId memory, ByteRange bytes) {
  return text_of(
      OperandDraft{.name = std::string(program.name(program.memory(memory).name)), .slice = bytes});
}

std::string tensor_clause_of(const Program& program, const Access& access) {
  return access.tensor.is_some() ? fmt::format(" as {}", name_of(program, access.tensor)) : "";
}

std::string_view verb_of(const Access& access) {
  // By mode.
  static constexpr std::array<std::string_view, kAccessModeCount> kVerbs = {
      "reads as indirect arguments", "reads as a uniform", "reads", "writes", "updates",
      "updates atomically"};
  return kVerbs[static_cast<size_t>(access.mode)];
}

std::vector<std::string> relation_of(const Program& program, const Access& first,
                                     const Access& second) {
  if (!first.tensor.is_some() || !second.tensor.is_some() || first.tensor == second.tensor) {
    return {};
  }
  const Tensor& a = program.tensor(first.tensor);
  const Tensor& b = program.tensor(second.tensor);
  std::optional<std::string> way = descent(program, second.tensor, first.tensor);
  if (!way.has_value()) way = descent(program, first.tensor, second.tensor);
  if (way.has_value()) {
    return {fmt::format("{}, {}.", *way, shared_bytes_clause(program, a, b))};
  }
  const TensorId ancestor = placed_ancestor(program, first.tensor);
  if (ancestor == placed_ancestor(program, second.tensor)) {
    return {fmt::format("{} and {}, {}.", *descent(program, first.tensor, ancestor),
                        *descent(program, second.tensor, ancestor),
                        shared_bytes_clause(program, a, b))};
  }
  return {fmt::format("{} lies at {} and {} at {}.", name_of(program, first.tensor),
                      text_of_bytes(program, a.memory, a.range), name_of(program, second.tensor),
                      text_of_bytes(program, b.memory, b.range))};
}

}  // namespace interlock
