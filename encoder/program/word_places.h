// Where words of clauses stand, for messages on one that stands elsewhere.
#pragma once

#include <string>
#include <string_view>

namespace interlock {

// " 'in' stands right after the kernel of a dispatch, as in 'in copy'.", to come after a sentence;
// empty if it is no such word. Statements begin with words that have no such place.
std::string place_of_word(std::string_view word);

}  // namespace interlock
