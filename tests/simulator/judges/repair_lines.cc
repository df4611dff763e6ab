#include "tests/simulator/judges/repair_lines.h"

#include <array>
#include <string_view>

#include "encoder/program/statement_number.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock {
namespace {

// Declarations, evidence and comments are no statements.
bool is_statement(std::string line) {
  line = line.substr(0, line.find('#'));
  while (line.ends_with(' ')) line.pop_back();
  if (line.empty()) return false;
  const size_t colon = line.find(": ");
  const std::string unlabelled = colon == std::string::npos ? line : line.substr(colon + 2);
  constexpr std::array<std::string_view, 9> kOthers = {"interlock ", "memory ",    "tensor ",
                                                       "output ",    "expect ",    "witness ",
                                                       "queue ",     "semaphore ", "semaphore"};
  for (const std::string_view word : kOthers) {
    if (unlabelled.starts_with(word)) return false;
  }
  return true;
}

}  // namespace

std::string with_repair(const std::string& text, const Program& program,
                        std::span<const RepairLine> lines) {
  std::vector<std::string> before(program.statements.size());
  std::vector<std::string> after(program.statements.size());
  std::vector<const RepairLine*> instead(program.statements.size(), nullptr);
  for (const RepairLine& line : lines) {
    const uint32_t at = text_number_of(program, line.at);
    if (line.place == RepairPlace::kBefore) before[at] += line.text + "\n";
    if (line.place == RepairPlace::kAfter) after[at] += line.text + "\n";
    if (line.place == RepairPlace::kInstead) instead[at] = &line;
  }
  std::string repaired;
  size_t statement = 0;
  for (const std::string& line : text_lines_of(text)) {
    if (!is_statement(line)) {
      repaired += line + "\n";
      continue;
    }
    const size_t at = statement++;
    const RepairLine* const other = instead.at(at);
    repaired += before[at];
    if (other == nullptr) repaired += line + "\n";
    if (other != nullptr && !other->text.empty()) repaired += other->text + "\n";
    repaired += after[at];
  }
  return repaired;
}

}  // namespace interlock
