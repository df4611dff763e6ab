#include "simulator/report/finding_identity.h"

#include <algorithm>
#include <string_view>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/finding_kind.h"
#include "encoder/program/names.h"
#include "encoder/program/words.h"
#include "simulator/report/operand_text.h"

namespace interlock {
namespace {

// Recorders number what they launch: "MUL_MAT.199", "s00.GET_ROWS.0".
std::string_view without_number(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot + 1 == name.size()) return name;
  return std::ranges::all_of(name.substr(dot + 1), is_digit) ? name.substr(0, dot) : name;
}

std::string name_of_dispatch(const Program& program, DispatchId id) {
  const Dispatch& dispatch = program.dispatch(id);
  const NameId label = program.statements[dispatch.statement.index].label;
  if (label.is_some()) return std::string(program.name(label));
  if (dispatch.host != HostAccess::kNone) return "the host";
  const std::string_view kernel = program.name(dispatch.kernel_name);
  return std::string(is_opaque(program, dispatch) ? without_number(kernel) : kernel);
}

std::string side_of(const Program& program, const AccessRef& ref, MemoryId memory) {
  if (!ref.dispatch.is_some()) return "the end";
  const Access& access = access_of(program, ref);
  const std::string operand = access.tensor.is_some()
                                  ? std::string(name_of(program, access.tensor))
                                  : std::string(program.name(program.memory(memory).name));
  return name_of_dispatch(program, ref.dispatch) + " " + std::string(verb_of(access)) + " " +
         operand;
}

}  // namespace

std::string identity_of(const Program& program, const Finding& finding) {
  std::string text(word_of(finding.kind));
  if (finding.is_ordered) text += " ordered";
  if (finding.is_possible) text += " possible";
  text += ":";
  if (finding.kind == FindingKind::kDeadlock) {
    for (const StatementId id : finding.waiting) text += " " + text_of(program, id) + ",";
    text.pop_back();
    return text;
  }
  if (finding.kind == FindingKind::kGradient)
    return text + " " + std::string(name_of(program, finding.tensor));
  text += " " + side_of(program, finding.first, finding.memory);
  if (finding.second) text += ", " + side_of(program, *finding.second, finding.memory);
  if (finding.lifetime.is_some()) {
    text += ", " + program.text_of(program.lifetimes[finding.lifetime.index]);
  }
  return text;
}

}  // namespace interlock
