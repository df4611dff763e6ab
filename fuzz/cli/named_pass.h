// The passes that options name.
#pragma once

#include <string>
#include <string_view>

#include "encoder/program/error_of.h"
#include "encoder/program/result.h"

namespace interlock {

// Sets `entry` to that of this name; an empty name leaves it. Errors: there is none of this name,
// where `noun` says of what, and `list` is the topic of `interlock list`.
template <typename Entry>
Result<Success> find_pass(const Entry*& entry, const Entry* (*find)(std::string_view),
                          const std::string& name, std::string_view noun, std::string_view list) {
  if (name.empty()) return Success{};
  entry = find(name);
  if (entry != nullptr) return Success{};
  return error_of("there is no {} '{}'. `interlock list {}` names them.", noun, name, list);
}

}  // namespace interlock
