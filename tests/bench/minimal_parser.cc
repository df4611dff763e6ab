// The basic idea is one pass with a pointer: a word ends where a table says so, numbers are read by
// std::from_chars, names are looked up in a table with open addressing.
#include "tests/bench/minimal_parser.h"

#include <array>
#include <charconv>
#include <cstring>
#include <functional>
#include <utility>

#include "encoder/program/words.h"

namespace interlock {
namespace {

constexpr std::array<bool, 256> table_of_name_bytes() {
  std::array<bool, 256> table{};
  for (int c = '0'; c <= '9'; ++c) table[static_cast<size_t>(c)] = true;
  for (int c = 'A'; c <= 'Z'; ++c) table[static_cast<size_t>(c)] = true;
  for (int c = 'a'; c <= 'z'; ++c) table[static_cast<size_t>(c)] = true;
  table['_'] = table['.'] = table['@'] = true;
  return table;
}

constexpr std::array<bool, 256> kIsNameByte = table_of_name_bytes();

// What the names of tensors and memories mean. A tensor hides the memory of its name.
class Names {
 public:
  struct Meaning {
    std::string_view name;
    bool is_tensor = false;
    uint32_t index = 0;
  };

  Names() : slots_(64) {}

  Meaning& find(std::string_view name) {
    size_t place = std::hash<std::string_view>{}(name);
    for (;; ++place) {
      Meaning& slot = slots_[place & (slots_.size() - 1)];
      if (slot.name.empty() || slot.name == name) return slot;
    }
  }

  void set(std::string_view name, bool is_tensor, size_t index) {
    if (2 * ++count_ > slots_.size()) grow();
    find(name) = {name, is_tensor, static_cast<uint32_t>(index)};
  }

 private:
  void grow() {
    std::vector<Meaning> old(2 * slots_.size());
    old.swap(slots_);
    for (const Meaning& slot : old) {
      if (!slot.name.empty()) find(slot.name) = slot;
    }
  }

  std::vector<Meaning> slots_;
  size_t count_ = 0;
};

class MinimalParser {
 public:
  explicit MinimalParser(std::string_view text) : at_(text.data()), end_(at_ + text.size()) {}

  MinimalProgram parse() {
    while (at_ < end_) {
      read_line(word());
      skip_line();
    }
    return std::move(program_);
  }

 private:
  bool is_at(char c) const { return at_ < end_ && *at_ == c; }

  void skip_line() {
    const void* const newline = std::memchr(at_, '\n', static_cast<size_t>(end_ - at_));
    at_ = newline == nullptr ? end_ : static_cast<const char*>(newline) + 1;
  }

  // Empty at the end of a line.
  std::string_view word() {
    while (is_at(' ')) ++at_;
    const char* const start = at_;
    while (at_ < end_ && kIsNameByte[static_cast<unsigned char>(*at_)]) ++at_;
    return {start, static_cast<size_t>(at_ - start)};
  }

  uint64_t number() {
    uint64_t value = 0;
    at_ = std::from_chars(at_, end_, value).ptr;
    return value;
  }

  void read_line(std::string_view first) {
    std::string_view label;
    if (is_at(':')) {
      label = first;
      ++at_;
      first = word();
    }
    if (first == "dispatch") {
      read_dispatch(label);
    } else if (first == "barrier") {
      program_.barriers.push_back(static_cast<uint32_t>(program_.dispatches.size()));
    } else if (first == "memory") {
      const std::string_view name = word();
      ++at_;
      names_.set(name, false, program_.memory_sizes_bytes.size());
      program_.memory_sizes_bytes.push_back(number());
    } else if (first == "tensor") {
      read_tensor();
    }
  }

  void read_tensor() {
    const std::string_view name = word();
    uint64_t size_bytes = word() == "u8" ? 1 : 4;
    while (!is_at(']')) {
      ++at_;
      size_bytes *= number();
    }
    ++at_;
    word();  // "at"
    Access& tensor = program_.tensors.emplace_back();
    tensor.memory = MemoryId(names_.find(word()).index);
    ++at_;
    tensor.range.begin = number();
    tensor.range.end = tensor.range.begin + size_bytes;
    tensor.tensor = TensorId(program_.tensors.size() - 1);
    names_.set(name, true, program_.tensors.size() - 1);
  }

  void read_dispatch(std::string_view label) {
    MinimalDispatch dispatch{label, word(), program_.dispatches.size(),
                             static_cast<uint32_t>(program_.accesses.size())};
    AccessMode mode = AccessMode::kRead;
    for (;;) {
      const std::string_view name = word();
      if (name.empty()) break;
      if (is_at('[')) {
        read_operand(name, mode);
      } else if (is_at('=')) {
        ++at_;
        dispatch.order = number();
      } else if (const auto clause = position_in<AccessMode>(kClauseWords, name)) {
        mode = *clause;
      } else {
        read_operand(name, mode);
      }
    }
    dispatch.access_count = static_cast<uint32_t>(program_.accesses.size()) - dispatch.first_access;
    program_.dispatches.push_back(dispatch);
  }

  void read_operand(std::string_view name, AccessMode mode) {
    const Names::Meaning& meaning = names_.find(name);
    Access& access = program_.accesses.emplace_back();
    if (meaning.is_tensor) {
      access = program_.tensors[meaning.index];
    } else {
      access.memory = MemoryId(meaning.index);
      access.range.end = program_.memory_sizes_bytes[meaning.index];
    }
    access.mode = mode;
    if (!is_at('[')) return;
    ++at_;
    const uint64_t start = access.range.begin;
    access.is_sliced = true;
    access.range.begin = start + number();
    ++at_;
    access.range.end = start + number();
    ++at_;
  }

  const char* at_;
  const char* end_;
  Names names_;
  MinimalProgram program_;
};

}  // namespace

MinimalProgram parse_minimally(std::string_view text) { return MinimalParser(text).parse(); }

}  // namespace interlock
