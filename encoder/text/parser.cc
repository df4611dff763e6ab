// The basic idea is that a line is read into an item (line_reader.h), and the item added to the
// program (program_builder.h), one line at a time: no draft of the whole program is ever held.
#include "encoder/text/parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "encoder/assemble/build.h"
#include "encoder/build/program_builder.h"
#include "encoder/program/names.h"
#include "encoder/program/stop.h"
#include "encoder/text/line_reader.h"

namespace interlock {
namespace {

bool is_control_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t') || byte == 0x7f;
}

class Parser {
 public:
  Parser(std::string_view file_name, const ParseOptions& options)
      : file_name_(file_name), options_(options), builder_(new_builder(options.limits)) {}

  Result<Program> parse(std::string_view text) {
    if (text.size() > options_.limits.file_bytes) {
      return error_at(1, fmt::format("the text has {} bytes, more than the limit of {}.",
                                     text.size(), options_.limits.file_bytes));
    }
    bool has_header = false;
    for (size_t start = 0; start < text.size();) {
      const size_t newline = std::min(text.find('\n', start), text.size());
      std::string_view line = text.substr(start, newline - start);
      start = newline + 1;
      if (is_stopped()) return error_at(1, "reading was stopped here.");
      if (line.size() > options_.limits.line_bytes) {
        return error_at(1, fmt::format("the line has {} bytes, more than the limit of {}.",
                                       line.size(), options_.limits.line_bytes));
      }
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      const auto added = has_header ? add_line(line) : add_header(line, has_header);
      if (!added && !(options_.skips_invalid_lines && has_header)) return added.error();
      ++line_number_;
    }
    if (!has_header) {
      return error_at(1,
                      "the text ends without a statement; expected the header line 'interlock 1'.");
    }
    return finish();
  }

 private:
  Result<Program> finish() {
    if (options_.skips_invalid_lines) builder_.drop_open_capture();
    auto program = builder_.finish();
    if (program) return program;
    line_number_ = capture_line_number_;  // Only a capture can be left open.
    return error_at(capture_column_, program.error().message);
  }

  Error error_at(uint32_t column, std::string_view message) const {
    return {fmt::format("{}:{}:{}: error: {}", file_name_, line_number_, column, message)};
  }

  Result<Success> check_bytes(std::string_view line) const {
    // Without a branch per byte: lines have none.
    bool has_control_byte = false;
    for (const char c : line) has_control_byte |= is_control_byte(c);
    if (!has_control_byte) {
      return Success{};
    }
    const auto found = std::find_if(line.begin(), line.end(), is_control_byte);
    return error_at(
        static_cast<uint32_t>(found - line.begin() + 1),
        fmt::format("found the control byte {}; program text has none but tabs and line ends.",
                    in_quotes(std::string_view(&*found, 1))));
  }

  Result<Success> add_header(std::string_view line, bool& has_header) {
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

  Result<Success> add_line(std::string_view line) {
    if (auto checked = check_bytes(line); !checked) return checked;
    if (!reader_.read(line)) return error_at(reader_.error_column(), reader_.error_message());
    const std::optional<ItemDraft>& item = reader_.item();
    if (!item) return Success{};
    if (const auto added = builder_.add(*item); !added) {
      return error_at(reader_.column_of(builder_.error_place()), added.error().message);
    }
    if (std::holds_alternative<CaptureDraft>(*item)) {
      capture_line_number_ = line_number_;
      capture_column_ = reader_.column_of({ItemPart::kName});
    }
    return Success{};
  }

  std::string_view file_name_;
  const ParseOptions& options_;
  ProgramBuilder builder_;
  LineReader reader_;
  uint64_t line_number_ = 1;
  uint64_t capture_line_number_ = 1;  // Of the last capture.
  uint32_t capture_column_ = 1;
};

}  // namespace

Result<Program> parse(std::string_view text, std::string_view file_name,
                      const ParseOptions& options) {
  return Parser(file_name, options).parse(text);
}

}  // namespace interlock
