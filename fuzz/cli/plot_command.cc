// interlock plot: runs programs and draws what one tensor holds at the end, a line for each: the
// loss of each training step, with a right planner and a broken one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/interface/backend.h"
#include "encoder/program/error_of.h"
#include "encoder/text/files.h"
#include "encoder/text/parser.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/input.h"
#include "fuzz/cli/interrupt.h"
#include "fuzz/cli/line_plot.h"
#include "simulator/schedules/schedule.h"

namespace interlock {
namespace {

constexpr std::string_view kStandardOutput = "-";

struct PlotOptions {
  std::vector<std::string> paths;
  ParseOptions parse;
  std::string backend = "cpu";
  std::string tensor;
  std::vector<std::string> names;
  std::string title;
  std::string x_label = "element";
  double y_max = 0;
  std::string csv;
  std::string svg;
};

Result<TensorId> find_drawn(const Program& program, const std::string& name) {
  const TensorId id = program.find_tensor(name);
  if (!id.is_some()) return error_of("the program has no tensor '{}'.", name);
  const DType dtype = program.tensor(id).dtype;
  if (dtype != DType::kF32) {
    return error_of("tensor '{}' is {}; only f32 is drawn.", name, word_of(dtype));
  }
  return id;
}

std::vector<float> values_of(const Program& program, const MemoryImage& image, TensorId id) {
  const Tensor& tensor = program.tensor(id);
  std::vector<float> values(tensor.range.size_bytes() / sizeof(float));
  if (values.empty()) return values;
  std::memcpy(values.data(), image.memories[tensor.memory.index].data() + tensor.range.begin,
              values.size() * sizeof(float));
  return values;
}

// Errors: with the path, what parse() and run() say.
Result<std::vector<float>> run_file(const std::string& path, const PlotOptions& options,
                                    Backend& backend) {
  const Result<Program> program = parse_file(path, options.parse);
  if (!program) return program.error();
  const Result<TensorId> tensor = find_drawn(*program, options.tensor);
  if (!tensor) return error_of("{}: {}", path, tensor.error().message);
  const Result<MemoryImage> image =
      backend.run(*program, reference_order_schedule(*program), ExecutionMode::kWitness);
  if (!image) return error_of("{}: {}", path, image.error().message);
  return values_of(*program, *image, *tensor);
}

// Infinities and NaNs cannot be drawn: they are left out here, and are gaps in the table only.
LineSeries series_of(const std::string& name, const std::vector<float>& values) {
  LineSeries series{name, {}};
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) series.points.emplace_back(static_cast<double>(i), values[i]);
  }
  return series;
}

Result<Success> write_table(const PlotOptions& options, const std::vector<std::string>& names,
                            const std::vector<std::vector<float>>& columns) {
  std::string csv = options.x_label;
  for (const std::string& name : names) csv += ',' + name;
  csv += '\n';
  size_t row_count = 0;
  for (const auto& column : columns) row_count = std::max(row_count, column.size());
  for (size_t row = 0; row < row_count; ++row) {
    csv += fmt::format("{}", row);
    for (const auto& column : columns) {
      csv += row < column.size() ? fmt::format(",{}", column[row]) : ",";
    }
    csv += '\n';
  }
  if (!options.csv.empty() && options.csv != kStandardOutput) return write_file(options.csv, csv);
  print_out(csv);
  return Success{};
}

Result<Success> check_options(const PlotOptions& options) {
  if (!options.names.empty() && options.names.size() != options.paths.size()) {
    return error_of("{} names are given for {} files.", options.names.size(), options.paths.size());
  }
  if (options.svg == kStandardOutput && options.csv == kStandardOutput) {
    return Error{"--svg and --csv both name standard output; give one of them a file."};
  }
  if (!std::isfinite(options.y_max)) {
    return error_of("--y-max={} is not finite.", options.y_max);
  }
  return Success{};
}

ExitStatus run_plot(const PlotOptions& options) {
  const Interruptible interruptible;
  if (auto checked = check_options(options); !checked) return report_error(checked.error());
  ExitStatus status = ExitStatus::kNothingFound;
  Backend* const backend = require_backend(options.backend, status);
  if (backend == nullptr) return status;
  LinePlot plot;
  plot.title = options.title.empty() ? options.tensor : options.title;
  plot.x_label = options.x_label;
  plot.y_label = options.tensor;
  plot.y_range = {std::min(0.0, options.y_max), std::max(0.0, options.y_max)};
  std::vector<std::string> names;
  std::vector<std::vector<float>> columns;
  for (size_t i = 0; i < options.paths.size(); ++i) {
    Result<std::vector<float>> values = run_file(options.paths[i], options, *backend);
    if (!values) return report_run_error(values.error(), *backend);
    names.push_back(options.names.empty() ? stem_of(options.paths[i]) : options.names[i]);
    plot.series.push_back(series_of(names.back(), *values));
    columns.push_back(std::move(*values));
  }
  const bool draws_only = options.svg == kStandardOutput && options.csv.empty();
  if (!draws_only) {
    if (auto written = write_table(options, names, columns); !written) {
      return report_error(written.error());
    }
  }
  if (options.svg.empty()) return ExitStatus::kNothingFound;
  return write_output(options.svg, svg_of(plot), ExitStatus::kNothingFound);
}

}  // namespace

void add_plot_command(CLI::App& app, ExitStatus& status) {
  auto [command, options] = add_subcommand<PlotOptions>(
      app, status, "plot",
      "runs programs and draws what one tensor holds at the end, a line for each", run_plot);
  command.add_option("FILE", options.paths, "programs; - is standard input")->required();
  add_limit_options(command, options.parse);
  command.add_option("--tensor", options.tensor, "the tensor, f32; its elements are the points")
      ->required();
  command.add_option("--backend", options.backend, "where to run")->capture_default_str();
  command.add_option("--names", options.names, "of the lines; else those of the files")
      ->delimiter(',');
  command.add_option("--title", options.title, "of the picture; else the tensor's name");
  command.add_option("--x-label", options.x_label, "what the elements are")->capture_default_str();
  command.add_option("--y-max", options.y_max, "the axis of values reaches at least that")
      ->check(CLI::Range(-1e30, 1e30));
  command
      .add_option("--csv", options.csv,
                  "write the numbers there, not to standard output; - is that")
      ->check(writable_path());
  command
      .add_option("--svg", options.svg,
                  "write the picture there; - is standard output, without the numbers")
      ->check(writable_path());
}

}  // namespace interlock
