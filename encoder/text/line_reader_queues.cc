// The grammar of queues, semaphores, sync statements and statements of the host.
#include "encoder/program/names.h"
#include "encoder/program/words.h"
#include "encoder/text/line_reader.h"

namespace interlock {
namespace {

constexpr std::string_view kHostWords[] = {"reads", "writes",  "waits",      "signals",
                                           "idle",  "flushes", "invalidates"};

// By kHostWords, less the first two, which are accesses.
constexpr SyncKind kHostKinds[] = {SyncKind::kHostWaits, SyncKind::kHostSignals,
                                   SyncKind::kHostIdle, SyncKind::kHostFlushes,
                                   SyncKind::kHostInvalidates};
constexpr size_t kHostAccessWords = 2;

}  // namespace

bool LineReader::read_queue(std::string& queue) {
  return take_name("the name of a queue", ItemPart::kQueue, queue);
}

bool LineReader::read_queue_and_end(std::string& queue) {
  if (lexer_.peek().is("on")) {
    lexer_.next();
    if (!read_queue(queue)) return false;
  }
  return take_end();
}

// Reads "concurrent", "serial blocking".
bool LineReader::read_rest(QueueDraft& queue) {
  queue.name = label_;
  columns_[static_cast<size_t>(ItemPart::kName)] = columns_[static_cast<size_t>(ItemPart::kLabel)];
  const Token word = lexer_.next_word();
  const auto kind = position_in<QueueKind>(kQueueWords, word.text);
  if (!kind) {
    return fail_expecting(
        word, "a kind of queue: concurrent, serial, serial blocking, legacy-default or graph");
  }
  queue.kind = *kind;
  if (queue.kind == QueueKind::kSerial && lexer_.peek().is("blocking")) {
    lexer_.next();
    queue.kind = QueueKind::kSerialBlocking;
  }
  return take_end();
}

// Reads "binary", "= 0" or nothing.
bool LineReader::read_rest(SemaphoreDraft& semaphore) {
  semaphore.name = label_;
  columns_[static_cast<size_t>(ItemPart::kName)] = columns_[static_cast<size_t>(ItemPart::kLabel)];
  if (lexer_.peek().is("binary")) {
    lexer_.next();
    semaphore.is_binary = true;
  } else if (lexer_.peek().is('=')) {
    lexer_.next();
    if (!take_number("the initial value", semaphore.initial)) return false;
  } else if (lexer_.peek().kind != TokenKind::kEnd) {
    return fail_expecting(lexer_.next(), "'binary', '=' and a value, or the end of the line");
  }
  return take_end();
}

bool LineReader::read_rest(SyncDraft& sync, SyncKind kind) {
  sync.label = label_;
  sync.kind = kind;
  switch (kind) {
    case SyncKind::kSignal:
      return read_semaphores(sync) && read_queue_and_end(sync.queue);
    case SyncKind::kWait:
      return read_semaphore_use(sync.semaphores.emplace_back(), "before") &&
             read_queue_and_end(sync.queue);
    case SyncKind::kHostWaits:
    case SyncKind::kHostSignals:
      return read_semaphore_use(sync.semaphores.emplace_back(), {}) && take_end();
    case SyncKind::kSet:
      return read_event(sync) &&
             read_barrier_rest(sync.barrier_kind, sync.dependencies, sync.queue);
    case SyncKind::kAwait:
      return read_event(sync) && read_queue_and_end(sync.queue);
    case SyncKind::kHostFlushes:
    case SyncKind::kHostInvalidates:
      return read_host_operands(sync.operands) && take_end();
    case SyncKind::kSplit:
    case SyncKind::kSubmit:
    case SyncKind::kHostIdle:
      return read_queue_and_end(sync.queue);
  }
  INTERLOCK_CHECK(false);
}

bool LineReader::read_semaphores(SyncDraft& sync) {
  for (;;) {
    if (!read_semaphore_use(sync.semaphores.emplace_back(), "after")) return false;
    if (!lexer_.peek().is(',')) return true;
    lexer_.next();
  }
}

// Reads "s=3 after copy|compute", "s=3 from outside"; `stages_word` is the word before the stages,
// or empty where none may stand.
bool LineReader::read_semaphore_use(SemaphoreUseDraft& use, std::string_view stages_word) {
  const Token name = lexer_.next();
  if (name.kind != TokenKind::kName) return fail_expecting(name, "the name of a semaphore");
  operand_columns_.push_back(name.column);
  use.semaphore = name.text;
  if (lexer_.peek().is('=')) {
    lexer_.next();
    if (!take_number("a value", use.value.emplace())) return false;
  }
  const bool is_a_wait = stages_word != "after";
  if (is_a_wait && lexer_.peek().is("from")) {
    lexer_.next();
    if (!take_word("outside", "'outside': nobody in the program signals it")) return false;
    use.is_from_outside = true;
  }
  if (stages_word.empty() || !lexer_.peek().is(stages_word)) return true;
  lexer_.next();
  return read_stages(use.stages);
}

// Reads "copy|compute".
bool LineReader::read_stages(StageMask& stages) {
  stages = 0;
  for (;;) {
    const Token word = lexer_.next();
    const auto scope = word.kind == TokenKind::kName ? scope_of(word.text) : std::nullopt;
    if (!scope || scope->accesses != 0 || scope->stages == 0) {
      return fail_expecting(
          word,
          "a stage: compute, copy, indirect, graphics, host, device or all; semaphores cover all its accesses");
    }
    stages |= scope->stages;
    if (!lexer_.peek().is('|')) return true;
    lexer_.next();
  }
}

bool LineReader::read_event(SyncDraft& sync) {
  return take_name("the name of an event", ItemPart::kName, sync.event);
}

// Reads what stands after 'host'.
bool LineReader::read_host() {
  const Token word = lexer_.next();
  const auto position = position_in(kHostWords, word.text);
  if (word.kind != TokenKind::kName || !position) {
    return fail_expecting(
        word, "what the host does: reads, writes, waits, signals, idle, flushes or invalidates");
  }
  if (*position >= kHostAccessWords) {
    return read_as<SyncDraft>(kHostKinds[*position - kHostAccessWords]);
  }
  return read_as<HostAccessDraft>(*position == 0 ? HostAccess::kReads : HostAccess::kWrites);
}

bool LineReader::read_rest(HostAccessDraft& access, HostAccess kind) {
  access.label = label_;
  access.access = kind;
  if (!read_host_operands(access.operands)) return false;
  if (lexer_.peek().is("approximate")) {
    lexer_.next();
    access.is_approximate = true;
  } else if (kind == HostAccess::kWrites && lexer_.peek().is('=')) {
    lexer_.next();
    // The builder knows what the elements are, and rounds to them.
    if (lexer_.peek().is("values")) return read_host_values(access.value) && take_end();
    if (!read_initial_value(DType::kF32, access.value)) return false;
  }
  return take_end();
}

// Reads "values(1.5,-2)".
bool LineReader::read_host_values(InitialValue& value) {
  mark(ItemPart::kInitial, lexer_.next());
  value.kind = InitialKind::kValues;
  if (!take('(', "after 'values'")) return false;
  for (;;) {
    const Token token = lexer_.next_word();
    const auto number = token.kind == TokenKind::kNumber ? number_of(token.text) : std::nullopt;
    if (!number) return fail_expecting(token, "a finite number");
    value.values.push_back(*number);
    if (!lexer_.peek().is(',')) return take(')', "or ',' after a value");
    lexer_.next();
  }
}

bool LineReader::read_host_operands(std::vector<OperandDraft>& operands) {
  do {
    const Token name = lexer_.next();
    if (name.kind != TokenKind::kName || !name.is_spaced || is_reserved(name.text)) {
      return fail_expecting(name, "a tensor or a memory");
    }
    if (!read_operand(name, operands.emplace_back())) return false;
  } while (lexer_.peek().kind == TokenKind::kName && !lexer_.peek().is("approximate"));
  return true;
}

}  // namespace interlock
