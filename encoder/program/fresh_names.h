// FreshNames: names that a program does not have yet, for what a pass adds to it.
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
class FreshNames {
 public:
  // Requires: the texts outlive this.
  explicit FreshNames(std::vector<std::string_view> taken);

  // Each claims what it returns; cost: logarithmic in the names, over all calls together.
  // `wanted` if it is free, else the first free one of wanted.2, wanted.3, …
  std::string claim(const std::string& wanted);
  // The first free one of stem0, stem1, …, or from another number on. Requires: no stem is what
  // claim() is asked for and a '.', for they count on together.
  std::string claim_numbered(const std::string& stem, uint64_t first = 0);

 private:
  bool is_taken(std::string_view name) const;

  std::vector<std::string_view> taken_;  // Sorted.
  std::set<std::string, std::less<>> claimed_;
  std::map<std::string, uint64_t, std::less<>> next_number_;  // By stem.
};

// The names of tensors and memories, which operands could mean; and the labels.
std::vector<std::string_view> tensor_names(const Program& program);
std::vector<std::string_view> label_names(const Program& program);

}  // namespace interlock
