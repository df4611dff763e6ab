// Line plot: series of points as a picture (SVG), the same bytes for the same numbers.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace interlock {

struct LineSeries {
  std::string name;
  std::vector<std::pair<double, double>> points;  // x, y; finite, x ascending.
};

struct LinePlot {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<LineSeries> series;
  // Between two points the line keeps the y of the first, and goes on after the last; points are
  // dots. Else points are joined straight.
  bool is_stepped = false;
  // The axes show at least these.
  std::pair<double, double> x_range;
  std::pair<double, double> y_range;
};

// A legend names the series, each in the colour of its line.
std::string svg_of(const LinePlot& plot);

}  // namespace interlock
