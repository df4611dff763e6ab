// The rows of a picture, each in a group of its own whose top is 0.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "simulator/picture/shown_text.h"
#include "simulator/picture/svg_parts.h"

namespace interlock {
namespace {

constexpr double kCellColumn = 6.7;  // Of 11 pixels.

std::string row_rect(Span span, double top, double height, const std::string& css_class) {
  return fmt::format(
      R"(<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="5"/>)",
      css_class, span.left, top, std::max(span.width(), 1.0), height);
}

bool touches_alike(const MapCell& cell) { return cell.read_count > 0 && cell.write_count > 0; }

// The longest of these that fits.
std::string text_of_cell(const MapCell& cell, double width) {
  const std::string shown = visible_text(cell.label);
  if (static_cast<double>(text_columns(shown)) * kCellColumn <= width) return shown;
  const std::string word = touches_alike(cell)    ? "reads, writes"
                           : cell.write_count > 0 ? "writes"
                                                  : "reads";
  if (static_cast<double>(word.size()) * kCellColumn <= width) return word;
  const std::string letter = touches_alike(cell) ? "RW" : cell.write_count > 0 ? "W" : "R";
  return static_cast<double>(letter.size()) * kCellColumn <= width + 4 ? letter : "";
}

std::string text_of_fold_cell(const MapCell& cell, double width) {
  const std::string reads = cell.read_count > 0 ? fmt::format("{}R", cell.read_count) : "";
  const std::string counts = cell.write_count == 0 ? reads
                                                   : fmt::format("{}W{}{}", cell.write_count,
                                                                 reads.empty() ? "" : " ", reads);
  const std::string letters = touches_alike(cell) ? "RW" : cell.write_count > 0 ? "W" : "R";
  for (const std::string& text : {cell.label, counts, letters}) {
    if (static_cast<double>(text.size()) * kCellColumn <= width) return text;
  }
  return {};
}

}  // namespace

std::string SvgParts::rows() const {
  std::string svg;
  for (uint32_t row = 0; row < picture_.rows.size(); ++row) {
    if (is_drawn(row)) svg += row_of(row);
  }
  return svg;
}

std::string SvgParts::row_of(uint32_t index) const {
  const PictureRow& row = picture_.rows[index];
  std::string moving;
  if (unfolds_) {
    moving = fmt::format(R"( data-h="{:.0f}")", PictureLayout::height_of(row));
    if (row.fold != kNone32) moving += fmt::format(R"( data-fold="{}" display="none")", row.fold);
    if (row.kind == RowKind::kFold && !row.is_closed) {
      moving += fmt::format(R"( data-opens="{}" role="button" tabindex="0" aria-expanded="false")",
                            index);
    }
  }
  std::string svg = fmt::format(R"svg(<g class="row" transform="translate(0 {:.0f})"{}>)svg",
                                layout_.ordinate(index, 0), moving);
  svg += svg_title(row.text);
  switch (row.kind) {
    case RowKind::kDispatch:
    case RowKind::kEnd:
      svg += dispatch_row(row);
      break;
    case RowKind::kBarrier:
    case RowKind::kSync:
    case RowKind::kLifetime:
      svg += pill_row(row);
      break;
    case RowKind::kFold:
      svg += fold_row(row);
      break;
    case RowKind::kRepair:
      svg += repair_row(row);
      break;
  }
  for (size_t i = first_cell_[index]; i < first_cell_[index + 1]; ++i) {
    svg += cell(picture_.cells[i]);
  }
  svg += endings_of(index);
  if (index == layout_.witness_row()) svg += witness_column();
  for (const FindingArrow& arrow : picture_.arrows) {
    if (std::min(arrow.from_row, arrow.to_row) != index || &arrow != &picture_.arrows.front())
      continue;
    const double y = PictureLayout::height_of(row) - 2;
    const double width = 8 + 7.3 * static_cast<double>(arrow.label.size());
    svg += row_rect({78 - width, 78}, y - 9, 18, "tag") +
           label_at(78 - width / 2, y + 4, "tagtext mid", arrow.label, width + 8);
  }
  return svg + "</g>\n";
}

std::string SvgParts::dispatch_row(const PictureRow& row) const {
  const Span box = layout_.box(row);
  std::string css_class = row.is_in_finding ? "box badbox" : "box";
  if (row.never_runs) css_class += " never";
  std::string svg = row_rect(box, 3, 36, css_class);
  const bool has_access = !row.access.empty();
  const std::string detail = row.never_runs ? row.detail + " never runs" : row.detail;
  const double left = box.left + 9;
  const double width = box.width() - 16;
  if (has_access) {
    const std::string number = row.detail.substr(0, row.detail.find(' '));
    svg += label_at(left, 18, "name", row.label + " " + number, width) +
           label_at(left, 33, "bad", row.access, width);
  } else {
    svg += label_at(left, 18, "name", row.label, width) + label_at(left, 33, "dim", detail, width);
  }
  return svg;
}

std::string SvgParts::pill_row(const PictureRow& row) const {
  const Span lane = layout_.lane(row.lane);
  const Span box = layout_.box(row);
  const bool is_barrier = row.kind == RowKind::kBarrier;
  const std::string css_class = row.is_in_finding                   ? " badbox"
                                : row.is_replaced || row.is_useless ? " useless"
                                                                    : "";
  std::string text = row.label;
  if (row.is_useless) text += ": can go";
  if (row.never_runs) text += ": never runs";
  std::string svg;
  if (is_barrier) {
    svg += fmt::format(R"(<rect class="bar{}" x="{:.1f}" y="12" width="{:.1f}" height="6"/>)",
                       css_class, lane.left, lane.width());
  }
  const double wanted = 7.3 * static_cast<double>(text_columns(visible_text(text))) + 20;
  const double width = std::min(wanted, box.width());
  const Span pill = {box.middle() - width / 2, box.middle() + width / 2};
  svg += row_rect(pill, 4, 22, (is_barrier ? "pill barpill" : "pill") + css_class);
  return svg + label_at(pill.middle(), 19,
                        row.is_replaced  ? "gone mid"
                        : row.is_useless ? "dim mid"
                                         : "mono mid",
                        text, width - 10);
}

std::string SvgParts::fold_row(const PictureRow& row) const {
  const Span box = layout_.box(row);
  std::string svg = row_rect(box, 4, 28, row.is_closed ? "fold" : "fold opens");
  const double width = box.width() - 36;
  const std::string whole = row.detail.empty() ? row.label : row.label + ", " + row.detail;
  const bool fits = 7.3 * static_cast<double>(whole.size()) <= width;
  const std::string text =
      fits || row.other_count == 0 ? whole : fmt::format("{} + {}", row.label, row.other_count);
  if (!row.is_closed && unfolds_) {
    svg += fmt::format(R"(<path class="hand" d="M{0:.0f} 12l8 6l-8 6z"/>)", box.left + 10);
  }
  return svg + label_at(box.left + 26, 22, "mono", text, width);
}

std::string SvgParts::repair_row(const PictureRow& row) const {
  const Span box = layout_.box(row);
  const double height = PictureLayout::height_of(row) - 8;
  std::vector<std::string> lines = wrapped("+ " + visible_text(row.label), kRepairColumns + 1);
  // What does not fit is left out of the middle of the second line.
  for (size_t i = 2; i < lines.size(); ++i) lines[1] += " " + lines[i];
  lines.resize(std::min<size_t>(lines.size(), 2));
  std::string svg = row_rect(box, 4, height, "fix");
  double y = 21;
  for (const std::string& line : lines) {
    svg += label_at(box.left + 9, y, "fixtext", line, box.width() - 12);
    y += 15;
  }
  return svg;
}

std::string SvgParts::cell(const MapCell& cell) const {
  const PictureRow& row = picture_.rows[cell.row];
  const Span whole = layout_.segments(cell.memory, cell.first_segment, cell.segment_count);
  const Span span = {whole.left + 1, whole.right - 1};
  const bool is_fold = row.kind == RowKind::kFold;
  std::string css_class = is_fold ? "some" : cell.write_count > 0 ? "write" : "read";
  if (cell.is_in_finding) css_class += " badcell";
  const double top = is_fold ? 9 : 6;
  const double height = is_fold ? 18 : 30;
  const std::string text =
      is_fold ? text_of_fold_cell(cell, span.width() - 4) : text_of_cell(cell, span.width() - 4);
  const PictureMemory& memory = picture_.memories[cell.memory];
  const std::string where =
      fmt::format("{}[{}:{}]: {}", memory.title, memory.boundaries[cell.first_segment],
                  memory.boundaries[cell.first_segment + cell.segment_count], cell.label);
  std::string svg =
      fmt::format("<g>{}{}", svg_title(where), row_rect(span, top, height, css_class));
  if (!text.empty()) {
    svg += fmt::format(R"(<text class="{}" x="{:.1f}" y="{:.1f}">{}</text>)",
                       cell.is_in_finding ? "cell bad mid" : "cell mid", span.middle(),
                       top + height / 2 + 4, markup_text(text));
  }
  return svg + "</g>";
}

// Names of what bytes hold from here on, where no cell says it: what ends or adopts a value.
std::string SvgParts::endings_of(uint32_t row) const {
  if (picture_.rows[row].kind != RowKind::kLifetime) return {};
  std::string svg;
  for (const OwnerRun& run : picture_.owners) {
    if (run.first_row != row) continue;
    const Span span = layout_.segments(run.memory, run.first_segment, run.segment_count);
    svg += label_at(span.middle(), 21, "dim mid", run.label, span.width());
  }
  return svg;
}

std::string SvgParts::witness_column() const {
  std::string svg;
  for (size_t i = 0; i < picture_.witness.size(); ++i) {
    const WitnessEntry& entry = picture_.witness[i];
    double top = layout_.top_of_entry(i);
    const Span span = layout_.witness();
    if (!entry.label.empty()) {
      svg += row_rect(span, top, 24, entry.is_moved ? "box badbox" : "box") +
             label_at(span.left + 9, top + 16, "name", entry.label, span.width() - 16);
    }
    top += 24;
    for (const std::string& note : entry.notes) {
      top += 17;
      svg += label_at(span.left + 9, top - 1, "bad", note, span.width() + 30);
    }
  }
  return svg;
}

}  // namespace interlock
