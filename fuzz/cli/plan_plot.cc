#include "fuzz/cli/plan_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace interlock {
namespace {

constexpr double kWidth = 720;
constexpr double kHeight = 420;
constexpr double kLeft = 64;
constexpr double kRight = 24;
constexpr double kTop = 40;
constexpr double kBottom = 56;
constexpr std::array<std::string_view, 8> kColours = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd",
                                                      "#ff7f0e", "#8c564b", "#17becf", "#7f7f7f"};

// XML has three characters that names must not bring along.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '"') {
      result += "&quot;";
    } else {
      result += c;
    }
  }
  return result;
}

double ratio(uint64_t value, uint64_t unit) {
  return static_cast<double>(value) / static_cast<double>(std::max<uint64_t>(unit, 1));
}

// From `low` on, in steps that are easy to read, at most ten of them.
struct Scale {
  double low = 1;
  double step = 0.02;
  int step_count = 1;

  double high() const { return low + step * step_count; }
  // 0 at the low end, 1 at the high one.
  double part(double value) const { return (value - low) / (high() - low); }
};

Scale scale_of(double lowest, double highest) {
  constexpr double kSteps[] = {0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100};
  constexpr double kStepCountMax = 10;
  Scale scale;
  for (const double step : kSteps) {
    const double first = std::floor(lowest / step + 1e-9);
    scale = {first * step, step, std::max(1, static_cast<int>(std::ceil(highest / step - first)))};
    if (highest / step - first <= kStepCountMax) break;
  }
  return scale;
}

// Where numbers lie in the picture.
class Axes {
 public:
  explicit Axes(const std::vector<TradeCurve>& curves) {
    double memory_max = 1.1;
    double barriers_min = 1;
    double barriers_max = 1.02;
    for (const TradeCurve& curve : curves) {
      for (const TradePoint& point : curve.points) {
        const double barriers = ratio(point.barrier_count, curve.fresh_barrier_count);
        memory_max = std::max(memory_max, ratio(point.pool_bytes, curve.lower_bound_bytes));
        barriers_min = std::min(barriers_min, barriers);
        barriers_max = std::max(barriers_max, barriers);
      }
    }
    memory_ = scale_of(1, memory_max);
    barriers_ = scale_of(barriers_min, barriers_max);
  }

  const Scale& memory() const { return memory_; }
  const Scale& barriers() const { return barriers_; }
  double x(double memory) const { return kLeft + (kWidth - kLeft - kRight) * memory_.part(memory); }
  double y(double barriers) const {
    return kHeight - kBottom - (kHeight - kTop - kBottom) * barriers_.part(barriers);
  }

 private:
  Scale memory_;
  Scale barriers_;
};

std::string grid_of(const Axes& axes) {
  std::string svg;
  for (int i = 0; i <= axes.memory().step_count; ++i) {
    const double memory = axes.memory().low + axes.memory().step * i;
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"#ddd\"/>\n"
        "<text x=\"{0:.1f}\" y=\"{3:.1f}\" text-anchor=\"middle\">{4:.4g}</text>\n",
        axes.x(memory), kTop, kHeight - kBottom, kHeight - kBottom + 18, memory);
  }
  for (int i = 0; i <= axes.barriers().step_count; ++i) {
    const double barriers = axes.barriers().low + axes.barriers().step * i;
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{2:.1f}\" y2=\"{1:.1f}\" stroke=\"#ddd\"/>\n"
        "<text x=\"{3:.1f}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:.4g}</text>\n",
        kLeft, axes.y(barriers), kWidth - kRight, kLeft - 8, axes.y(barriers) + 4, barriers);
  }
  return svg;
}

std::string line_of(const TradeCurve& curve, const Axes& axes, size_t index) {
  const std::string_view colour = kColours[index % kColours.size()];
  std::string path;
  std::string dots;
  double previous_y = 0;
  for (const TradePoint& point : curve.points) {
    const double x = axes.x(ratio(point.pool_bytes, curve.lower_bound_bytes));
    const double y = axes.y(ratio(point.barrier_count, curve.fresh_barrier_count));
    // A step: between two points the cheaper of them is what memory buys.
    path += path.empty() ? fmt::format("M{:.1f},{:.1f}", x, y)
                         : fmt::format(" L{:.1f},{:.1f} L{:.1f},{:.1f}", x, previous_y, x, y);
    dots +=
        fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", x, y, colour);
    previous_y = y;
  }
  path += fmt::format(" L{:.1f},{:.1f}", kWidth - kRight, previous_y);
  const double legend_y = kTop + 18 + 16 * static_cast<double>(index);
  return fmt::format(
      "<path d=\"{0}\" fill=\"none\" stroke=\"{1}\" stroke-width=\"1.5\"/>\n{2}"
      "<text x=\"{3:.1f}\" y=\"{4:.1f}\" text-anchor=\"end\" fill=\"{1}\">{5}</text>\n",
      path, colour, dots, kWidth - kRight - 8, legend_y, escaped(curve.name));
}

}  // namespace

std::string csv_of(const std::vector<TradeCurve>& curves) {
  std::string csv = "graph,lower_bound_bytes,fresh_bytes,fresh_barriers,pool_bytes,barriers\n";
  for (const TradeCurve& curve : curves) {
    for (const TradePoint& point : curve.points) {
      csv +=
          fmt::format("{},{},{},{},{},{}\n", curve.name, curve.lower_bound_bytes, curve.fresh_bytes,
                      curve.fresh_barrier_count, point.pool_bytes, point.barrier_count);
    }
  }
  return csv;
}

std::string svg_of(const std::vector<TradeCurve>& curves) {
  const Axes axes(curves);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"{2:.1f}\" y=\"22\" font-size=\"14\">Memory buys barriers: planner liveness with "
      "slack, encoder interlock</text>\n",
      kWidth, kHeight, kLeft);
  svg += grid_of(axes);
  for (size_t i = 0; i < curves.size(); ++i) svg += line_of(curves[i], axes, i);
  svg += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">pool, in lower bounds (largest live "
      "set)</text>\n"
      "<text transform=\"translate(18,{:.1f}) rotate(-90)\" text-anchor=\"middle\">barriers, in "
      "those without reuse</text>\n</svg>\n",
      (kLeft + kWidth - kRight) / 2, kHeight - 14, (kTop + kHeight - kBottom) / 2);
  return svg;
}

}  // namespace interlock
