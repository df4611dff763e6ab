#include "tests/code/included_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

namespace interlock {
namespace {

struct StandardHeader {
  std::string_view header;
  std::string_view names;  // Words, apart by spaces.
};

// Names that other headers declare too, such as std::get and std::begin, are left out.
constexpr std::array<StandardHeader, 39> kStandardHeaders = {{
    {"algorithm",
     "all_of any_of binary_search clamp copy copy_if copy_n count count_if equal fill fill_n find "
     "find_if includes is_sorted lower_bound max max_element min min_element minmax none_of "
     "nth_element partition remove_if replace reverse rotate sort stable_partition stable_sort "
     "transform unique upper_bound"},
    {"array", "array to_array"},
    {"atomic", "atomic memory_order_relaxed"},
    {"bit", "bit_cast bit_ceil bit_width countr_zero has_single_bit popcount"},
    {"cctype", "isalnum isalpha isdigit isspace isupper tolower"},
    {"charconv", "from_chars to_chars"},
    {"chrono", "chrono"},
    {"cmath", "cos exp fabs frexp isfinite isnan ldexp log nan nextafter pow sin sqrt trunc"},
    {"condition_variable", "condition_variable"},
    {"cstdio", "fclose fflush fgetc fopen fprintf fwrite printf snprintf"},
    {"cstdlib", "abort aligned_alloc atoi exit free getenv strtoull"},
    {"cstring", "memcmp memcpy memset strcmp strerror strlen"},
    {"deque", "deque"},
    {"filesystem", "filesystem"},
    {"fstream", "ifstream ofstream"},
    {"functional", "function greater less"},
    {"initializer_list", "initializer_list"},
    {"iostream", "cerr cin cout"},
    {"iterator", "back_inserter istreambuf_iterator make_move_iterator"},
    {"limits", "numeric_limits"},
    {"map", "map multimap"},
    {"memory", "make_shared make_unique shared_ptr unique_ptr"},
    {"mutex", "lock_guard mutex scoped_lock unique_lock"},
    {"numeric", "accumulate gcd iota lcm"},
    {"optional", "nullopt optional"},
    {"queue", "priority_queue queue"},
    {"random", "mt19937"},
    {"regex", "regex regex_match regex_search"},
    {"set", "multiset set"},
    {"span", "span"},
    {"sstream", "istringstream ostringstream stringstream"},
    {"stdexcept", "invalid_argument logic_error runtime_error"},
    {"string", "string to_string"},
    {"string_view", "string_view"},
    {"thread", "this_thread thread"},
    {"tuple", "tie tuple"},
    {"utility", "exchange forward move pair swap"},
    {"variant", "get_if holds_alternative monostate variant visit"},
    {"vector", "vector"},
}};

// Device code, whose words are macros; and programs of their own.
constexpr std::array<std::string_view, 4> kApart = {"backends/kernels/", "backends/cuda/emulation/",
                                                    "tests/bench/", "tests/package/"};

bool is_type_or_constant(std::string_view word) {
  const auto is_upper = [](char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; };
  return is_upper(word[0]) || (word.size() > 1 && word[0] == 'k' && is_upper(word[1]));
}

}  // namespace

NameMap::NameMap(const std::vector<SourceFile>& files) {
  for (const SourceFile& file : files) {
    includes_.emplace(file.path, includes_of(file.text));
    declared_in_.emplace(file.path, names_declared_anywhere_in(code_only(file.text)));
    if (!file.path.ends_with(".h") || is_apart(file.path)) continue;
    for (const std::string& name : names_declared_in(file.text, DeclaredIn::kAnyNamespace)) {
      headers_of_[name].insert(file.path);
    }
  }
  for (const StandardHeader& standard : kStandardHeaders) {
    for (const Word& word : words_of(standard.names)) {
      standard_header_of_.emplace(word.word, standard.header);
    }
  }
}

bool NameMap::is_apart(std::string_view path) {
  return std::any_of(kApart.begin(), kApart.end(),
                     [&](std::string_view apart) { return path.starts_with(apart); });
}

std::vector<std::string> NameMap::complaints_about(const SourceFile& file) const {
  const std::set<std::string> reached = reached_from(file.path);
  const std::string code = code_only(file.text);
  const std::vector<Word> words = words_of(code);
  std::vector<std::string> complaints;
  std::set<std::string_view> told;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i].word;
    const std::string_view ahead = before(code, words[i].begin);
    const bool is_standard = ahead.ends_with("::") && i > 0 && words[i - 1].word == "std";
    const std::string header = is_standard ? standard_header_missing(word, reached)
                                           : header_missing(code, words[i], ahead, reached);
    if (header.empty() || !told.insert(word).second) continue;
    const auto line = std::count(code.begin(), code.begin() + std::ptrdiff_t(words[i].begin), '\n');
    complaints.push_back(complaint(
        file, size_t(line) + 1,
        std::string(word) + " is declared in '" + header + "', which no include leads to."));
  }
  return complaints;
}

std::set<std::string> NameMap::reached_from(const std::string& path) const {
  std::set<std::string> reached = {path};
  std::vector<std::string> ahead = {path};
  while (!ahead.empty()) {
    const auto found = includes_.find(ahead.back());
    ahead.pop_back();
    if (found == includes_.end()) continue;
    for (const std::string& include : found->second) {
      if (reached.insert(include).second) ahead.push_back(include);
    }
  }
  return reached;
}

std::string NameMap::standard_header_missing(std::string_view name,
                                             const std::set<std::string>& reached) const {
  const auto found = standard_header_of_.find(name);
  if (found == standard_header_of_.end()) return {};
  return reached.contains(std::string(found->second)) ? "" : std::string(found->second);
}

std::string NameMap::header_missing(std::string_view code, const Word& word, std::string_view ahead,
                                    const std::set<std::string>& reached) const {
  const auto found = headers_of_.find(word.word);
  if (found == headers_of_.end()) return {};
  // Members, and names of other namespaces and types.
  if (ahead.ends_with('.') || ahead.ends_with("->") || ahead.ends_with("::")) return {};
  if (!is_type_or_constant(word.word)) {
    const size_t end = word.begin + word.word.size();
    if (end >= code.size() || code[end] != '(') return {};
  }
  for (const std::string& path : reached) {
    const auto declared = declared_in_.find(path);
    if (declared != declared_in_.end() && declared->second.contains(std::string(word.word))) {
      return {};
    }
  }
  return *found->second.begin();
}

}  // namespace interlock
