#include "encoder/import/graph_names.h"

#include <fmt/format.h>

#include <utility>

#include "encoder/program/names.h"
#include "encoder/program/words.h"

namespace interlock {
namespace {

constexpr size_t kLabelBytesMax = 200;

}  // namespace

std::string legal_name(std::string_view text) {
  std::string name(text.substr(0, kLabelBytesMax));
  for (char& c : name) c = is_name_char(c) ? c : '_';
  if (name.empty() || !is_letter(name[0])) name.insert(0, "_");
  return name;
}

std::string opaque_name_of(std::string_view symbol) {
  std::string name = legal_name(symbol);
  if (is_opaque_kernel(name)) return name;
  if (name[0] == '_') return "K" + name;
  name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return name;
}

std::string LabelSet::add(std::string wanted) {
  if (wanted.size() > kLabelBytesMax) wanted = fmt::format("node{}", labels_.size());
  if (is_reserved(wanted) || wanted == kProgrammaticWord) wanted += '_';
  if (labels_.insert(wanted).second) return wanted;
  uint64_t& number = next_numbers_.try_emplace(wanted, 2).first->second;
  std::string label;
  do {
    label = fmt::format("{}.{}", wanted, number++);
  } while (!labels_.insert(label).second);
  return label;
}

}  // namespace interlock
