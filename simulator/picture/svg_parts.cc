#include "simulator/picture/svg_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "simulator/picture/shown_text.h"

namespace interlock {
namespace {

constexpr double kColumnWidth = 7.3;  // Of 12 pixels of a monospaced font; the widest has 7.25.
constexpr double kArrowLeft = 84;     // The first arrow in the gutter; others are left of it.
constexpr double kArrowStep = 14;
constexpr size_t kArrowsApart = 5;

std::string svg_rect(Span span, double top, double height, std::string_view css_class,
                     double radius = 5) {
  return fmt::format(
      R"(<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="{:.0f}"/>)",
      css_class, span.left, top, std::max(span.width(), 1.0), height, radius);
}

// Of an arrow that points along (dx, 0) or (0, dy) to a place whose ordinate is `y`.
std::string head_right(const PictureLayout& layout, double x, uint32_t row, double y) {
  return fmt::format("M{:.0f} {}L{:.0f} {}L{:.0f} {}Z", x, layout.at(row, y), x - 9,
                     layout.at(row, y - 5), x - 9, layout.at(row, y + 5));
}

}  // namespace

std::string svg_title(std::string_view text) {
  constexpr size_t kColumnsMax = 1000;
  if (text.empty()) return "";
  return fmt::format("<title>{}</title>", markup_text(shortened(visible_text(text), kColumnsMax)));
}

std::string label_at(double x, double y, std::string_view css_class, std::string_view text,
                     double width) {
  const auto columns = static_cast<size_t>(std::max(width / kColumnWidth, 1.0));
  const std::string whole = visible_text(text);
  const std::string shown = shortened(whole, columns);
  return fmt::format(R"(<text class="{}" x="{:.1f}" y="{:.1f}">{}{}</text>)", css_class, x, y,
                     markup_text(shown), shown == whole ? "" : svg_title(whole));
}

SvgParts::SvgParts(const Picture& picture, const PictureLayout& layout, bool unfolds)
    : picture_(picture), layout_(layout), unfolds_(unfolds) {
  size_t next = 0;
  for (uint32_t row = 0; row <= picture.rows.size(); ++row) {
    while (next < picture.cells.size() && picture.cells[next].row < row) ++next;
    first_cell_.push_back(next);
  }
}

std::string SvgParts::path(std::string_view css_class, const std::string& path,
                           std::string_view title) const {
  const std::string moving = unfolds_ ? fmt::format(R"( data-d="{}")", path) : "";
  return fmt::format("<path class=\"{}\" d=\"{}\"{}>{}</path>\n", css_class, layout_.resolved(path),
                     moving, svg_title(title));
}

std::string SvgParts::titles() const {
  std::string svg;
  for (uint32_t i = 0; i < picture_.lanes.size(); ++i) {
    const PictureLane& lane = picture_.lanes[i];
    const Span span = layout_.lane(i);
    svg += label_at(span.middle(), 16, "name mid", lane.title, span.width() - 8) +
           label_at(span.middle(), 32, "dim mid", lane.detail, span.width() - 8) + "\n";
  }
  if (!picture_.witness.empty()) {
    const Span span = layout_.witness();
    svg += label_at(span.left, 16, "bad", "this may happen:", span.width()) +
           label_at(span.left, 32, "bad", picture_.witness_text, span.width() + 30) + "\n";
  }
  for (uint32_t i = 0; i < picture_.memories.size(); ++i) svg += head_of_memory(i);
  return svg;
}

std::string SvgParts::head_of_memory(uint32_t index) const {
  const PictureMemory& memory = picture_.memories[index];
  const auto last = static_cast<uint32_t>(memory.boundaries.size() - 1);
  const Span whole = layout_.segments(index, 0, last);
  std::string svg = label_at(whole.left, 16, "name", memory.title, whole.width());
  // As many bounds as there is room for, both ends first.
  const std::string end = fmt::format("{}", memory.boundaries[last]);
  svg += label_at(whole.left, 32, "dim", "0", 20) +
         label_at(whole.right, 32, "dim end", end, whole.width());
  double free_from = whole.left + 2 * kColumnWidth;
  const double free_to = whole.right - (static_cast<double>(end.size()) + 1) * kColumnWidth;
  for (uint32_t i = 1; i < last; ++i) {
    const std::string bound = fmt::format("{}", memory.boundaries[i]);
    const double half = static_cast<double>(bound.size()) * kColumnWidth / 2;
    const double x = layout_.segments(index, i, 0).left;
    if (x - half < free_from || x + half > free_to) continue;
    svg += label_at(x, 32, "dim mid", bound, 2 * half + kColumnWidth);
    free_from = x + half + kColumnWidth;
  }
  svg += svg_rect(whole, 37, 3, "ruler", 0);
  for (uint32_t i = 0; i < last; ++i) {
    const Span segment = layout_.segments(index, i, 1);
    svg += svg_rect({segment.left, segment.left + 1}, 35, 7, "tick", 0);
  }
  for (const OwnerRun& run : picture_.owners) {
    if (run.memory != index || run.first_row != kNone32) continue;
    const Span span = layout_.segments(index, run.first_segment, run.segment_count);
    if (span.width() < 2 * kColumnWidth) continue;
    svg += label_at(span.middle(), 57, "dim mid", run.label, span.width());
  }
  return svg + "\n";
}

std::string SvgParts::grounds() const {
  std::string svg = epochs();
  for (uint32_t i = 0; i < picture_.lanes.size(); ++i) {
    svg += path("life", fmt::format("M{0:.0f} {1}V{2}", layout_.lane(i).middle(),
                                    layout_.at(0, -kStartHeight), layout_.at(kNone32, 0)));
  }
  return svg + owners();
}

std::string SvgParts::epochs() const {
  std::string svg;
  const auto row_count = static_cast<uint32_t>(picture_.rows.size());
  for (uint32_t first = 0; first < row_count;) {
    const uint32_t epoch = picture_.rows[first].epoch;
    if (epoch == kNone32) {
      ++first;
      continue;
    }
    uint32_t last = first;
    for (uint32_t row = first; row < row_count; ++row) {
      if (picture_.rows[row].epoch == epoch) last = row;
      if (picture_.rows[row].epoch != kNone32 && picture_.rows[row].epoch != epoch) break;
    }
    const Span lanes = layout_.lanes();
    svg += path(epoch % 2 == 0 ? "epoch even" : "epoch odd",
                fmt::format("M{0:.0f} {1}H{2:.0f}V{3}H{0:.0f}Z", lanes.left, layout_.at(first, 0),
                            lanes.right, layout_.at(last + 1, 0)),
                fmt::format("epoch {}: what no barrier separates may run in any order", epoch));
    first = last + 1;
  }
  return svg;
}

std::string SvgParts::owners() const {
  std::string svg;
  // Below the name of what ends or adopts a value, and below the middle of a cell.
  const auto start_in = [&](uint32_t row) {
    return picture_.rows[row].kind == RowKind::kLifetime ? 6.0 : 21.0;
  };
  constexpr uint32_t kColours = 6;
  for (const OwnerRun& run : picture_.owners) {
    const std::string top = run.first_row == kNone32
                                ? layout_.at(0, -kStartHeight)
                                : layout_.at(run.first_row, start_in(run.first_row));
    const std::string bottom =
        layout_.at(run.last_row, run.last_row == kNone32 ? 0 : start_in(run.last_row));
    const std::string both = layout_.resolved(top + " " + bottom);
    const size_t blank = both.find(' ');
    if (!unfolds_ && both.substr(0, blank) == both.substr(blank + 1)) continue;
    const Span span = layout_.segments(run.memory, run.first_segment, run.segment_count);
    const PictureMemory& memory = picture_.memories[run.memory];
    std::string css_class = "own ended";
    if (run.kind == OwnerKind::kValue) css_class = fmt::format("own c{}", run.colour % kColours);
    if (run.kind == OwnerKind::kRaw) css_class = fmt::format("own raw c{}", run.colour % kColours);
    if (run.kind == OwnerKind::kMixed) css_class = "own mixed";
    svg += path(css_class,
                fmt::format("M{0:.1f} {1}H{2:.1f}V{3}H{0:.1f}Z", span.left + 1, top, span.right - 1,
                            bottom),
                fmt::format("{}[{}:{}]: {}", memory.title, memory.boundaries[run.first_segment],
                            memory.boundaries[run.first_segment + run.segment_count], run.label));
  }
  return svg;
}

std::string SvgParts::links() const {
  std::string svg;
  for (const OrderLink& link : picture_.links) {
    const PictureRow& from = picture_.rows[link.from_row];
    const PictureRow& to = picture_.rows[link.to_row];
    const double from_y = PictureLayout::height_of(from) / 2;
    const double to_y = PictureLayout::height_of(to) / 2;
    const Span a = layout_.box(from);
    const Span b = layout_.box(to);
    const bool leaves_right = a.left <= b.left;
    const bool arrives_right = b.left <= a.left;
    const double from_x = leaves_right ? a.right : a.left;
    const double to_x = arrives_right ? b.right : b.left;
    const double bulge = from.lane == to.lane ? 22 : 12;
    svg += path(
        link.is_repair ? "fixlink" : "link",
        fmt::format("M{0:.0f} {1}C{2:.0f} {1} {3:.0f} {4} {5:.0f} {4}", from_x,
                    layout_.at(link.from_row, from_y), from_x + (leaves_right ? bulge : -bulge),
                    to_x + (arrives_right ? bulge : -bulge), layout_.at(link.to_row, to_y), to_x),
        fmt::format("{} before {}", from.label, to.label));
    const double tip = arrives_right ? 7 : -7;
    svg += path(link.is_repair ? "fixhead" : "linkhead",
                fmt::format("M{:.0f} {}L{:.0f} {}L{:.0f} {}Z", to_x, layout_.at(link.to_row, to_y),
                            to_x + tip, layout_.at(link.to_row, to_y - 4), to_x + tip,
                            layout_.at(link.to_row, to_y + 4)));
  }
  // From its place in reference order to its place in the witness.
  for (size_t i = 0; i < picture_.witness.size(); ++i) {
    const WitnessEntry& entry = picture_.witness[i];
    if (entry.label.empty()) continue;
    const double left = layout_.box(picture_.rows[entry.row]).right;
    const double right = layout_.witness().left;
    const double bend = layout_.lanes().right;
    const std::string from = layout_.at(entry.row, 21);
    const std::string to = layout_.at(layout_.witness_row(), layout_.top_of_entry(i) + 12);
    svg += path(entry.is_moved ? "slope moved" : "slope",
                fmt::format("M{0:.0f} {1}H{2:.0f}C{3:.0f} {1} {4:.0f} {5} {6:.0f} {5}", left, from,
                            bend, bend + 30, right - 30, to, right));
  }
  return svg;
}

Span SvgParts::finding_span(uint32_t row, bool& has_cell) const {
  has_cell = false;
  for (size_t i = first_cell_[row]; i < first_cell_[row + 1]; ++i) {
    const MapCell& cell = picture_.cells[i];
    if (!cell.is_in_finding) continue;
    has_cell = true;
    return layout_.segments(cell.memory, cell.first_segment, cell.segment_count);
  }
  return {};
}

std::string SvgParts::arrows() const {
  std::string svg;
  for (size_t i = 0; i < picture_.arrows.size(); ++i) {
    const FindingArrow& arrow = picture_.arrows[i];
    const PictureRow& from = picture_.rows[arrow.from_row];
    const PictureRow& to = picture_.rows[arrow.to_row];
    const double x = kArrowLeft - kArrowStep * static_cast<double>(i % kArrowsApart);
    const double from_y = PictureLayout::height_of(from) / 2 + 3;
    const double to_y = PictureLayout::height_of(to) / 2 - 3;
    const double from_x = layout_.box(from).left;
    const double to_x = layout_.box(to).left;
    svg += path("arrow", fmt::format("M{:.0f} {}H{:.0f}V{}H{:.0f}", from_x,
                                     layout_.at(arrow.from_row, from_y), x,
                                     layout_.at(arrow.to_row, to_y), to_x - 8));
    svg += path("arrowhead", head_right(layout_, to_x, arrow.to_row, to_y));
    bool has_from = false;
    bool has_to = false;
    const Span a = finding_span(arrow.from_row, has_from);
    const Span b = finding_span(arrow.to_row, has_to);
    if (!has_from || !has_to) continue;
    const bool goes_down = arrow.from_row < arrow.to_row;
    const double leave = goes_down ? 37 : 5;
    const double arrive = goes_down ? 5 : 37;
    const double back = goes_down ? -9 : 9;
    svg += path("arrow",
                fmt::format("M{:.0f} {}L{:.0f} {}", a.middle(), layout_.at(arrow.from_row, leave),
                            b.middle(), layout_.at(arrow.to_row, arrive + back)));
    svg += path("arrowhead", fmt::format("M{:.0f} {}L{:.0f} {}L{:.0f} {}Z", b.middle(),
                                         layout_.at(arrow.to_row, arrive), b.middle() - 5,
                                         layout_.at(arrow.to_row, arrive + back), b.middle() + 5,
                                         layout_.at(arrow.to_row, arrive + back)));
  }
  return svg;
}

}  // namespace interlock
