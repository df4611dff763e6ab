#include "tests/simulator/picture/markup_check.h"

#include <cctype>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace interlock {
namespace {

bool is_xml_name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == ':' ||
         c == '.';
}

class XmlScan {
 public:
  explicit XmlScan(std::string_view text) : rest_(text) {}

  std::string run() {
    if (!is_utf8(rest_)) return "bytes that are no UTF-8, or a control";
    while (!rest_.empty() && complaint_.empty()) {
      if (rest_.front() == '<') {
        tag();
      } else {
        content();
      }
    }
    if (complaint_.empty() && !open_.empty()) complain("<" + open_.back() + "> is not closed");
    if (complaint_.empty() && root_count_ != 1) complain("there is not one root element");
    return complaint_;
  }

 private:
  // Chars of production [2] that are no surrogates and stand as they should.
  static bool is_utf8(std::string_view text) {
    for (size_t i = 0; i < text.size();) {
      const auto lead = static_cast<uint8_t>(text[i]);
      if (lead < 0x20 && lead != '\n' && lead != '\t') return false;
      const size_t size = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
      if ((lead >= 0x80 && lead < 0xc2) || lead > 0xf4 || i + size > text.size()) return false;
      uint32_t value = size == 1 ? lead : lead & (0x7fU >> size);
      for (size_t k = 1; k < size; ++k) {
        const auto next = static_cast<uint8_t>(text[i + k]);
        if (next >> 6 != 2) return false;
        value = value << 6 | (next & 0x3fU);
      }
      if (value >= 0xd800 && value < 0xe000) return false;
      if (value == 0xfffe || value == 0xffff) return false;
      i += size;
    }
    return true;
  }

  void complain(const std::string& what) {
    if (complaint_.empty()) complaint_ = what + " before: " + std::string(rest_.substr(0, 60));
  }

  bool take(std::string_view token) {
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  std::string name() {
    size_t size = 0;
    while (size < rest_.size() && is_xml_name_char(rest_[size])) ++size;
    const std::string result(rest_.substr(0, size));
    if (result.empty()) complain("a name is missing");
    rest_.remove_prefix(size);
    return result;
  }

  void blanks() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) != 0) {
      rest_.remove_prefix(1);
    }
  }

  void tag() {
    if (take("</")) {
      const std::string closed = name();
      if (open_.empty() || open_.back() != closed)
        return complain("</" + closed + "> closes nothing");
      open_.pop_back();
      blanks();
      if (!take(">")) complain("> is missing");
      return;
    }
    take("<");
    const std::string opened = name();
    if (open_.empty()) ++root_count_;
    std::set<std::string> attributes;
    while (complaint_.empty()) {
      const size_t before = rest_.size();
      blanks();
      if (take("/>")) return;
      if (take(">")) {
        open_.push_back(opened);
        return;
      }
      if (before == rest_.size()) return complain("a blank is missing");
      const std::string attribute = name();
      if (!attributes.insert(attribute).second) return complain(attribute + " is there twice");
      if (!take("=\"")) return complain("=\" is missing");
      const size_t end = rest_.find('"');
      if (end == std::string_view::npos) return complain("a quote is missing");
      text(rest_.substr(0, end));
      rest_.remove_prefix(end + 1);
    }
  }

  void content() {
    const std::string_view between = rest_.substr(0, rest_.find('<'));
    if (open_.empty() && between.find_first_not_of(" \n") != std::string_view::npos) {
      return complain("text outside the root element");
    }
    text(between);
    if (complaint_.empty()) rest_.remove_prefix(between.size());
  }

  void text(std::string_view text) {
    if (text.find('<') != std::string_view::npos) return complain("< in an attribute");
    for (size_t at = text.find('&'); at != std::string_view::npos; at = text.find('&', at + 1)) {
      const std::string_view entity = text.substr(at, text.substr(at).find(';') + 1);
      static const std::set<std::string_view> kKnown = {"&amp;",  "&lt;",   "&gt;",
                                                        "&quot;", "&apos;", "&#39;"};
      if (!kKnown.contains(entity)) return complain("a bare &");
    }
  }

  std::string_view rest_;
  std::vector<std::string> open_;
  int root_count_ = 0;
  std::string complaint_;
};

}  // namespace

std::string xml_complaint(std::string_view text) { return XmlScan(text).run(); }

}  // namespace interlock
