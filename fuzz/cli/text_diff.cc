// E. W. Myers, An O(ND) Difference Algorithm and Its Variations, Algorithmica 1 (1986).
#include "fuzz/cli/text_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace interlock {
namespace {

constexpr size_t kContextLines = 3;

// One line of both texts (' '), of the first alone ('-') or of the second alone ('+').
struct DiffLine {
  char mark = ' ';
  std::string_view text;
};

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t newline = text.find('\n');
    const size_t size = newline == std::string_view::npos ? text.size() : newline + 1;
    lines.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

class LineDiff {
 public:
  LineDiff(std::vector<std::string_view> before, std::vector<std::string_view> after)
      : before_(std::move(before)), after_(std::move(after)) {}

  std::vector<DiffLine> run() {
    find_path();
    std::vector<DiffLine> backwards;
    auto x = static_cast<int64_t>(before_.size());
    auto y = static_cast<int64_t>(after_.size());
    for (size_t d = furthest_.size(); d-- > 0;) {
      const int64_t k = x - y;
      const auto edits = static_cast<int64_t>(d);
      const bool is_down = d > 0 && goes_down(d - 1, k, edits);
      const int64_t from_k = is_down ? k + 1 : k - 1;
      const int64_t from_x = d == 0 ? 0 : at(d - 1, from_k);
      const int64_t from_y = d == 0 ? 0 : from_x - from_k;
      while (x > from_x && y > from_y) {
        backwards.push_back({' ', before_[static_cast<size_t>(--x)]});
        --y;
      }
      if (d == 0) break;
      if (is_down) {
        backwards.push_back({'+', after_[static_cast<size_t>(--y)]});
      } else {
        backwards.push_back({'-', before_[static_cast<size_t>(--x)]});
      }
    }
    std::ranges::reverse(backwards);
    return backwards;
  }

 private:
  // With d edits, how far the diagonals -d, -d + 2, …, d come.
  int64_t at(size_t d, int64_t k) const {
    return furthest_[d][static_cast<size_t>(k + static_cast<int64_t>(d)) / 2];
  }

  // Whether edit number `edits` to diagonal k is a line that is added.
  bool goes_down(size_t previous, int64_t k, int64_t edits) const {
    return k == -edits || (k != edits && at(previous, k - 1) < at(previous, k + 1));
  }

  void find_path() {
    const auto n = static_cast<int64_t>(before_.size());
    const auto m = static_cast<int64_t>(after_.size());
    for (int64_t d = 0; d <= n + m; ++d) {
      furthest_.emplace_back();
      for (int64_t k = -d; k <= d; k += 2) {
        int64_t x = 0;
        if (d > 0) {
          const auto previous = static_cast<size_t>(d - 1);
          x = goes_down(previous, k, d) ? at(previous, k + 1) : at(previous, k - 1) + 1;
        }
        while (x < n && x - k < m &&
               before_[static_cast<size_t>(x)] == after_[static_cast<size_t>(x - k)]) {
          ++x;
        }
        furthest_.back().push_back(x);
        if (x >= n && x - k >= m) return;
      }
    }
  }

  const std::vector<std::string_view> before_;
  const std::vector<std::string_view> after_;
  std::vector<std::vector<int64_t>> furthest_;
};

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

std::string unified_diff(std::string_view before, std::string_view after,
                         std::string_view before_name, std::string_view after_name) {
  if (before == after) return {};
  const std::vector<DiffLine> lines = LineDiff(split_lines(before), split_lines(after)).run();
  std::string diff = fmt::format("--- {}\n+++ {}\n", before_name, after_name);
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
