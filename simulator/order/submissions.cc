#include "simulator/order/submissions.h"

#include <optional>

namespace interlock {

bool is_of_host(const Program& program, const Statement& statement) {
  if (statement.queue == kNoQueue) return true;
  return statement.kind == StatementKind::kSync &&
         program.syncs[statement.index].kind == SyncKind::kSubmit;
}

namespace {

// The statements as they stand in the text.
std::vector<uint32_t> host_counts_in_text(const Program& program) {
  std::vector<uint32_t> statements(program.statements.size());
  if (program.text_order == nullptr) {
    for (uint32_t i = 0; i < statements.size(); ++i) statements[i] = i;
    return statements;
  }
  // Some of the text may be left out.
  const std::vector<uint32_t>& positions = program.text_order->statements;
  std::vector<uint32_t> at(program.text_order->text_size, UINT32_MAX);
  for (uint32_t i = 0; i < positions.size(); ++i) at[positions[i]] = i;
  size_t count = 0;
  for (const uint32_t statement : at) {
    if (statement != UINT32_MAX) statements[count++] = statement;
  }
  return statements;
}

}  // namespace

bool runs_on_its_queue(const Program& program, const Statement& statement) {
  if (statement.kind == StatementKind::kLifetime) return false;
  return statement.kind != StatementKind::kSync ||
         program.syncs[statement.index].kind != SyncKind::kSplit;
}

std::vector<uint32_t> host_counts_at_submission(const Program& program) {
  const std::vector<uint32_t> text = host_counts_in_text(program);
  uint32_t host_count = 0;
  for (const Statement& statement : program.statements) {
    host_count += is_of_host(program, statement);
  }
  // From the end, where what follows is known.
  std::vector<uint32_t> counts(text.size());
  std::vector<std::optional<uint32_t>> next_submit(program.queue_count());
  for (size_t i = text.size(); i-- > 0;) {
    const Statement& statement = program.statements[text[i]];
    if (is_of_host(program, statement)) {
      counts[text[i]] = --host_count;
      if (statement.queue != kNoQueue) next_submit[statement.queue] = host_count + 1;
    } else {
      counts[text[i]] = next_submit[statement.queue].value_or(host_count);
    }
  }
  return counts;
}

}  // namespace interlock
