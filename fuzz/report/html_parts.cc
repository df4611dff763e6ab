#include "fuzz/report/html_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "fuzz/report/markup.h"

namespace interlock {
namespace {

// Colours are given once for light screens and once for dark ones.
constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --page: #fbfaf8; --card: #fff; --ink: #1d2126; --faint: #646c76;
  --line: #dcdfe3; --bad: #b3261e; --bad-back: #fbe3e0; --good: #1c6b3c; --good-back: #e3f2e8;
  --code: #f2f3f5; }
@media (prefers-color-scheme: dark) { :root { --page: #15181c; --card: #1d2126; --ink: #e6e8eb;
  --faint: #9aa3ad; --line: #343a42; --bad: #ff8a80; --bad-back: #4a1f1c; --good: #7fd6a0;
  --good-back: #1c3a29; --code: #262b31; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.8rem; margin: 0; }
h2 { font-size: 1.2rem; margin: 2rem 0 .75rem; overflow-wrap: anywhere; }
h3 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
h4 { font-size: 1rem; margin: 0 0 .25rem; overflow-wrap: anywhere; }
small { font-weight: normal; color: var(--faint); }
code, pre { font: .85rem/1.45 ui-monospace, "DejaVu Sans Mono", monospace; }
pre { background: var(--code); padding: .75rem; border-radius: 6px; overflow-x: auto;
  white-space: pre-wrap; overflow-wrap: anywhere; margin: .5rem 0; }
.tiles { display: flex; flex-wrap: wrap; gap: .75rem; }
.tile { background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: .6rem 1rem; min-width: 9rem; }
.tile b { display: block; font-size: 1.5rem; line-height: 1.2; }
.tile span, .measured, footer, figcaption, .note { color: var(--faint); font-size: .9rem; }
article { background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: 1rem; margin: .75rem 0; }
div.bar { height: 6px; background: var(--code); border-radius: 3px; margin-bottom: .75rem; }
div.bar i { display: block; height: 6px; background: var(--bad); border-radius: 3px; min-width: 2px; }
details { margin: .5rem 0; }
summary { cursor: pointer; }
ul.plain { padding-left: 1.2rem; }
.good { color: var(--good); font-weight: 600; }
table { border-collapse: collapse; }
.commands th, .list td { text-align: left; padding: .15rem .9rem .15rem 0; vertical-align: top; }
.commands th { font-weight: 600; white-space: nowrap; }
.commands td { overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
.shown svg { display: block; max-width: 100%; height: auto; margin: .5rem 0; }
.matrix { font-size: .8rem; font-variant-numeric: tabular-nums; }
.matrix th, .matrix td { border: 1px solid var(--line); padding: .15rem .4rem; text-align: right; }
.matrix th { font-weight: 600; text-align: center; }
.matrix th[scope="row"] { text-align: left; font-weight: normal; }
.matrix .first { border-left: 3px solid var(--faint); }
.found { background: var(--bad-back); color: var(--bad); font-weight: 700; }
.right { background: var(--good-back); color: var(--good); }
.never { background: var(--code); color: var(--faint); text-align: center !important; }
.legend { display: flex; flex-wrap: wrap; gap: .4rem 1.5rem; margin: .5rem 0; font-size: .9rem; }
.legend i { font-style: normal; padding: 0 .4rem; border: 1px solid var(--line); margin-right: .4rem; }
figure { margin: .5rem 0; }
svg { max-width: 100%; height: auto; }
.axis { stroke: var(--line); }
.curve { fill: none; stroke: var(--bad); stroke-width: 2; }
svg text { fill: var(--faint); font: 12px system-ui, "DejaVu Sans", sans-serif; }
dt { font-weight: 600; margin-top: .5rem; }
dd { margin: 0 0 0 1.2rem; }
)";

constexpr std::string_view kShapeNames[] = {"same range", "overlap", "donation", "view",
                                            "slot reuse"};

std::string cell_text(const HazardMatrix::Cell& cell, bool is_first) {
  const std::string edge = is_first ? " first" : "";
  if (cell.finding_count > 0) {
    return fmt::format("<td class=\"found{}\">{}</td>", edge, cell.finding_count);
  }
  if (cell.posed_count > 0) {
    return fmt::format("<td class=\"right{}\">{}</td>", edge, cell.posed_count);
  }
  return fmt::format("<td class=\"never{}\">·</td>", edge);
}

std::string matrix_head() {
  std::string kinds = "<tr><th rowspan=\"2\">kernel</th>";
  std::string shapes = "<tr>";
  for (const FindingKind kind : HazardMatrix::kKinds) {
    kinds += fmt::format("<th class=\"first\" colspan=\"{}\">{}</th>", kAliasShapes.size(),
                         word_of(kind));
    for (size_t i = 0; i < kAliasShapes.size(); ++i) {
      shapes += fmt::format("<th{}>{}</th>", i == 0 ? " class=\"first\"" : "", kShapeNames[i]);
    }
  }
  return "<thead>\n" + kinds + "</tr>\n" + shapes + "</tr>\n</thead>\n";
}

std::string legend(const std::optional<PosedConflicts>& posed) {
  std::string text = "<div class=\"legend\"><span><i class=\"found\">7</i>so many findings</span>";
  if (posed) {
    text += fmt::format(
        "<span><i class=\"right\">7</i>no finding, though so many conflicts of the first {} "
        "programs had to be ordered</span><span><i class=\"never\">·</i>never met there</span>",
        posed->run_count);
  } else {
    text += "<span><i class=\"never\">·</i>never found</span>";
  }
  return text + "</div>\n";
}

}  // namespace

std::string html_head(const std::string& title) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\"/>\n<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\"/>\n<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n",
      title, kStyle);
}

std::string matrix_html(const HazardMatrix& matrix, const std::optional<PosedConflicts>& posed) {
  std::string rows;
  std::string unmet;
  uint64_t unmet_count = 0;
  uint64_t reached_count = 0;
  for (const auto& [kernel, row] : matrix.rows()) {
    const auto reached = std::ranges::count_if(row, &HazardMatrix::Cell::is_reached);
    reached_count += static_cast<uint64_t>(reached);
    if (reached == 0) {
      unmet += (unmet.empty() ? "" : ", ") + in_markup(kernel);
      ++unmet_count;
      continue;
    }
    rows += "<tr><th scope=\"row\">" + in_markup(kernel) + "</th>";
    for (size_t i = 0; i < row.size(); ++i) rows += cell_text(row[i], i % kAliasShapes.size() == 0);
    rows += "</tr>\n";
  }
  const size_t cell_count = matrix.rows().size() * HazardMatrix::Row().size();
  std::string text = fmt::format(
      "<p>Each cell is a kind of conflict, how the two ranges of bytes are related, and a kernel "
      "that takes part. {} of {} were met.</p>\n",
      reached_count, cell_count);
  if (!rows.empty()) {
    text += legend(posed) + "<div class=\"wide\"><table class=\"matrix\">\n" + matrix_head() +
            "<tbody>\n" + rows + "</tbody>\n</table></div>\n";
  }
  if (unmet_count > 0) {
    text += fmt::format("<p class=\"note\">Never met, in no column ({} kernels): {}.</p>\n",
                        unmet_count, unmet);
  }
  return text;
}

std::string growth_html(const SubjectRecord& subject) {
  if (subject.growth.empty() || subject.run_count == 0) {
    return "<p>No finding, so nothing grew.</p>\n";
  }
  constexpr double kWidth = 640;
  constexpr double kHeight = 120;
  constexpr size_t kPointsMax = 400;
  const GrowthPoint& last = subject.growth.back();
  const auto x = [&](uint64_t run_count) {
    return kWidth * static_cast<double>(run_count) / static_cast<double>(subject.run_count);
  };
  const auto y = [&](uint64_t count) {
    return kHeight -
           (kHeight - 10) * static_cast<double>(count) / static_cast<double>(last.signature_count);
  };
  std::string path = fmt::format("M0 {:.1f}", y(0));
  const size_t step = subject.growth.size() / kPointsMax + 1;
  for (size_t i = 0; i < subject.growth.size(); ++i) {
    if (i % step != 0 && i + 1 != subject.growth.size()) continue;
    const GrowthPoint& point = subject.growth[i];
    path += fmt::format(" L{:.1f} {:.1f}", x(point.run_count), y(point.signature_count));
  }
  path += fmt::format(" L{:.1f} {:.1f}", kWidth, y(last.signature_count));
  const uint64_t quiet = subject.run_count - last.run_count;
  return fmt::format(
      "<figure><svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" "
      "xmlns=\"http://www.w3.org/2000/svg\"><title>signatures over programs</title>"
      "<line class=\"axis\" x1=\"0\" y1=\"{2}\" x2=\"{0}\" y2=\"{2}\"/>"
      "<path class=\"curve\" d=\"{3}\"/><text x=\"0\" y=\"{4}\">0</text>"
      "<text x=\"{0}\" y=\"{4}\" text-anchor=\"end\">{5} programs</text>"
      "</svg>\n<figcaption>Signatures known after so many programs, {6} at the end; "
      "{7}.</figcaption></figure>\n",
      kWidth, kHeight + 20, kHeight, path, kHeight + 16, subject.run_count, last.signature_count,
      quiet == 0 ? std::string("the last programs still brought new ones")
                 : fmt::format("the last {} programs brought no new one", quiet));
}

std::string glossary_html() {
  return R"(<section>
<h3>Words</h3>
<dl>
<dt>dispatch</dt><dd>One launch of a kernel, with the bytes that it reads and writes.</dd>
<dt>RAW, WAR, WAW</dt><dd>Two dispatches touch the same byte, and nothing orders them: a read after a
write, a write after a read, a write after a write. What the program computes then depends on luck.</dd>
<dt>same range, overlap</dt><dd>Both name the same bytes; or ranges that share some of them.</dd>
<dt>donation</dt><dd>A new value takes the bytes of an old one that is not needed any more.</dd>
<dt>view</dt><dd>A window of the same value.</dd>
<dt>slot reuse</dt><dd>A planner has put two values on the same bytes, one after the other.</dd>
<dt>signature</dt><dd>Kind, relation and kernels of a finding, as in <code>WAR-donation-copy-fill</code>.</dd>
<dt>cause</dt><dd>What is to blame, found by experiment: the fault that these findings have in common.</dd>
</dl>
</section>
)";
}

}  // namespace interlock
