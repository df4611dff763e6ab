#include "encoder/program/fresh_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace interlock {

FreshNames::FreshNames(std::vector<std::string_view> taken) : taken_(std::move(taken)) {
  std::ranges::sort(taken_);
}

bool FreshNames::is_taken(std::string_view name) const {
  return std::ranges::binary_search(taken_, name) || claimed_.contains(name);
}

std::string FreshNames::claim(const std::string& wanted) {
  return is_taken(wanted) ? claim_numbered(wanted + '.', 2) : *claimed_.insert(wanted).first;
}

std::string FreshNames::claim_numbered(const std::string& stem, uint64_t first) {
  uint64_t& number = next_number_.try_emplace(stem, first).first->second;
  std::string name;
  do {
    name = fmt::format("{}{}", stem, number++);
  } while (is_taken(name));
  return *claimed_.insert(std::move(name)).first;
}

std::vector<std::string_view> tensor_names(const Program& program) {
  std::vector<std::string_view> names;
  for (const Tensor& tensor : program.tensors) names.push_back(program.name(tensor.name));
  for (const Memory& memory : program.memories) names.push_back(program.name(memory.name));
  return names;
}

std::vector<std::string_view> label_names(const Program& program) {
  std::vector<std::string_view> names;
  for (const Statement& statement : program.statements) {
    if (statement.label.is_some()) names.push_back(program.name(statement.label));
  }
  return names;
}

}  // namespace interlock
