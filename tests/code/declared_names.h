#pragma once

#include <set>
#include <string>
#include <string_view>

#include "tests/code/source_tree.h"

namespace interlock {

// Which declarations of a file are asked for.
enum class DeclaredIn { kAnyNamespace, kUnnamedNamespaces };

// Returns the names of the types, aliases, constants and functions that `text` declares in its
// namespaces: what begins in column 0, as clang-format leaves it. Members and names in literals and
// comments are none.
std::set<std::string> names_declared_in(std::string_view text, DeclaredIn where);

}  // namespace interlock
