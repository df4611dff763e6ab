// The basic idea of judging an answer is to take the queues and the sync out of it again and to
// compare the texts.
#include "fuzz/external/external_queues.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <set>
#include <utility>
#include <variant>

#include "encoder/assemble/build.h"
#include "encoder/program/draft.h"
#include "encoder/program/error_of.h"
#include "encoder/program/names.h"
#include "encoder/text/parser.h"
#include "fuzz/external/external_passes.h"
#include "fuzz/external/external_program.h"
#include "simulator/report/read_every_queue.h"

namespace interlock {
namespace {

constexpr std::array kAskedKinds = {QueueKind::kSerial, QueueKind::kConcurrent, QueueKind::kGraph};

// What an encoder has no part in, or what it was not asked for.
Result<Success> check_queues(const Program& answer, const QueuesAsked& asked) {
  if (!answer.captures.empty() || !answer.backwards.empty()) {
    return Error{"The answer has captures or backward passes, and not dispatches alone."};
  }
  std::set<QueueIndex> queues;
  for (size_t i = 0; i < answer.statements.size(); ++i) {
    const Statement& statement = answer.statements[i];
    if (statement.queue == kNoQueue || statement.kind == StatementKind::kLifetime) {
      return error_of("Statement {} of the answer is of the host, or about a value.", i);
    }
    const QueueKind kind = answer.kind_of(statement.queue);
    if (kind != asked.kind) {
      return error_of(
          "Statement {} of the answer is on {}, a {} queue, and the queues are to be {}.", i,
          statement.queue == kDefaultQueue ? "the default queue"
                                           : in_quotes(answer.name_of(statement.queue)),
          word_of(kind), word_of(asked.kind));
    }
    queues.insert(statement.queue);
  }
  for (const SyncStep& step : answer.syncs) {
    if (step.kind != SyncKind::kSubmit) continue;
    return error_of("Statement {} of the answer is a `submit`, which is the host's.",
                    step.statement.index);
  }
  if (asked.queue_count > 0 && queues.size() > asked.queue_count) {
    return error_of("The answer uses {} queues, and at most {} are asked for.", queues.size(),
                    asked.queue_count);
  }
  return Success{};
}

}  // namespace

std::string remark_of(const QueuesAsked& asked) {
  return fmt::format("queues kind={} most={}", word_of(asked.kind), asked.queue_count);
}

std::span<const QueueKind> asked_queue_kinds() { return kAskedKinds; }

Program without_queues(const Program& program) {
  ProgramDraft draft = without_evidence(expanded_draft_of(program));
  std::erase_if(draft.items, [](const ItemDraft& item) {
    return std::holds_alternative<QueueDraft>(item) ||
           std::holds_alternative<SemaphoreDraft>(item) ||
           std::holds_alternative<SyncDraft>(item) || std::holds_alternative<BarrierDraft>(item);
  });
  for (ItemDraft& item : draft.items) {
    auto* const dispatch = std::get_if<DispatchDraft>(&item);
    if (dispatch == nullptr) continue;
    dispatch->queue.clear();
    dispatch->after.clear();
    dispatch->is_programmatic = false;
  }
  return build(draft).value();
}

std::string queue_question_text(const Program& given, const QueuesAsked& asked) {
  return with_remark(question_text(given), remark_of(asked));
}

Result<Program> queue_answer_of(const Program& given, std::string_view text,
                                const QueuesAsked& asked) {
  ParseOptions options;
  read_every_queue(options);
  Result<Program> answer = parse(text, "<answer>", options);
  if (!answer) return answer.error();
  if (auto checked = check_queues(*answer, asked); !checked) return checked.error();
  auto taken = take_answer(given, *answer, without_queues(*answer), "its queues and sync");
  if (!taken) return taken.error();
  return answer;
}

}  // namespace interlock
