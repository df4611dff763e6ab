#include "fuzz/cli/line_plot.h"

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

// From `low` on, in steps that are easy to read, at most ten of them.
struct Scale {
  double low = 0;
  double step = 1;
  int step_count = 1;

  double high() const { return low + step * step_count; }
  // 0 at the low end, 1 at the high one.
  double part(double value) const { return (value - low) / (high() - low); }
};

Scale scale_of(std::pair<double, double> range) {
  constexpr double kSmallestDecade = 1e-30;
  constexpr double kSteps[] = {1, 2, 5};
  constexpr double kStepCountMax = 10;
  const auto [lowest, highest] = range;
  for (double decade = kSmallestDecade;; decade *= 10) {
    for (const double digit : kSteps) {
      const double step = digit * decade;
      if ((highest - lowest) / step > kStepCountMax) continue;
      const double first = std::floor(lowest / step + 1e-9);
      const double count = std::ceil(highest / step - first - 1e-9);
      if (count > kStepCountMax) continue;
      return {first * step, step, std::max(1, static_cast<int>(count))};
    }
  }
}

// Where numbers lie in the picture.
struct Axes {
  Scale x_scale;
  Scale y_scale;

  double x(double value) const { return kLeft + (kWidth - kLeft - kRight) * x_scale.part(value); }
  double y(double value) const {
    return kHeight - kBottom - (kHeight - kTop - kBottom) * y_scale.part(value);
  }
};

Axes axes_of(const LinePlot& plot) {
  std::pair<double, double> xs = plot.x_range;
  std::pair<double, double> ys = plot.y_range;
  const auto widen = [](std::pair<double, double>& range, double value) {
    range = {std::min(range.first, value), std::max(range.second, value)};
  };
  for (const LineSeries& series : plot.series) {
    for (const auto& [x, y] : series.points) {
      widen(xs, x);
      widen(ys, y);
    }
  }
  return {scale_of(xs), scale_of(ys)};
}

std::string grid_of(const Axes& axes) {
  std::string svg;
  for (int i = 0; i <= axes.x_scale.step_count; ++i) {
    const double value = axes.x_scale.low + axes.x_scale.step * i;
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"#ddd\"/>\n"
        "<text x=\"{0:.1f}\" y=\"{3:.1f}\" text-anchor=\"middle\">{4:.4g}</text>\n",
        axes.x(value), kTop, kHeight - kBottom, kHeight - kBottom + 18, value);
  }
  for (int i = 0; i <= axes.y_scale.step_count; ++i) {
    const double value = axes.y_scale.low + axes.y_scale.step * i;
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{2:.1f}\" y2=\"{1:.1f}\" stroke=\"#ddd\"/>\n"
        "<text x=\"{3:.1f}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:.4g}</text>\n",
        kLeft, axes.y(value), kWidth - kRight, kLeft - 8, axes.y(value) + 4, value);
  }
  return svg;
}

std::string line_of(const LinePlot& plot, const Axes& axes, size_t index) {
  const LineSeries& series = plot.series[index];
  const std::string_view colour = kColours[index % kColours.size()];
  std::string path;
  std::string dots;
  double previous_y = 0;
  for (const auto& point : series.points) {
    const double x = axes.x(point.first);
    const double y = axes.y(point.second);
    path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "M" : " L", x,
                        plot.is_stepped && !path.empty() ? previous_y : y);
    if (plot.is_stepped) {
      path += fmt::format(" L{:.1f},{:.1f}", x, y);
      dots +=
          fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", x, y, colour);
    }
    previous_y = y;
  }
  if (plot.is_stepped && !path.empty()) {
    path += fmt::format(" L{:.1f},{:.1f}", kWidth - kRight, previous_y);
  }
  const double legend_y = kTop + 18 + 16 * static_cast<double>(index);
  return fmt::format(
      "<path d=\"{0}\" fill=\"none\" stroke=\"{1}\" stroke-width=\"1.5\"/>\n"
      "{2}<text x=\"{3:.1f}\" y=\"{4:.1f}\" text-anchor=\"end\" fill=\"{1}\">{5}</text>\n",
      path, colour, dots, kWidth - kRight - 8, legend_y, escaped(series.name));
}

}  // namespace

std::string svg_of(const LinePlot& plot) {
  const Axes axes = axes_of(plot);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"{2:.1f}\" y=\"22\" font-size=\"14\">{3}</text>\n",
      kWidth, kHeight, kLeft, escaped(plot.title));
  svg += grid_of(axes);
  for (size_t i = 0; i < plot.series.size(); ++i) svg += line_of(plot, axes, i);
  svg += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n"
      "<text transform=\"translate(18,{:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n"
      "</svg>\n",
      (kLeft + kWidth - kRight) / 2, kHeight - 14, escaped(plot.x_label),
      (kTop + kHeight - kBottom) / 2, escaped(plot.y_label));
  return svg;
}

}  // namespace interlock
