// Names of a program for the nodes and kernels of a graph: what they are called there may hold any
// bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace interlock {

// `text` as a name: other bytes become '_', and what is too long ends early.
std::string legal_name(std::string_view text);

// As the name of an opaque kernel, which begins with an upper-case letter.
std::string opaque_name_of(std::string_view symbol);

// Labels, each given once.
class LabelSet {
 public:
  // Returns `wanted`; if it is taken, with a number after it that makes it new; if it is too long
  // or a word of the language, another. Cost: log of the labels, times their length; a number that
  // was found taken is not tried again.
  std::string add(std::string wanted);

 private:
  std::set<std::string> labels_;
  std::map<std::string, uint64_t> next_numbers_;  // By what was wanted more than once.
};

}  // namespace interlock
