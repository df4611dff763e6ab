// The basic idea is that a line is read into an item (line_reader.h), and the item added to the
// program (program_builder.h), one line at a time: no draft of the whole program is ever held.
// Most lines have faster readers (plain_dispatch.h, plain_declarations.h): what they cannot read,
// and every error, is left to the grammar.
#include "encoder/text/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/build/program_builder.h"
#include "encoder/program/names.h"
#include "encoder/program/stop.h"
#include "encoder/program/words.h"
#include "encoder/text/line_reader.h"
#include "encoder/text/plain_cursor.h"
#include "encoder/text/plain_declarations.h"
#include "encoder/text/plain_dispatch.h"

namespace interlock {
namespace {

struct TextPlace {
  uint64_t line_number = 0;
  uint32_t column = 0;
};

struct SyncPlace {
  StatementId statement;
  TextPlace place;
};

bool has_rows_or_arguments(const std::vector<OperandDraft>& operands) {
  return std::ranges::any_of(operands, [](const OperandDraft& operand) {
    return operand.stride.has_value() || operand.mode == AccessMode::kIndirect;
  });
}

bool names_another(std::string_view queue) { return !queue.empty() && queue != kDefaultQueueName; }

// Whether the item says what only the whole synchronization model tells.
class IsBeyondOneQueue {
 public:
  bool operator()(const MemoryDraft& memory) const {
    return memory.is_unified || memory.atom_bytes != 0;
  }
  bool operator()(const DispatchDraft& dispatch) const {
    return names_another(dispatch.queue) || !dispatch.after.empty() ||
           dispatch.stage == Stage::kGraphics || has_rows_or_arguments(dispatch.operands);
  }
  bool operator()(const BarrierDraft& barrier) const {
    return names_another(barrier.queue) ||
           std::ranges::any_of(barrier.dependencies, [](const DependencyDraft& dependency) {
             return dependency.transition != TransitionKind::kNone ||
                    has_rows_or_arguments(dependency.operands);
           });
  }
  bool operator()(const LifetimeDraft& lifetime) const { return !lifetime.queue.empty(); }
  bool operator()(const ReplayDraft& replay) const { return names_another(replay.queue); }
  bool operator()(const ExpectDraft& expect) const { return !expect.waiting.empty(); }
  bool operator()(const QueueDraft&) const { return true; }
  bool operator()(const SemaphoreDraft&) const { return true; }
  bool operator()(const SyncDraft&) const { return true; }
  bool operator()(const HostAccessDraft&) const { return true; }
  template <typename Other>
  bool operator()(const Other&) const {
    return false;
  }
};

bool is_beyond_one_queue(const ItemDraft& item) { return std::visit(IsBeyondOneQueue(), item); }

// Whether it is about the one queue, and the host has no part in it.
bool is_of_one_queue(const ItemDraft& item) {
  if (const auto* const sync = std::get_if<SyncDraft>(&item)) {
    return sync->kind == SyncKind::kSplit && !names_another(sync->queue);
  }
  if (const auto* const dispatch = std::get_if<DispatchDraft>(&item)) {
    return !names_another(dispatch->queue) && dispatch->after.empty() &&
           dispatch->stage != Stage::kGraphics;
  }
  const auto* const barrier = std::get_if<BarrierDraft>(&item);
  return barrier != nullptr && !names_another(barrier->queue) &&
         std::ranges::none_of(barrier->dependencies, [](const DependencyDraft& dependency) {
           return dependency.transition != TransitionKind::kNone;
         });
}

class Parser {
 public:
  Parser(std::string_view file_name, const ParseOptions& options)
      : file_name_(file_name), options_(options), builder_(new_builder(options.limits)) {
    if (options.statement_lines != nullptr) options.statement_lines->clear();
  }

  Result<Program> parse(std::string_view text) {
    if (text.size() > options_.limits.input_bytes) {
      return error_at(1, fmt::format("the text has {} bytes, more than the limit of {}.",
                                     text.size(), options_.limits.input_bytes));
    }
    text_ = text;
    builder_.reserve_for_text(std::min(text.size(), kLookBytes));
    bool has_header = false;
    size_t next_look = kLookBytes;
    for (size_t start = 0; start < text.size();) {
      if (start >= next_look) {
        if (auto fits = check_memory(text.size()); !fits) return fits.error();
        make_room(start, text.size());
        next_look = start + kLookBytes;
      }
      const size_t newline = std::min(text.find('\n', start), text.size());
      std::string_view line = text.substr(start, newline - start);
      start = newline + 1;
      const bool has_end = newline < text.size();
      if (start < text.size()) expect_name(text.substr(start));
      if (is_stopped()) return error_at(1, "reading was stopped here.");
      if (line.size() > options_.limits.line_bytes) {
        return error_at(1, fmt::format("the line has {} bytes, more than the limit of {}.",
                                       line.size(), options_.limits.line_bytes));
      }
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      const auto added = has_header ? add_line(line, has_end) : add_header(line, has_header);
      if (!added && !(options_.skips_invalid_lines && has_header)) return added.error();
      if (options_.statement_lines != nullptr) note_lines();
      ++line_number_;
    }
    if (!has_header) {
      return error_at(1,
                      "the text ends without a statement; expected the header line 'interlock 1'.");
    }
    --line_number_;  // The last one.
    if (auto fits = check_memory(text.size()); !fits) return fits.error();
    return finish();
  }

 private:
  // Between two looks at how much memory is taken.
  static constexpr size_t kLookBytes = 64 << 10;

  // What the line has added came from it.
  void note_lines() const {
    options_.statement_lines->resize(builder_.statement_count(), line_number_);
  }

  // Where one line has a label, the next one has too, mostly; where there are many names, the next
  // kernel is a new one, as in recordings, which count their dispatches there.
  void expect_name(std::string_view rest) const {
    constexpr std::string_view kDispatch = "dispatch ";
    const bool is_label = !plain_dispatch_.label.empty();
    if (!is_label) {
      if (!builder_.has_many_names() || !rest.starts_with(kDispatch)) return;
      rest.remove_prefix(kDispatch.size());
    }
    if (!text_.ends_with('\n')) return;  // Where the cursor ends.
    PlainCursor cursor(rest);
    const std::string_view name = cursor.take_run();
    if (!is_label || cursor.is_at(':')) builder_.expect_name(name);
  }

  Result<Success> check_memory(size_t text_bytes) const {
    const uint64_t bytes =
        text_bytes + builder_.memory_bytes() + sync_places_.size() * sizeof(SyncPlace);
    if (bytes <= options_.limits.input_bytes) return Success{};
    return error_at(
        1,
        fmt::format(
            "up to here the text and its program take {} bytes of memory, more than the limit of {}.",
            bytes, options_.limits.input_bytes));
  }

  // Texts go on as they begin, mostly: then no list of the program has to grow, and to be copied,
  // again and again.
  void make_room(size_t read_bytes, size_t text_bytes) {
    if (read_bytes < next_room_bytes_) return;
    next_room_bytes_ = 8 * read_bytes;
    builder_.reserve(static_cast<double>(text_bytes) / static_cast<double>(read_bytes),
                     options_.limits.input_bytes - text_bytes);
  }

  Result<Program> finish() {
    if (options_.skips_invalid_lines) {
      builder_.drop_open_capture();
      builder_.drop_faulty_syncs();
    }
    auto program = builder_.finish();
    if (!program) {
      const FaultyStatement& faulty = builder_.faulty_statement();
      const TextPlace place =
          faulty.statement.is_some() ? place_of(faulty.statement) : capture_place_;
      line_number_ = place.line_number;
      const bool is_all_of_it = faulty.place.part == ItemPart::kItem;
      return error_at(is_all_of_it ? place.column : column_in(line_of(line_number_), faulty.place),
                      program.error().message);
    }
    if (options_.find_fault == nullptr || options_.skips_invalid_lines) return program;
    if (const std::optional<ProgramFault> fault = options_.find_fault(*program)) {
      const TextPlace place = place_of(fault->statement);
      line_number_ = place.line_number;
      return error_at(place.column, fmt::format("{}, line {}.", fault->message,
                                                place_of(fault->other).line_number));
    }
    return program;
  }

  // Requires: it is a signal or a wait.
  TextPlace place_of(StatementId statement) const {
    const auto found = std::ranges::lower_bound(sync_places_, statement, {}, &SyncPlace::statement);
    INTERLOCK_CHECK(found != sync_places_.end() && found->statement == statement);
    return found->place;
  }

  // Requires: the text has so many lines. Cost: linear in those before.
  std::string_view line_of(uint64_t number) const {
    std::string_view rest = text_;
    for (; number > 1; --number) rest.remove_prefix(rest.find('\n') + 1);
    rest = rest.substr(0, rest.find('\n'));
    return rest.ends_with('\r') ? rest.substr(0, rest.size() - 1) : rest;
  }

  // Where a part of a line stands that was read before.
  uint32_t column_in(std::string_view line, ItemPlace place) {
    INTERLOCK_CHECK(reader_.read(line));
    return reader_.column_of(place);
  }

  Error error_at(uint32_t column, std::string_view message) const {
    return {fmt::format("{}:{}:{}: error: {}", file_name_, line_number_, column, message)};
  }

  Result<Success> check_bytes(std::string_view line) const {
    if (!has_control_byte(line)) return Success{};
    size_t at = 0;
    while (!has_control_byte(line.substr(at, 1))) ++at;
    return error_at(
        static_cast<uint32_t>(at + 1),
        fmt::format("found the control byte {}; program text has none but tabs and line ends.",
                    in_quotes(line.substr(at, 1))));
  }

  Result<Success> add_header(std::string_view line, bool& has_header) {
    if (line_number_ == 1 && line.starts_with("\xef\xbb\xbf")) {
      return error_at(1, "the text begins with a byte order mark; write it as UTF-8 without one.");
    }
    if (auto checked = check_bytes(line); !checked) return checked;
    if (Lexer(line).peek().kind == TokenKind::kEnd) {
      return Success{};
    }
    if (!reader_.read_header(line)) {
      return error_at(reader_.error_column(), reader_.error_message());
    }
    has_header = true;
    return Success{};
  }

  Result<Success> add_line(std::string_view line, bool has_end) {
    // Most lines by far: full barriers, and dispatches and declarations as they are usually
    // written.
    if (line == "barrier") return added(builder_.add(full_barrier_), [] { return 1; });
    if (has_end) {
      if (read_plain_dispatch(line, plain_dispatch_)) return add_plain(line, plain_dispatch_);
      if (read_plain_tensor(line, plain_tensor_)) return add_declaration(line, plain_tensor_);
      if (read_plain_memory(line, plain_memory_)) return add_declaration(line, plain_memory_);
    }
    if (auto checked = check_bytes(line); !checked) return checked;
    if (!reader_.read(line)) return error_at(reader_.error_column(), reader_.error_message());
    const std::optional<ItemDraft>& item = reader_.item();
    if (!item) return Success{};
    const auto* memory = std::get_if<MemoryDraft>(&*item);
    const auto* tensor = std::get_if<TensorDraft>(&*item);
    const bool names_after = (memory != nullptr && memory->name == kEdgesWord) ||
                             (tensor != nullptr && tensor->name == kEdgesWord);
    if (names_after) reader_.take_after_for_a_name();
    const bool is_read = options_.reads_every_queue || !is_beyond_one_queue(*item) ||
                         (options_.reads_one_queue && is_of_one_queue(*item));
    if (!is_read) {
      return error_at(
          reader_.column_of({}),
          "the statement is about several queues, the host, graphics, transitions or rows "
          "of bytes, which is not taken here: `interlock check` judges it, `interlock run` "
          "executes it.");
    }
    auto result =
        added(builder_.add(*item), [&] { return reader_.column_of(builder_.error_place()); });
    if (result) remember_place(*item);
    return result;
  }

  // Of what finish() can find wrong.
  void remember_place(const ItemDraft& item) {
    if (std::holds_alternative<CaptureDraft>(item)) {
      capture_place_ = {line_number_, reader_.column_of({ItemPart::kName})};
    }
    const auto* sync = std::get_if<SyncDraft>(&item);
    if (sync != nullptr && !sync->semaphores.empty()) {
      sync_places_.push_back(
          {builder_.last_statement(), TextPlace{line_number_, reader_.column_of({})}});
    }
  }

  template <typename Item>
  Result<Success> add_declaration(std::string_view line, const Item& item) {
    if (item.name == kEdgesWord) reader_.take_after_for_a_name();
    return add_plain(line, item);
  }

  // Where its parts stand, only the grammar knows.
  template <typename Item>
  Result<Success> add_plain(std::string_view line, const Item& item) {
    return added(builder_.add(item), [&] {
      INTERLOCK_CHECK(reader_.read(line));
      return reader_.column_of(builder_.error_place());
    });
  }

  // `column` is asked only where the item did not fit.
  template <typename Column>
  Result<Success> added(Result<Success> result, Column column) const {
    if (result) return result;
    return error_at(column(), result.error().message);
  }

  std::string_view file_name_;
  std::string_view text_;
  const ParseOptions& options_;
  ProgramBuilder builder_;
  LineReader reader_;
  const BarrierDraft full_barrier_;
  // Of the last plain lines; kept for their room.
  DispatchWords plain_dispatch_;
  TensorDraft plain_tensor_;
  MemoryDraft plain_memory_;
  size_t next_room_bytes_ = kLookBytes;
  uint64_t line_number_ = 1;
  TextPlace capture_place_{1, 1};       // Of the last capture.
  std::vector<SyncPlace> sync_places_;  // Of signals and waits, in the order of the text.
};

}  // namespace

Result<Program> parse(std::string_view text, std::string_view file_name,
                      const ParseOptions& options) {
  return Parser(file_name, options).parse(text);
}

}  // namespace interlock
