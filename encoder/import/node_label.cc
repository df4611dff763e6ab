#include "encoder/import/node_label.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "encoder/program/names.h"

namespace interlock {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// The lines of a label: of line feeds, and of the escapes \n, \l and \r. Of a record the cells, one
// after another. Blank ones are left out.
std::vector<std::string> label_parts_of(std::string_view label, bool is_record) {
  std::vector<std::string> parts;
  std::string part;
  const auto end_part = [&] {
    if (const std::string_view text = trimmed(part); !text.empty()) parts.emplace_back(text);
    part.clear();
  };
  for (size_t i = 0; i < label.size(); ++i) {
    const char c = label[i];
    if (c == '\\' && i + 1 < label.size()) {
      const char escaped = label[++i];
      const bool ends_line = escaped == 'n' || escaped == 'l' || escaped == 'r';
      if (ends_line && !is_record) {
        end_part();
      } else {
        part += ends_line ? ' ' : escaped;
      }
    } else if (is_record ? (c == '|' || c == '{' || c == '}') : c == '\n') {
      end_part();
    } else {
      part += c;
    }
  }
  end_part();
  return parts;
}

struct KindWord {
  std::string_view word;
  GraphNodeKind kind;
};

// As labels of CUDA and HIP have them.
constexpr KindWord kKindWords[] = {
    {"KERNEL", GraphNodeKind::kKernel},
    {"MEMCPY", GraphNodeKind::kMemcpy},
    {"MEMSET", GraphNodeKind::kMemset},
    {"HOST", GraphNodeKind::kHost},
    {"EMPTY", GraphNodeKind::kEmpty},
    {"EVENT_RECORD", GraphNodeKind::kOutside},
    {"EVENT_WAIT", GraphNodeKind::kOutside},
    {"WAIT_EVENT", GraphNodeKind::kOutside},
    {"EXT_SEMAS_SIGNAL", GraphNodeKind::kOutside},
    {"EXT_SEMAS_WAIT", GraphNodeKind::kOutside},
    {"CONDITIONAL", GraphNodeKind::kOther},
};

const KindWord* find_kind(std::string_view text) {
  const std::string_view word = text.substr(0, text.find(' '));
  const auto found = std::ranges::find(kKindWords, word, &KindWord::word);
  return found == std::end(kKindWords) ? nullptr : found;
}

// Decimal, or 0x and hexadecimal digits.
std::optional<uint64_t> number_in(std::string_view text) {
  if (!text.starts_with("0x") && !text.starts_with("0X")) return decimal_of(text);
  uint64_t number = 0;
  text.remove_prefix(2);
  if (text.empty() || text.size() > 16) return std::nullopt;
  for (const char c : text) {
    const char lower = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool is_letter = lower >= 'a' && lower <= 'f';
    if (!is_letter && !is_digit(lower)) return std::nullopt;
    number = number << 4 | static_cast<uint64_t>(is_letter ? lower - 'a' + 10 : lower - '0');
  }
  return number;
}

// The cells of a record, looked up by their names.
class Cells {
 public:
  explicit Cells(const std::vector<std::string>& cells) : cells_(cells) {}

  // The number in the cell that stands `distance` after the first cell `name` at or after `from`.
  // None also if any number before was none: then sums of them mean nothing.
  uint64_t number(std::string_view name, size_t distance, size_t from = 0) {
    const size_t at = find(name, from);
    const bool is_there = at < cells_.size() && distance < cells_.size() - at;
    const auto number = is_there ? number_in(cells_[at + distance]) : std::nullopt;
    has_all_ = has_all_ && number.has_value();
    return number.value_or(0);
  }
  size_t find(std::string_view name, size_t from = 0) const {
    const auto begin = cells_.begin() + static_cast<std::ptrdiff_t>(std::min(from, cells_.size()));
    return static_cast<size_t>(std::find(begin, cells_.end(), name) - cells_.begin());
  }
  bool has_all() const { return has_all_; }

 private:
  const std::vector<std::string>& cells_;
  bool has_all_ = true;
};

// The largest address, pitch or extent that is believed, so that no sum of them wraps around.
constexpr uint64_t kNumberMax = 1ull << 48;

std::optional<StridedRange> rows_at(uint64_t address, uint64_t width, uint64_t pitch,
                                    uint64_t height) {
  if (height <= 1) pitch = width;
  if (address > kNumberMax || width > kNumberMax || pitch > kNumberMax || height > (1ull << 20) ||
      width == 0 || height == 0 || width > pitch) {
    return std::nullopt;
  }
  return StridedRange{address, width, pitch, height};
}

// "ID | node handle | dptr | pitch | value | elementSize | width | height", then as many values.
void read_memset(const std::vector<std::string>& parts, NodeContent& content) {
  Cells cells(parts);
  const size_t id = cells.find("ID");
  const size_t count = cells.find("height", id) + 1 - id;
  if (count > parts.size()) return;
  const uint64_t address = cells.number("dptr", count, id);
  const uint64_t pitch = cells.number("pitch", count, id);
  const uint64_t element_bytes = cells.number("elementSize", count, id);
  const uint64_t width = cells.number("width", count, id);
  const uint64_t height = cells.number("height", count, id);
  if (!cells.has_all() || element_bytes > 4 || width > kNumberMax) return;
  content.destination = rows_at(address, width * element_bytes, pitch, height);
}

// "srcPtr | dstPtr | pitch | ptr | xsize | ysize", the last four again, the eight values; then
// "srcPos | x | 0 | y | 0 | z | 0", the same of dstPos, "Extent | Width | 4096 | Height | …".
void read_memcpy(const std::vector<std::string>& parts, NodeContent& content) {
  constexpr size_t kPitchValues = 8;  // From the first "pitch" to the first value.
  Cells cells(parts);
  const size_t pointers = cells.find("dstPtr");
  const uint64_t width = cells.number("Width", 1);
  const uint64_t height = cells.number("Height", 1);
  const uint64_t depth = cells.number("Depth", 1);
  const auto side = [&](size_t first, std::string_view position) {
    const size_t at = cells.find(position);
    const uint64_t pitch = cells.number("pitch", kPitchValues + first, pointers);
    const uint64_t address = cells.number("pitch", kPitchValues + first + 1, pointers);
    const uint64_t x = cells.number("x", 1, at);
    const uint64_t y = cells.number("y", 1, at);
    const uint64_t z = cells.number("z", 1, at);
    if (!cells.has_all() || depth != 1 || z != 0 || x > kNumberMax || y > (1ull << 15) ||
        pitch > kNumberMax || address > kNumberMax) {
      return std::optional<StridedRange>();
    }
    return rows_at(address + y * pitch + x, width, pitch, height);
  };
  content.source = side(0, "srcPos");
  content.destination = side(4, "dstPos");
}

// A symbol ends where its launch configuration begins.
std::string symbol_of(std::string_view text) {
  return std::string(trimmed(text.substr(0, text.find("<<<"))));
}

void read_record(const std::vector<std::string>& parts, NodeContent& content) {
  if (content.kind == GraphNodeKind::kMemset) read_memset(parts, content);
  if (content.kind == GraphNodeKind::kMemcpy) read_memcpy(parts, content);
  if (content.kind != GraphNodeKind::kKernel) return;
  // "KERNEL | ID | 0 (topoId: 3) | SYMBOL<<<1,128,0>>>"; a configuration has cells of its own.
  constexpr size_t kSymbolCell = 3;
  if (parts.size() > kSymbolCell) content.name = symbol_of(parts[kSymbolCell]);
}

}  // namespace

NodeContent content_of(const DotNode& node, const std::function<bool(std::string_view)>& is_graph) {
  const bool is_record = node.shape == "record" || trimmed(node.label).starts_with('{');
  const std::vector<std::string> parts = label_parts_of(node.label, is_record);
  NodeContent content;
  // A number stands before the words of lines.
  const size_t first = !is_record && parts.size() > 1 && decimal_of(parts[0]) ? 1 : 0;
  if (parts.size() <= first) return content;
  const std::string& word = parts[first];
  const bool is_octagon = node.shape == "octagon";
  content.name = is_octagon ? symbol_of(word) : word.substr(0, word.find(' '));
  if (is_octagon) {
    content.kind = GraphNodeKind::kKernel;
    return content;
  }
  const KindWord* const known = find_kind(word);
  if (known != nullptr) {
    content.kind = known->kind;
    if (is_record) read_record(parts, content);
    return content;
  }
  // What refers to a graph and is of no other kind stands for it.
  const auto reference = std::ranges::find_if(parts, is_graph);
  if (reference == parts.end()) return content;
  content.kind = GraphNodeKind::kChildGraph;
  content.name = *reference;
  return content;
}

}  // namespace interlock
