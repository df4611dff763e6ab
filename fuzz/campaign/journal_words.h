// The words of a journal's lines (journal_text.h): how bytes that would end a word are written, and
// numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace interlock {

// Bytes that would end a line, or a token unless spaces are kept, are written %XX.
std::string journal_escaped(std::string_view text, bool keeps_spaces = false);

// What journal_escaped() makes this of; none if it makes nothing so.
std::optional<std::string> journal_unescaped(std::string_view text, bool keeps_spaces = false);

// Takes what stands before `separator` from the front of `text`, and the separator; all of it if
// there is none.
std::string_view take_journal_part(std::string_view& text, char separator);

// As journals write it: without zeros before it.
std::optional<uint64_t> journal_number_in(std::string_view text);

}  // namespace interlock
