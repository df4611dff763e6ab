#include "simulator/report/explain_undeclared.h"

#include <fmt/format.h>

#include <cstddef>
#include <span>
#include <string>

#include "simulator/report/operand_text.h"

namespace interlock {
namespace {

// "reads x[0:16]", for each declared operand; "nothing" if there is none.
std::string declared_text_of(const Program& program, std::span<const Access> declared) {
  constexpr size_t kListedMax = 8;
  std::string text;
  for (size_t i = 0; i < declared.size() && i < kListedMax; ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "that it " : ", ", verb_of(declared[i]),
                        program.text_of(declared[i]));
  }
  if (declared.size() > kListedMax) text += ", and more";
  return text.empty() ? "nothing" : text;
}

}  // namespace

Finding explain_undeclared(const Program& program, const UndeclaredAccess& undeclared) {
  const DispatchId id = undeclared.access.dispatch;
  const Access& access = access_of(program, undeclared.access);
  Finding finding{place_of(program, undeclared)};
  finding.headline =
      fmt::format("undeclared: {} {} {}{} and does not declare it.", program.description_of(id),
                  verb_of(access), text_of_bytes(program, access.memory, undeclared.bytes),
                  tensor_clause_of(program, access));
  finding.details.push_back(
      fmt::format("It declares {}. An encoder knows of nothing else.",
                  declared_text_of(program, program.declared_accesses_of(id))));
  finding.fix = fmt::format("declare that {} {} {}.", program.description_of(id), verb_of(access),
                            text_of_bytes(program, access.memory, undeclared.bytes));
  return finding;
}

}  // namespace interlock
