// E. W. Myers, An O(ND) Difference Algorithm and Its Variations, Algorithmica 1 (1986).
//
// Time and memory of it are quadratic in the edits, and a repair can add a line for each of a
// million. So texts that differ much are compared piece by piece, each as far as some hundred edits
// come, and the diff is the shortest within each piece alone.
#include "fuzz/cli/text_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "encoder/text/text_lines.h"

namespace interlock {
namespace {

constexpr size_t kContextLines = 3;
constexpr int64_t kPieceEditsMax = 200;

// One line of both texts (' '), of the first alone ('-') or of the second alone ('+').
struct DiffLine {
  char mark = ' ';
  std::string_view text;
};

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    lines.push_back(take_line(text));
  }
  return lines;
}

class LineDiff {
 public:
  LineDiff(std::vector<std::string_view> before, std::vector<std::string_view> after)
      : before_(std::move(before)), after_(std::move(after)) {}

  std::vector<DiffLine> run() {
    while (before_begin_ < before_.size() || after_begin_ < after_.size()) {
      append_path_to(find_furthest());
    }
    return std::move(lines_);
  }

 private:
  // Where `edits` edits come to on diagonal x - y, from what has been compared.
  struct Point {
    size_t edits = 0;
    int64_t x = 0;
    int64_t y = 0;
  };

  // With d edits, how far the diagonals -d, -d + 2, …, d come.
  int64_t at(size_t d, int64_t k) const {
    return furthest_[d][static_cast<size_t>(k + static_cast<int64_t>(d)) / 2];
  }

  // Whether edit number `edits` to diagonal k is a line that is added.
  bool goes_down(size_t previous, int64_t k, int64_t edits) const {
    return k == -edits || (k != edits && at(previous, k - 1) < at(previous, k + 1));
  }

  // The end of both texts, or the furthest point that so many edits come to.
  Point find_furthest() {
    const auto n = static_cast<int64_t>(before_.size() - before_begin_);
    const auto m = static_cast<int64_t>(after_.size() - after_begin_);
    const auto is_same = [this](int64_t x, int64_t y) {
      return before_[before_begin_ + static_cast<size_t>(x)] ==
             after_[after_begin_ + static_cast<size_t>(y)];
    };
    furthest_.clear();
    Point best;
    for (int64_t d = 0; d <= kPieceEditsMax; ++d) {
      furthest_.emplace_back();
      for (int64_t k = -d; k <= d; k += 2) {
        int64_t x = 0;
        if (d > 0) {
          const auto previous = static_cast<size_t>(d - 1);
          x = goes_down(previous, k, d) ? at(previous, k + 1) : at(previous, k - 1) + 1;
        }
        while (x < n && x - k < m && is_same(x, x - k)) ++x;
        furthest_.back().push_back(x);
        const int64_t y = x - k;
        if (x > n || y > m) continue;  // Past the end of one of the texts.
        if (x + y > best.x + best.y) best = {static_cast<size_t>(d), x, y};
        if (x == n && y == m) return best;
      }
    }
    return best;
  }

  void append_path_to(Point end) {
    std::vector<DiffLine> backwards;
    int64_t x = end.x;
    int64_t y = end.y;
    const auto line_before = [&] { return before_[before_begin_ + static_cast<size_t>(--x)]; };
    const auto line_after = [&] { return after_[after_begin_ + static_cast<size_t>(--y)]; };
    for (size_t d = end.edits + 1; d-- > 0;) {
      const int64_t k = x - y;
      const bool is_down = d > 0 && goes_down(d - 1, k, static_cast<int64_t>(d));
      const int64_t from_k = is_down ? k + 1 : k - 1;
      const int64_t from_x = d == 0 ? 0 : at(d - 1, from_k);
      const int64_t from_y = d == 0 ? 0 : from_x - from_k;
      while (x > from_x && y > from_y) {
        backwards.push_back({' ', line_before()});
        --y;
      }
      if (d == 0) break;
      backwards.push_back(is_down ? DiffLine{'+', line_after()} : DiffLine{'-', line_before()});
    }
    lines_.insert(lines_.end(), backwards.rbegin(), backwards.rend());
    before_begin_ += static_cast<size_t>(end.x);
    after_begin_ += static_cast<size_t>(end.y);
  }

  const std::vector<std::string_view> before_;
  const std::vector<std::string_view> after_;
  size_t before_begin_ = 0;  // Of what is still to be compared.
  size_t after_begin_ = 0;
  std::vector<std::vector<int64_t>> furthest_;
  std::vector<DiffLine> lines_;
};

// Of names with blanks `patch` takes the first word, unless a tab ends them.
std::string header_of(std::string_view mark, std::string_view plain_name) {
  const std::string name = diff_name(plain_name);
  const bool has_blank = name.find(' ') != std::string::npos;
  return fmt::format("{} {}{}\n", mark, name, has_blank ? "\t" : "");
}

std::string text_of(const DiffLine& line) {
  const bool has_end = line.text.ends_with('\n');
  return fmt::format("{}{}{}", line.mark, line.text,
                     has_end ? "" : "\n\\ No newline at end of file\n");
}

std::string range_of(size_t first, size_t count) {
  // Of an empty range the line before it is named.
  const size_t named = count == 0 ? first : first + 1;
  return count == 1 ? fmt::format("{}", named) : fmt::format("{},{}", named, count);
}

}  // namespace

std::string diff_name(std::string_view name) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::none_of(name.begin(), name.end(), is_control)) return std::string(name);
  std::string quoted = "\"";
  for (const char c : name) {
    if (is_control(c)) {
      quoted += fmt::format("\\{:03o}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string unified_diff(std::string_view before, std::string_view after,
                         std::string_view before_name, std::string_view after_name) {
  if (before == after) return {};
  const std::vector<DiffLine> lines = LineDiff(split_lines(before), split_lines(after)).run();
  std::string diff = header_of("---", before_name) + header_of("+++", after_name);
  size_t before_count = 0;  // Lines of the texts before `begin`.
  size_t after_count = 0;
  const auto differs = [](const DiffLine& line) { return line.mark != ' '; };
  for (size_t begin = 0; begin < lines.size();) {
    const auto first =
        std::find_if(lines.begin() + static_cast<std::ptrdiff_t>(begin), lines.end(), differs);
    if (first == lines.end()) break;
    const auto change = static_cast<size_t>(first - lines.begin());
    const size_t start = change - std::min(kContextLines, change - begin);
    before_count += start - begin;
    after_count += start - begin;
    // The hunk goes on while the next change is near.
    size_t last = change;
    for (size_t i = change; i < lines.size() && i <= last + 2 * kContextLines; ++i) {
      if (differs(lines[i])) last = i;
    }
    const size_t end = std::min(last + 1 + kContextLines, lines.size());
    std::string body;
    size_t in_before = 0;
    size_t in_after = 0;
    for (size_t i = start; i < end; ++i) {
      body += text_of(lines[i]);
      in_before += lines[i].mark != '+' ? 1 : 0;
      in_after += lines[i].mark != '-' ? 1 : 0;
    }
    diff += fmt::format("@@ -{} +{} @@\n{}", range_of(before_count, in_before),
                        range_of(after_count, in_after), body);
    before_count += in_before;
    after_count += in_after;
    begin = end;
  }
  return diff;
}

}  // namespace interlock
