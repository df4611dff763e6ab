#include "simulator/picture/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <utility>

#include "simulator/picture/shown_text.h"

namespace interlock {
namespace {

constexpr double kGutter = 104;  // Left of the lanes: epochs, and the arrow of the finding.
constexpr double kRightMargin = 12;
constexpr double kLaneMin = 132;
constexpr double kLanesMin = 300;  // Room for kRepairColumns.
constexpr double kFoldHeight = 36;
constexpr double kGap = 36;
constexpr double kWitnessWidth = 150;
constexpr double kWidthMax = 1180;    // As far as there is a choice.
constexpr double kMapMin = 128;       // Of one memory.
constexpr double kMapFirstMin = 190;  // Of the first one, which has what is left up to its most.
constexpr double kMapFirstMax = 400;
constexpr double kMapGap = 16;
constexpr double kEntryHeight = 30;
constexpr double kNoteHeight = 17;

// A segment of many bytes is wider than one of few, but not in proportion; and one of the finding
// has room for its words.
double weight_of_segment(uint64_t size_bytes, bool is_in_finding) {
  constexpr double kInFinding = 3;
  return (12.0 + static_cast<double>(std::bit_width(size_bytes)) / 4) *
         (is_in_finding ? kInFinding : 1);
}

}  // namespace

PictureLayout::PictureLayout(const Picture& picture) : picture_(picture) {
  place_rows();
  place_columns();
}

double PictureLayout::height_of(const PictureRow& row) {
  switch (row.kind) {
    case RowKind::kDispatch:
      return 42;
    case RowKind::kFold:
      return kFoldHeight;
    case RowKind::kRepair:
      return text_columns(visible_text(row.label)) > kRepairColumns ? 48 : 34;
    case RowKind::kEnd:
      return 42;
    case RowKind::kBarrier:
    case RowKind::kSync:
    case RowKind::kLifetime:
      return 30;
  }
  return 0;
}

void PictureLayout::place_rows() {
  double top = 0;
  for (const PictureRow& row : picture_.rows) {
    tops_.push_back(top);
    if (row.fold == kNone32) top += height_of(row);
  }
  tops_.push_back(top);
  for (const WitnessEntry& entry : picture_.witness) {
    witness_row_ = std::min(witness_row_, entry.row);
  }
}

void PictureLayout::place_columns() {
  const auto lane_count = static_cast<double>(std::max<size_t>(picture_.lanes.size(), 1));
  lanes_ = {kGutter, kGutter + std::max(kLanesMin, kLaneMin * lane_count)};
  double left = lanes_.right + kGap;
  if (!picture_.witness.empty()) {
    left += kGap / 2;
    witness_ = {left, left + kWitnessWidth};
    left = witness_.right + kGap;
  }
  const auto memory_count = picture_.memories.size();
  map_ = {left, left};
  for (size_t i = 0; i < memory_count; ++i) {
    const double others = (kMapMin + kMapGap) * static_cast<double>(memory_count - 1);
    const double first =
        std::clamp(kWidthMax - kRightMargin - left - others, kMapFirstMin, kMapFirstMax);
    const double right = left + (i == 0 ? first : kMapMin);
    place_segments(left, right);
    map_.right = right;
    left = right + kMapGap;
  }
  width_ = std::max(map_.right, lanes_.right) + kRightMargin;
}

void PictureLayout::place_segments(double left, double right) {
  const auto memory = static_cast<uint32_t>(abscissas_.size());
  const std::vector<uint64_t>& boundaries = picture_.memories[memory].boundaries;
  std::vector<bool> is_in_finding(boundaries.size(), false);
  for (const MapCell& cell : picture_.cells) {
    if (cell.memory != memory || !cell.is_in_finding) continue;
    for (uint32_t k = 0; k < cell.segment_count; ++k) is_in_finding[cell.first_segment + k] = true;
  }
  std::vector<double> weights;
  double sum = 0;
  for (size_t i = 0; i + 1 < boundaries.size(); ++i) {
    weights.push_back(weight_of_segment(boundaries[i + 1] - boundaries[i], is_in_finding[i]));
    sum += weights.back();
  }
  std::vector<double> abscissas = {left};
  double so_far = 0;
  for (const double weight : weights) {
    so_far += weight;
    abscissas.push_back(left + (right - left) * so_far / sum);
  }
  abscissas_.push_back(std::move(abscissas));
}

Span PictureLayout::lane(uint32_t lane) const {
  if (lane == kNone32) return lanes_;
  const double width = lanes_.width() / static_cast<double>(picture_.lanes.size());
  return {lanes_.left + width * lane, lanes_.left + width * (lane + 1)};
}

Span PictureLayout::box(const PictureRow& row) const {
  const Span outer = lane(row.lane);
  const double margin = row.lane == kNone32 ? 4 : 12;
  return {outer.left + margin, outer.right - margin};
}

Span PictureLayout::segments(uint32_t memory, uint32_t first, uint32_t count) const {
  return {abscissas_[memory][first], abscissas_[memory][first + count]};
}

double PictureLayout::top_of_entry(size_t entry) const {
  double top = 6;
  for (size_t i = 0; i < entry; ++i) {
    const WitnessEntry& before = picture_.witness[i];
    top += kEntryHeight + kNoteHeight * static_cast<double>(before.notes.size());
  }
  return top;
}

double PictureLayout::witness_height() const {
  return picture_.witness.empty() ? 0 : top_of_entry(picture_.witness.size());
}

std::string PictureLayout::at(uint32_t row, double offset) const {
  if (row == kNone32) row = static_cast<uint32_t>(picture_.rows.size());
  return fmt::format("{{{}{:+.0f}}}", row, offset);
}

double PictureLayout::ordinate(uint32_t row, double offset) const {
  if (row >= picture_.rows.size()) return tops_.back() + offset;
  const uint32_t fold = picture_.rows[row].fold;
  return fold == kNone32 ? tops_[row] + offset : tops_[fold] + kFoldHeight / 2;
}

std::string PictureLayout::resolved(std::string_view path) const {
  std::string result;
  while (!path.empty()) {
    const size_t open = path.find('{');
    result += path.substr(0, open);
    if (open == std::string_view::npos) break;
    path.remove_prefix(open + 1);
    uint32_t row = 0;
    const auto row_end = std::from_chars(path.data(), path.data() + path.size(), row).ptr;
    int offset = 0;
    const char* const sign = row_end;
    std::from_chars(*sign == '+' ? sign + 1 : sign, path.data() + path.size(), offset);
    result += fmt::format("{:.0f}", ordinate(row, offset));
    path.remove_prefix(path.find('}') + 1);
  }
  return result;
}

}  // namespace interlock
