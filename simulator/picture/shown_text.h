// Text as pictures show it: names and sentences of strangers, made safe to write and to look at.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace interlock {

// Returns `text` as UTF-8 that shows all that is in it: what is no UTF-8 as U+FFFD; controls, and
// what hides or turns its neighbours (zero widths, marks of direction), as "\u{202e}".
std::string visible_text(std::string_view text);

// So many cells of a terminal: wide characters count twice. Requires: visible text; so below.
size_t text_columns(std::string_view text);

// At most `columns` of it, the middle left out for "…". Requires: columns > 0.
std::string shortened(std::string_view text, size_t columns);

// Lines of at most `columns`, cut at blanks where there are any. Requires: columns > 0.
std::vector<std::string> wrapped(std::string_view text, size_t columns);

// visible_text() for XML and HTML, between tags and in quoted attributes.
std::string markup_text(std::string_view text);

// Likewise, lines of text whose ends stay.
std::string markup_lines(std::string_view text);

}  // namespace interlock
