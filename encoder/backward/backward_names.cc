#include "encoder/backward/backward_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace interlock {

BackwardNames::BackwardNames(std::vector<std::string_view> taken) : taken_(std::move(taken)) {
  std::sort(taken_.begin(), taken_.end());
}

bool BackwardNames::is_taken(std::string_view name) const {
  return std::binary_search(taken_.begin(), taken_.end(), name) || claimed_.count(name) > 0;
}

std::string BackwardNames::claim(const std::string& wanted) {
  if (!is_taken(wanted)) return *claimed_.insert(wanted).first;
  uint64_t& number = next_number_.emplace(wanted, 2).first->second;
  std::string name;
  do {
    name = fmt::format("{}.{}", wanted, number++);
  } while (is_taken(name));
  return *claimed_.insert(std::move(name)).first;
}

std::string BackwardNames::claim_numbered(const std::string& stem) {
  uint64_t& number = next_of_stem_[stem];
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

std::string backward_stem_of(const Program& program, DispatchId dispatch) {
  const Statement& statement = program.statements[program.dispatch(dispatch).statement.index];
  std::string stem = statement.label.is_some()
                         ? std::string(program.name(statement.label))
                         : fmt::format("{}{}", program.name(program.dispatch(dispatch).kernel_name),
                                       dispatch.index);
  // A dispatch of a replayed capture has '@' in its label.
  std::replace(stem.begin(), stem.end(), '@', '.');
  return stem;
}

}  // namespace interlock
