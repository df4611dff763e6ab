// BackwardNames: names that a program does not have yet, for what a backward pass appends to it.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

// One name space.
class BackwardNames {
 public:
  // Requires: the texts outlive this.
  explicit BackwardNames(std::vector<std::string_view> taken);

  // Each claims what it returns; cost: logarithmic in the names, over all calls together.
  // `wanted` if it is free, else the first free one of wanted.2, wanted.3, …
  std::string claim(const std::string& wanted);
  // The first free one of stem0, stem1, …
  std::string claim_numbered(const std::string& stem);

 private:
  bool is_taken(std::string_view name) const;

  std::vector<std::string_view> taken_;  // Sorted.
  std::set<std::string, std::less<>> claimed_;
  std::map<std::string, uint64_t, std::less<>> next_number_;  // Of names that are taken.
  std::map<std::string, uint64_t, std::less<>> next_of_stem_;
};

// The names of tensors and memories, which operands could mean; and the labels.
std::vector<std::string_view> tensor_names(const Program& program);
std::vector<std::string_view> label_names(const Program& program);

// The stem of labels for what a backward pass appends for a dispatch: its label, or kernel and
// number.
std::string backward_stem_of(const Program& program, DispatchId dispatch);

}  // namespace interlock
