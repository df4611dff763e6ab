#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/code/source_tree.h"

namespace interlock {

// Which declarations of a file are asked for.
enum class DeclaredIn { kAnyNamespace, kUnnamedNamespaces };

// Returns the names of the types, aliases, constants and functions that `text` declares in its
// namespaces: what begins in column 0, as clang-format leaves it. Members and names in literals and
// comments are none.
std::set<std::string> names_declared_in(std::string_view text, DeclaredIn where);

struct Word {
  std::string_view word;
  size_t begin = 0;
};

// Returns the words of `code` in their order, keywords and numbers among them. They point into it.
std::vector<Word> words_of(std::string_view code);

// Returns what stands before `begin`, spaces apart, at most three bytes of it.
std::string_view before(std::string_view code, size_t begin);

// Returns whether words[i] may be declared there, in whatever scope: it follows another word, such
// as that of a type, or the end of a type. `words` are those of `code`.
bool may_be_declared(std::string_view code, const std::vector<Word>& words, size_t i);

// Returns the words of `code` that may be declared in it.
std::set<std::string> names_declared_anywhere_in(std::string_view code);

}  // namespace interlock
