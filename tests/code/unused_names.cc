#include "tests/code/unused_names.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string_view>

#include "tests/code/declared_names.h"

namespace interlock {
namespace {

// What the language and libraries call, or declare and we define.
const std::set<std::string_view> kOfLibraries = {"main",
                                                 "final",
                                                 "requires",
                                                 "stat",
                                                 "statfs",
                                                 "LLVMFuzzerTestOneInput",
                                                 "vkNegotiateLoaderLayerInterfaceVersion",
                                                 "vk_icdGetInstanceProcAddr",
                                                 "vk_icdGetPhysicalDeviceProcAddr",
                                                 "vk_icdNegotiateLoaderICDInterfaceVersion",
                                                 "LLVMFuzzerCustomMutator",
                                                 "LLVMFuzzerCustomCrossOver",
                                                 "afl_custom_init",
                                                 "afl_custom_fuzz",
                                                 "afl_custom_deinit",
                                                 "DescribeTo",
                                                 "DescribeNegationTo",
                                                 "MatchAndExplain",
                                                 "PrintTo",
                                                 "TearDown",
                                                 "decimal_point_impl",
                                                 "thousands_sep_impl",
                                                 "to_decimal",
                                                 "vformat_to"};

// Objects that act by being there, until their scope ends.
const std::set<std::string_view> kGuards = {"hidden_devices_", "hidden_files_", "hidden_names_",
                                            "interruptible",   "lock",          "to_the_end"};

bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_lower(char c) { return is_letter(c) && !is_upper(c); }

// One source, with what it says read from its first byte to its last.
class SourceReader {
 public:
  explicit SourceReader(const SourceFile& file) : code_(code_only(file.text)) {
    for (const std::string_view line : lines_of(code_)) {
      const size_t begin = static_cast<size_t>(line.data() - code_.data());
      if (line.starts_with('#') && !line.starts_with("#define")) {
        std::fill_n(code_.begin() + static_cast<std::ptrdiff_t>(begin), line.size(), ' ');
      }
    }
    words_ = words_of(code_);
  }

  size_t word_count() const { return words_.size(); }
  std::string_view word(size_t i) const { return words_[i].word; }
  size_t line() const { return line_; }

  // Goes on to word `i`. Requires: i is not less than before.
  void go_to(size_t i) {
    for (; at_ < words_[i].begin; ++at_) {
      if (code_[at_] == '(') ++depth_;
      if (code_[at_] == ')') --depth_;
      if (code_[at_] != '\n') continue;
      ++line_;
      line_begin_ = at_ + 1;
    }
  }

  // Whether the word gone to is declared or defined there. Parameters are none: they may have names
  // for the reader alone.
  bool is_declared(size_t i) const {
    if (depth_ != 0) return false;
    const std::string_view ahead = before(code_, words_[i].begin);
    // The definition of a member: "Type Class::name(", from column 0 on.
    if (is_letter(code_[line_begin_]) && next(i) == '(' && ahead.ends_with("::")) {
      return code_.find('=', line_begin_) > words_[i].begin;
    }
    if (!may_be_declared(code_, words_, i)) return false;
    static const std::set<std::string_view> kNoTypes = {
        "asm",     "const",     "constexpr", "enum",   "friend",   "inline",
        "mutable", "namespace", "new",       "static", "typename", "__thread"};
    if (kNoTypes.contains(word(i - 1)) || next(i) == ':') return false;
    // A tag of a type: "Id<struct Tag>".
    if (word(i - 1) == "struct" && (next(i) == '>' || next(i) == '*')) return false;
    // An address, a product or a comparison: "&name", "a * name", "a > name".
    const bool has_sign = !is_word_byte(ahead.back());
    return !has_sign || is_word_byte(ahead[ahead.size() - 2]) || ahead[ahead.size() - 2] == '>';
  }

  // Whether the word gone to may be an enumerator that is declared there.
  bool may_be_enumerator(size_t i) const {
    const std::string_view name = word(i);
    const std::string_view ahead = before(code_, words_[i].begin);
    return depth_ == 0 && name.size() > 1 && name[0] == 'k' && is_upper(name[1]) &&
           (ahead.ends_with('{') || ahead.ends_with(','));
  }

 private:
  char next(size_t i) const {
    const size_t end = words_[i].begin + words_[i].word.size();
    return end < code_.size() ? code_[end] : '\0';
  }

  std::string code_;
  std::vector<Word> words_;
  size_t at_ = 0;
  size_t line_ = 1;
  size_t line_begin_ = 0;
  int depth_ = 0;
};

struct Mentions {
  size_t use_count = 0;
  size_t declaration_count = 0;
  size_t enumerator_count = 0;  // Uses, or declarations.
  const SourceFile* first_file = nullptr;
  size_t first_line = 0;

  bool is_unused() const {
    return use_count == 0 &&
           (declaration_count > 0 ? enumerator_count == 0 : enumerator_count == 1);
  }
};

}  // namespace

std::vector<std::string> unused_complaints(const std::vector<SourceFile>& files) {
  std::map<std::string, Mentions, std::less<>> mentions_of;
  for (const SourceFile& file : files) {
    SourceReader reader(file);
    for (size_t i = 0; i < reader.word_count(); ++i) {
      reader.go_to(i);
      Mentions& mentions = mentions_of[std::string(reader.word(i))];
      ++(reader.is_declared(i)         ? mentions.declaration_count
         : reader.may_be_enumerator(i) ? mentions.enumerator_count
                                       : mentions.use_count);
      if (mentions.first_file != nullptr) continue;
      mentions.first_file = &file;
      mentions.first_line = reader.line();
    }
  }
  std::vector<std::string> complaints;
  for (const auto& [name, mentions] : mentions_of) {
    if (!mentions.is_unused()) continue;
    if (kOfLibraries.contains(name) || kGuards.contains(name)) continue;
    // Macros and numbers.
    if (!is_letter(name[0]) || std::none_of(name.begin(), name.end(), is_lower)) continue;
    complaints.push_back(complaint(*mentions.first_file, mentions.first_line,
                                   name + " is declared, and nothing uses it."));
  }
  return complaints;
}

}  // namespace interlock
