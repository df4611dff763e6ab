// The basic idea is that a line is made one of program text, of which grammar and rules are known:
// a node is a dispatch of a kernel that nobody knows.
#include "encoder/import/access_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <utility>

#include "encoder/assemble/build.h"
#include "encoder/build/program_builder.h"
#include "encoder/program/names.h"
#include "encoder/program/stop.h"
#include "encoder/text/line_reader.h"

namespace interlock {
namespace {

constexpr std::string_view kAccessHeader = "accesses 1";
constexpr std::string_view kDispatchWords = "dispatch Node ";

bool separates_words(char c) { return c == ' ' || c == '\t'; }

// A word, and the column where it begins: the first is 1.
struct TextWord {
  std::string_view text;
  uint32_t column = 1;
};

std::vector<TextWord> text_words_of(std::string_view line) {
  std::vector<TextWord> words;
  line = line.substr(0, line.find('#'));
  for (size_t at = 0; at < line.size();) {
    if (separates_words(line[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < line.size() && !separates_words(line[end])) ++end;
    words.push_back({line.substr(at, end - at), static_cast<uint32_t>(at + 1)});
    at = end;
  }
  return words;
}

std::optional<uint64_t> address_of(std::string_view text) {
  if (!text.starts_with("0x")) return decimal_of(text);
  uint64_t address = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data() + 2, end, address, 16);
  return code == std::errc() && stop == end ? std::optional(address) : std::nullopt;
}

class AccessReader {
 public:
  AccessReader(std::string_view file_name, const Limits& limits)
      : file_name_(file_name), limits_(limits), builder_(new_builder(limits)) {}

  Result<AccessSets> read(std::string_view text) {
    if (text.size() > limits_.input_bytes) {
      fail(1, fmt::format("the text has {} bytes, more than the limit of {}.", text.size(),
                          limits_.input_bytes));
      return Error{error_};
    }
    for (size_t start = 0; start < text.size(); ++line_) {
      const size_t newline = std::min(text.find('\n', start), text.size());
      std::string_view line = text.substr(start, newline - start);
      start = newline + 1;
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      if (!read_line(line)) return Error{error_};
    }
    if (!has_header_) {
      fail(1, "the text ends without a statement; expected the header line 'accesses 1'.");
      return Error{error_};
    }
    return std::move(sets_);
  }

 private:
  bool fail(uint32_t column, std::string_view message) {
    error_ = fmt::format("{}:{}:{}: error: {}", file_name_, line_, column, message);
    return false;
  }

  bool read_line(std::string_view line) {
    if (is_stopped()) return fail(1, "reading was stopped here.");
    if (line.size() > limits_.line_bytes) {
      return fail(1, fmt::format("the line has {} bytes, more than the limit of {}.", line.size(),
                                 limits_.line_bytes));
    }
    const std::vector<TextWord> words = text_words_of(line);
    if (words.empty()) return true;
    if (!has_header_) {
      has_header_ = words.size() == 2 && words[0].text == "accesses" && words[1].text == "1";
      return has_header_ ||
             fail(words[0].column, fmt::format("found {}; expected the header line {}.",
                                               in_quotes(words[0].text), in_quotes(kAccessHeader)));
    }
    if (words[0].text == "memory") return read_memory(line, words);
    if (words[0].text == "node" || words[0].text == "kernel") return read_set(line, words);
    return fail(words[0].column, fmt::format("found {}; expected memory, node or kernel.",
                                             in_quotes(words[0].text)));
  }

  // Reads a line of program text, which stands `shift` bytes further right in the file.
  const ItemDraft* read_item(std::string_view text, int64_t shift) {
    const auto in_file = [shift](uint32_t column) {
      return static_cast<uint32_t>(std::max<int64_t>(column + shift, 1));
    };
    if (!reader_.read(text)) {
      fail(in_file(reader_.error_column()), reader_.error_message());
      return nullptr;
    }
    const ItemDraft& item = *reader_.item();
    if (const auto added = builder_.add(item); !added) {
      fail(in_file(reader_.column_of(builder_.error_place())), first_line(added.error().message));
      return nullptr;
    }
    return &item;
  }

  // Without the context, which speaks of a dispatch.
  static std::string_view first_line(std::string_view message) {
    return message.substr(0, message.find('\n'));
  }

  // "memory NAME BYTES [at ADDRESS]"
  bool read_memory(std::string_view line, const std::vector<TextWord>& words) {
    AddressedMemory memory;
    const bool has_address = words.size() > 4 && words[words.size() - 2].text == "at";
    if (has_address) {
      const TextWord& last = words.back();
      memory.address = address_of(last.text);
      if (!memory.address) {
        return fail(last.column, fmt::format("found {}; expected an address, as 0x302000000.",
                                             in_quotes(last.text)));
      }
      line = line.substr(0, words[words.size() - 2].column - 1);
    }
    const ItemDraft* const item = read_item(line, 0);
    if (item == nullptr) return false;
    memory.memory = std::get<MemoryDraft>(*item);
    if (!check_address(memory, words.back().column)) return false;
    if (memory.address) sets_.by_address[*memory.address] = sets_.memories.size();
    sets_.memories.push_back(std::move(memory));
    return true;
  }

  bool check_address(const AddressedMemory& memory, uint32_t column) {
    if (!memory.address) return true;
    const uint64_t end = *memory.address + memory.memory.size_bytes;
    if (end < *memory.address) return fail(column, "the memory ends past the last address.");
    // Of those that begin before its end the last.
    const auto after = sets_.by_address.lower_bound(end);
    if (after == sets_.by_address.begin()) return true;
    const AddressedMemory& other = sets_.memories[std::prev(after)->second];
    return *other.address + other.memory.size_bytes <= *memory.address ||
           fail(column,
                fmt::format("the memory shares addresses with {}.", in_quotes(other.memory.name)));
  }

  // "node NAME CLAUSES", "kernel PATTERN none"
  bool read_set(std::string_view line, const std::vector<TextWord>& words) {
    if (words.size() < 2) {
      return fail(words[0].column, fmt::format("found {} alone; expected a name after it.",
                                               in_quotes(words[0].text)));
    }
    AccessSet set;
    set.is_of_node = words[0].text == "node";
    set.name = words[1].text;
    set.line = line_;
    if (set.name.size() > limits_.line_bytes / 16) {
      return fail(words[1].column, fmt::format("the name has {} bytes, more than the limit of {}.",
                                               set.name.size(), limits_.line_bytes / 16));
    }
    const auto [first, is_new] =
        lines_.try_emplace(std::pair(set.is_of_node, std::string(set.name)), line_);
    if (!is_new) {
      return fail(words[1].column, fmt::format("what {} {} does stands in line {} already.",
                                               words[0].text, in_quotes(set.name), first->second));
    }
    if (words.size() < 3) {
      return fail(words[1].column, "found no accesses after the name; expected clauses or none.");
    }
    const bool is_none = words.size() == 3 && words[2].text == "none";
    if (!is_none) {
      const uint32_t start = words[2].column;
      const std::string text = std::string(kDispatchWords) + std::string(line.substr(start - 1));
      const int64_t shift = int64_t{start} - 1 - static_cast<int64_t>(kDispatchWords.size());
      const ItemDraft* const item = read_item(text, shift);
      if (item == nullptr) return false;
      set.accesses = std::get<DispatchDraft>(*item);
      if (set.accesses.order || !set.accesses.after.empty() || !set.accesses.queue.empty()) {
        return fail(start, "the order of a node, its edges and its queue are those of the graph.");
      }
    }
    sets_.sets.push_back(std::move(set));
    return true;
  }

  std::string_view file_name_;
  const Limits& limits_;
  ProgramBuilder builder_;  // Knows the memories, and what may be said of them.
  LineReader reader_;
  AccessSets sets_;
  bool has_header_ = false;
  std::map<std::pair<bool, std::string>, uint64_t> lines_;  // Of nodes, and of kernels, by name.
  uint64_t line_ = 1;
  std::string error_;
};

}  // namespace

Result<AccessSets> read_access_sets(std::string_view text, std::string_view file_name,
                                    const Limits& limits) {
  return AccessReader(file_name, limits).read(text);
}

// Greedy: what the last `*` stands for grows where the rest does not match.
bool matches(std::string_view pattern, std::string_view text) {
  size_t p = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;
  size_t after_star = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      after_star = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++after_star;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::optional<OperandDraft> operand_at(const AccessSets& sets, const StridedRange& bytes) {
  const uint64_t end = bytes.run(bytes.run_count - 1).end;
  const auto after = sets.by_address.upper_bound(bytes.begin);
  if (after == sets.by_address.begin()) return std::nullopt;
  const auto [address, index] = *std::prev(after);
  const MemoryDraft& memory = sets.memories[index].memory;
  if (end - address > memory.size_bytes) return std::nullopt;
  OperandDraft operand;
  operand.name = memory.name;
  operand.slice = ByteRange{bytes.begin - address, end - address};
  if (bytes.run_count > 1) {
    operand.stride = StrideDraft{bytes.run_count, bytes.pitch_bytes, bytes.run_bytes};
  }
  return operand;
}

}  // namespace interlock
