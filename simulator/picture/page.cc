#include "simulator/picture/page.h"

#include <fmt/format.h>

#include <string_view>

#include "simulator/picture/shown_text.h"
#include "simulator/picture/svg.h"

namespace interlock {
namespace {

// Rows follow each other down, those in shut folds left out; paths follow their rows.
constexpr std::string_view kScript = R"js(
for (const svg of document.querySelectorAll("svg.picture")) {
  const rows = [...svg.querySelectorAll("g.row")];
  const paths = [...svg.querySelectorAll("path[data-d]")];
  const folds = rows.filter(row => row.dataset.opens !== undefined);
  const open = new Set();
  const all = svg.parentElement.querySelector("button");
  const panel = (svg.dataset.panel || "").split(" ").map(Number);
  const isShut = row => row.dataset.fold !== undefined && !open.has(row.dataset.fold);
  const place = () => {
    const tops = [];
    let bottom = 0;
    for (const row of rows) {
      tops.push(bottom);
      if (!isShut(row)) bottom += Number(row.dataset.h);
    }
    const at = (row, offset) => {
      if (row >= rows.length) return bottom + offset;
      return isShut(rows[row]) ? tops[rows[row].dataset.fold] + 18 : tops[row] + offset;
    };
    rows.forEach((row, i) => {
      if (isShut(row)) row.setAttribute("display", "none");
      else row.removeAttribute("display");
      row.setAttribute("transform", `translate(0 ${at(i, 0)})`);
    });
    for (const path of paths) {
      path.setAttribute("d", path.dataset.d.replace(/\{(\d+)([+-]\d+)\}/g,
                                                    (_, row, offset) => at(+row, +offset)));
    }
    const low = panel.length === 2 ? Math.max(bottom, at(panel[0], panel[1])) : bottom;
    const height = Number(svg.dataset.head) + low + Number(svg.dataset.foot);
    svg.setAttribute("height", height);
    svg.setAttribute("viewBox", `0 0 ${svg.getAttribute("width")} ${height}`);
    if (all !== null) all.textContent = open.size < folds.length ? "Unfold all" : "Fold again";
  };
  const turn = (fold, isOpen) => {
    if (isOpen) open.add(fold.dataset.opens); else open.delete(fold.dataset.opens);
    fold.setAttribute("aria-expanded", isOpen);
    fold.classList.toggle("open", isOpen);
  };
  for (const fold of folds) {
    const click = () => { turn(fold, !open.has(fold.dataset.opens)); place(); };
    fold.addEventListener("click", click);
    fold.addEventListener("keydown", event => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      click();
    });
  }
  if (folds.length === 0 || all === null) continue;
  all.hidden = false;
  all.addEventListener("click", () => {
    const isOpen = open.size < folds.length;
    for (const fold of folds) turn(fold, isOpen);
    place();
  });
}
)js";

constexpr std::string_view kPageStyle = R"css(
:root{color-scheme:light dark}
body{margin:0;padding:20px 24px 40px;background:#fff;color:#1b1f24;font:15px/1.5 system-ui,"Segoe UI",Helvetica,Arial,"DejaVu Sans",sans-serif}
main{max-width:1200px}
h1{font-size:14px;font-weight:400;color:#59636e;margin:0 0 14px;overflow-wrap:anywhere}
h1 b{font-weight:600;color:#1b1f24}
h2,summary{font-size:19px;line-height:1.35;font-weight:600;margin:0 0 8px;overflow-wrap:anywhere}
summary{font-size:15px;cursor:pointer}
section,details{border-top:1px solid #d1d9e0;padding-top:16px;margin-top:18px}
section:first-of-type{border:0;margin-top:0;padding-top:0}
p{margin:0 0 4px;overflow-wrap:anywhere}
.kind{background:#c1001f;color:#fff;border-radius:4px;padding:1px 7px;margin-right:8px;font-size:15px}
.repair{display:inline-block;background:#d7f5e6;color:#00583f;border-left:4px solid #00694d;padding:4px 12px;margin:6px 0}
figure{margin:14px 0 8px}
svg.picture{display:block;max-width:100%;height:auto}
figcaption{color:#59636e;font-size:13px;margin-top:4px}
button{font:inherit;font-size:13px;margin:0 0 10px;padding:3px 10px}
pre{background:#f6f8fa;padding:12px 14px;overflow-x:auto;font-size:13px;line-height:1.45;white-space:pre-wrap;overflow-wrap:anywhere}
details details{border:0;margin-top:0;padding-top:6px}
details.text{border:0;margin:8px 0 0;padding:0}
details.text summary{font-weight:400;font-size:13px;color:#59636e}
.key{display:inline-block;width:12px;height:12px;border-radius:3px;margin:0 5px 0 12px;vertical-align:-1px}
.keybad{background:#c1001f}
.keyfix{background:#d7f5e6;outline:2px solid #00694d}
.keygone{outline:1px dashed #9198a1}
@media (prefers-color-scheme:dark){
body{background:#0d1117;color:#e6edf3}
h1,figcaption,details.text summary{color:#a3adb8}
h1 b{color:#e6edf3}
section,details{border-color:#30363d}
.kind,.keybad{background:#b3001b}
.repair{background:#0b3527;color:#6ee7b7;border-color:#2fbf8a}
.keyfix{background:#0b3527;outline-color:#2fbf8a}
pre{background:#161b22}
}
)css";

// What the policy allows, as the base64 of SHA-256: the script above, and nothing else that runs.
constexpr std::string_view kScriptHash = "sha256-lcvbMuwHZ8ccI6IF/qtcoKCrXK57iXdgKXe3wrWOulI=";

std::string caption_of(const Picture& picture) {
  std::string text = "Time runs down.";
  if (!picture.memories.empty()) {
    text += " On the right: bytes, coloured by the value that owns them; widths are not to scale.";
  }
  if (picture.more_memories > 0) {
    text += fmt::format(" {} more memories are touched here.", picture.more_memories);
  }
  bool has_useless = false;
  bool has_repair = false;
  for (const PictureRow& row : picture.rows) {
    has_useless |= row.is_useless && row.fold == kNone32;
    has_repair |= row.kind == RowKind::kRepair;
  }
  if (!picture.arrows.empty()) text += "<span class=\"key keybad\"></span>the two that collide";
  if (has_repair) text += "<span class=\"key keyfix\"></span>what repairs it";
  if (has_useless) text += "<span class=\"key keygone\"></span>sync that can go";
  return text;
}

std::string body_of_picture(const PagePicture& shown) {
  const Picture& picture = shown.picture;
  std::string html;
  for (const std::string& detail : picture.details) {
    html += fmt::format("<p>{}</p>\n", markup_text(detail));
  }
  if (!picture.fix.empty()) {
    html += fmt::format("<p class=\"repair\"><b>Fix:</b> {}</p>\n", markup_text(picture.fix));
  }
  html += fmt::format(
      "<figure>\n<button type=\"button\" hidden>Unfold all</button>\n{}<figcaption>{}</figcaption>\n</figure>\n",
      unfolding_svg_of(picture), caption_of(picture));
  if (shown.report.empty()) return html;
  return html +
         fmt::format(
             "<details class=\"text\"><summary>the report as text</summary>\n<pre>{}</pre></details>\n",
             markup_lines(shown.report));
}

std::string page_headline_of(const Picture& picture) {
  // The kind stands apart: "WAR hazard: vjp …".
  std::string_view headline = picture.headline;
  if (picture.kind_word.empty()) return markup_text(headline);
  for (const std::string_view end : {" hazard: ", ": "}) {
    const std::string start = picture.kind_word + std::string(end);
    if (headline.starts_with(start)) headline.remove_prefix(start.size());
  }
  return fmt::format("<span class=\"kind\">{}</span>{}", markup_text(picture.kind_word),
                     markup_text(headline));
}

}  // namespace

std::string html_of(const PicturePage& page) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src '{0}'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{1}</title>\n<style>{2}{3}</style>\n</head>\n<body>\n<main>\n"
      "<h1><b>{1}</b> {4}</h1>\n",
      kScriptHash, markup_text(page.title), kPageStyle, picture_style(), markup_text(page.summary));
  for (size_t i = 0; i < page.pictures.size(); ++i) {
    const PagePicture& shown = page.pictures[i];
    if (i == 0) {
      html += fmt::format("<section>\n<h2>{}</h2>\n{}</section>\n", page_headline_of(shown.picture),
                          body_of_picture(shown));
    } else {
      html += fmt::format("<details>\n<summary>{}</summary>\n{}</details>\n",
                          page_headline_of(shown.picture), body_of_picture(shown));
    }
  }
  if (page.finding_count > page.pictures.size()) {
    html += fmt::format(
        "<section><p>{} of {} findings are shown: --finding=N shows another one.</p></section>\n",
        page.pictures.size(), page.finding_count);
  }
  return html + fmt::format("</main>\n<script>{}</script>\n</body>\n</html>\n", kScript);
}

}  // namespace interlock
