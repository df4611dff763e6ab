// The bytes that declared operands cover are sorted ranges; what is left of the operand between
// them is undeclared.
#include "simulator/undeclared.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "simulator/operand_text.h"

namespace interlock {
namespace {

// Whether a declaration of `declared` says as much as `access` does.
bool covers(const Access& declared, const Access& access) {
  if (declared.memory != access.memory) return false;
  if (access.is_atomic() || declared.is_atomic()) {
    return access.is_atomic() && declared.is_atomic();
  }
  return (declared.reads() || !access.reads()) && (declared.writes() || !access.writes());
}

std::optional<ByteRange> uncovered_bytes(std::span<const Access> declared, const Access& access) {
  std::vector<ByteRange> covered;
  for (const Access& candidate : declared) {
    if (covers(candidate, access)) covered.push_back(candidate.range);
  }
  std::sort(covered.begin(), covered.end(),
            [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
  uint64_t begin = access.range.begin;
  for (const ByteRange& range : covered) {
    if (range.begin > begin) return ByteRange{begin, std::min(range.begin, access.range.end)};
    begin = std::max(begin, range.end);
    if (begin >= access.range.end) return std::nullopt;
  }
  if (begin >= access.range.end) return std::nullopt;
  return ByteRange{begin, access.range.end};
}

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

std::vector<UndeclaredAccess> find_undeclared_accesses(const Program& program) {
  std::vector<UndeclaredAccess> found;
  for (size_t d = 0; d < program.dispatches.size(); ++d) {
    const DispatchId id(d);
    const std::span<const Access> declared = program.declared_accesses_of(id);
    const std::span<const Access> accesses = program.accesses_of(id);
    for (size_t i = declared.size(); i < accesses.size(); ++i) {
      const std::optional<ByteRange> bytes = uncovered_bytes(declared, accesses[i]);
      if (bytes) found.push_back({{id, static_cast<uint32_t>(i)}, *bytes});
    }
  }
  return found;
}

Finding explain_undeclared(const Program& program, const UndeclaredAccess& undeclared) {
  const DispatchId id = undeclared.access.dispatch;
  const Access& access = access_of(program, undeclared.access);
  Finding finding{.kind = FindingKind::kUndeclared,
                  .first = undeclared.access,
                  .memory = access.memory,
                  .overlap = undeclared.bytes};
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
