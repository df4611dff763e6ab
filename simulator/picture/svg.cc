#include "simulator/picture/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "simulator/picture/layout.h"
#include "simulator/picture/shown_text.h"
#include "simulator/picture/svg_parts.h"

namespace interlock {
namespace {

constexpr double kMargin = 14;
constexpr double kLineHeight = 19;
constexpr double kFootHeight = 44;
constexpr double kSentenceColumn = 7.4;  // Of 13 pixels of a proportional font, generously.

// Red #c1001f and green #00694d differ in lightness from their grounds, and each has a shape of its
// own beside: an arrow, a plus, dashes.
constexpr std::string_view kStyle = R"css(
.picture text{font:12px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace;fill:#1b1f24}
.picture text.say{font:13px system-ui,"Segoe UI",Helvetica,Arial,"DejaVu Sans",sans-serif}
.picture text.head{font-size:15px;font-weight:600}
.picture text.name{font-weight:600}
.picture text.dim{font-size:11px;fill:#59636e}
.picture text.cell{font-size:11px}
.picture text.mid{text-anchor:middle}
.picture text.end{text-anchor:end}
.picture text.bad{fill:#b3001b;font-weight:600}
.picture text.gone{fill:#59636e;text-decoration:line-through}
.picture text.fixtext{fill:#00583f;font-weight:600}
.picture text.tagtext{fill:#fff;font-weight:700}
.picture .page{fill:#fff}
.picture .box{fill:#fff;stroke:#7d8590}
.picture .badbox{fill:#ffebe9;stroke:#c1001f;stroke-width:2}
.picture .never{stroke-dasharray:4 3}
.picture .pill{fill:#eef1f4;stroke:#7d8590}
.picture .bar{fill:#1b1f24}
.picture .barpill{fill:#fff;stroke:#1b1f24;stroke-width:1.5}
.picture .bar.useless{fill:#b1b8c0}
.picture .pill.useless{fill:#f3f4f6;stroke:#9198a1;stroke-dasharray:4 3}
.picture .fold{fill:#f6f8fa;stroke:#7d8590;stroke-dasharray:2 3}
.picture .opens{stroke-dasharray:none}
.picture .hand{fill:#59636e}
.picture .fix{fill:#d7f5e6;stroke:#00694d;stroke-width:2}
.picture .tag{fill:#c1001f}
.picture .arrow{fill:none;stroke:#c1001f;stroke-width:3}
.picture .arrowhead{fill:#c1001f}
.picture .link{fill:none;stroke:#6e7781;stroke-width:1.3}
.picture .linkhead{fill:#6e7781}
.picture .fixlink{fill:none;stroke:#00694d;stroke-width:3;stroke-dasharray:7 3}
.picture .fixhead{fill:#00694d}
.picture .slope{fill:none;stroke:#9198a1}
.picture .slope.moved{stroke:#c1001f;stroke-width:2;stroke-dasharray:5 3}
.picture .life{stroke:#c8ced5}
.picture .even{fill:#f1f3f6}
.picture .odd{fill:#e2e7ed}
.picture .ruler{fill:#7d8590}
.picture .tick{fill:#7d8590}
.picture .read{fill:#fff;stroke:#59636e}
.picture .write{fill:#dfe4ea;stroke:#1b1f24;stroke-width:1.5}
.picture .some{fill:#fff;fill-opacity:.75;stroke:#9198a1;stroke-dasharray:2 3}
.picture .badcell{fill:#ffebe9;stroke:#c1001f;stroke-width:2.5}
.picture .own{fill-opacity:.38}
.picture .raw{fill-opacity:.2}
.picture .c0{fill:#56b4e9}
.picture .c1{fill:#e69f00}
.picture .c2{fill:#cc79a7}
.picture .c3{fill:#f0e442}
.picture .c4{fill:#0072b2}
.picture .c5{fill:#8c6d31}
.picture .mixed{fill:#8b949e;fill-opacity:.2}
.picture .ended{fill:#1b1f24;fill-opacity:.1;stroke:#59636e;stroke-dasharray:3 3}
.picture [data-opens]{cursor:pointer}
.picture .open>g{display:none}
.picture .open .hand{transform:rotate(90deg);transform-box:fill-box;transform-origin:center}
.picture [data-opens]:focus{outline:none}
.picture [data-opens]:focus .fold,.picture [data-opens]:hover .fold{stroke:#0969da;stroke-width:2}
@media (prefers-color-scheme:dark){
.picture text{fill:#e6edf3}
.picture text.dim{fill:#a3adb8}
.picture text.bad{fill:#ff8f87}
.picture text.gone{fill:#a3adb8}
.picture text.fixtext{fill:#6ee7b7}
.picture .page{fill:#0d1117}
.picture .box{fill:#161b22;stroke:#8b949e}
.picture .badbox{fill:#43141a;stroke:#ff6a60}
.picture .pill{fill:#21262d;stroke:#8b949e}
.picture .bar{fill:#e6edf3}
.picture .barpill{fill:#0d1117;stroke:#e6edf3}
.picture .bar.useless{fill:#545d68}
.picture .pill.useless{fill:#161b22;stroke:#6e7681}
.picture .fold{fill:#12171e;stroke:#8b949e}
.picture .hand{fill:#a3adb8}
.picture .fix{fill:#0b3527;stroke:#2fbf8a}
.picture .tag{fill:#b3001b}
.picture .arrow{stroke:#ff6a60}
.picture .arrowhead{fill:#ff6a60}
.picture .link{stroke:#8b949e}
.picture .linkhead{fill:#8b949e}
.picture .fixlink{stroke:#2fbf8a}
.picture .fixhead{fill:#2fbf8a}
.picture .slope{stroke:#6e7681}
.picture .slope.moved{stroke:#ff6a60}
.picture .life{stroke:#30363d}
.picture .even{fill:#151a21}
.picture .odd{fill:#1f262f}
.picture .ruler,.picture .tick{fill:#8b949e}
.picture .read{fill:#0d1117;stroke:#a3adb8}
.picture .write{fill:#2d333b;stroke:#e6edf3}
.picture .some{fill:#0d1117;stroke:#6e7681}
.picture .badcell{fill:#43141a;stroke:#ff6a60}
.picture .ended{fill:#e6edf3;fill-opacity:.1;stroke:#a3adb8}
}
)css";

struct Sentence {
  std::string_view css_class;
  std::string text;
};

std::vector<Sentence> sentences_of(const Picture& picture, double width) {
  const auto columns = static_cast<size_t>(width / kSentenceColumn);
  std::vector<Sentence> sentences;
  const auto add = [&](std::string_view css_class, const std::string& text, size_t limit) {
    for (const std::string& line : wrapped(visible_text(text), limit)) {
      sentences.push_back({css_class, line});
    }
  };
  add("say head", picture.headline, columns * 13 / 15);
  for (const std::string& detail : picture.details) add("say", detail, columns);
  if (!picture.fix.empty()) add("say fixtext", "Fix: " + picture.fix, columns * 13 / 14);
  return sentences;
}

std::string legend_of(const Picture& picture) {
  std::string text = "Time runs down.";
  if (!picture.memories.empty()) {
    text += " Right: bytes, coloured by the value that owns them; widths are not to scale.";
  }
  if (picture.more_memories > 0) {
    text += fmt::format(" {} more memories are touched here.", picture.more_memories);
  }
  return text;
}

// The picture below its sentences, at 0.
std::string body_of(const SvgParts& parts) {
  return parts.titles() +
         fmt::format("<g class=\"rows\" transform=\"translate(0 {:.0f})\">\n", kHeadHeight) +
         parts.grounds() + parts.links() + parts.rows() + parts.arrows() + "</g>\n";
}

double height_of_body(const PictureLayout& layout) {
  double height = layout.rows_height();
  if (layout.witness_row() != kNone32) {
    height = std::max(height, layout.ordinate(layout.witness_row(), layout.witness_height()));
  }
  return kHeadHeight + height;
}

}  // namespace

std::string picture_style() { return std::string(kStyle); }

std::string svg_of(const Picture& picture) {
  const PictureLayout layout(picture);
  const std::vector<Sentence> sentences = sentences_of(picture, layout.width());
  const double top = kMargin + kLineHeight * static_cast<double>(sentences.size()) + 14;
  const double height = top + height_of_body(layout) + kFootHeight;
  const double width = layout.width() + kMargin;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\">\n"
      "<title>{2}</title>\n<style>{3}</style>\n"
      "<rect class=\"page\" width=\"{0:.0f}\" height=\"{1:.0f}\"/>\n",
      width, height, markup_text(picture.headline), kStyle);
  double y = kMargin;
  for (const Sentence& sentence : sentences) {
    y += kLineHeight;
    svg += fmt::format("<text class=\"{}\" x=\"{:.0f}\" y=\"{:.0f}\">{}</text>\n",
                       sentence.css_class, kMargin, y, markup_text(sentence.text));
  }
  svg += fmt::format("<g transform=\"translate(0 {:.0f})\">\n", top);
  svg += body_of(SvgParts(picture, layout, false));
  return svg +
         fmt::format("</g>\n<text class=\"say dim\" x=\"{:.0f}\" y=\"{:.0f}\">{}</text>\n</svg>\n",
                     kMargin, height - 16, legend_of(picture));
}

std::string unfolding_svg_of(const Picture& picture) {
  const PictureLayout layout(picture);
  const double height = height_of_body(layout) + kMargin;
  const std::string panel =
      layout.witness_row() == kNone32
          ? ""
          : fmt::format(" data-panel=\"{} {:.0f}\"", layout.witness_row(), layout.witness_height());
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" data-head=\"{2:.0f}\" data-foot=\"{3:.0f}\"{4}>\n",
             layout.width() + kMargin, height, kHeadHeight, kMargin, panel) +
         body_of(SvgParts(picture, layout, true)) + "</svg>\n";
}

}  // namespace interlock
