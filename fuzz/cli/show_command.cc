// interlock show: a program and what goes wrong in it, as a picture.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "encoder/program/names.h"
#include "encoder/text/files.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/input.h"
#include "fuzz/cli/interrupt.h"
#include "simulator/picture/page.h"
#include "simulator/picture/picture.h"
#include "simulator/picture/svg.h"
#include "simulator/picture/trace.h"
#include "simulator/report/check.h"
#include "simulator/report/read_every_queue.h"
#include "simulator/report/report.h"

namespace interlock {
namespace {

constexpr uint64_t kPicturesMax = 6;      // Of one page.
constexpr uint32_t kUnfoldedLater = 300;  // Rows of all but the first one.

struct ShowOptions {
  InputOptions input;
  CheckOptions check;
  std::string format;    // Empty: as the name of the output ends.
  std::string output;    // Empty: the name of the input, with another ending, in this folder.
  uint64_t finding = 0;  // From 1. None: all on a page, else the first one.
};

// Empty: a name that says nothing. What is packed is named after what it is.
std::string_view format_of(std::string_view path) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  if (has_ending(path, ".svg")) return "svg";
  if (has_ending(path, ".html") || has_ending(path, ".htm")) return "html";
  if (has_ending(path, ".json")) return "perfetto";
  return {};
}

// A name without an ending, or a stream, may be anything.
bool has_other_ending(const std::string& path) {
  return path != "-" && std::filesystem::path(path).has_extension();
}

std::string_view ending_of(std::string_view format) {
  if (format == "svg") return ".svg";
  return format == "html" ? ".html" : ".perfetto.json";
}

Picture one_picture(const PictureMaker& maker, const CheckReport& report, uint64_t finding,
                    const PictureLimits& limits) {
  if (report.findings.empty()) return maker.of_program(limits);
  return maker.of_finding(finding == 0 ? 0 : finding - 1, limits);
}

std::string name_of(const std::string& path) { return path == "-" ? "<stdin>" : path; }

std::string page_of(const Program& program, const PictureMaker& maker, const CheckReport& report,
                    const ShowOptions& options, const std::string& path) {
  PicturePage page{.title = name_of(path),
                   .summary = summary_of(report),
                   .finding_count = options.finding == 0 ? report.findings.size() : 1};
  if (report.findings.empty()) page.pictures.push_back({maker.of_program(), ""});
  const uint64_t first = options.finding == 0 ? 0 : options.finding - 1;
  const uint64_t shown = std::min(page.finding_count, kPicturesMax);
  for (uint64_t i = 0; i < shown; ++i) {
    PictureLimits limits;
    if (i > 0) limits.rows_unfolded = kUnfoldedLater;
    page.pictures.push_back(
        {maker.of_finding(first + i, limits),
         text_of_finding(program, report.findings[first + i], shown_word(path))});
  }
  return html_of(page);
}

std::string text_of_shown(const ShowOptions& options, uint64_t finding_count) {
  if (finding_count == 0) return "no finding";
  const uint64_t shown = options.format == "html" ? std::min(finding_count, kPicturesMax) : 1;
  if (options.finding > 0 || (shown == 1 && finding_count > 1)) {
    return fmt::format("finding {} of {}", std::max<uint64_t>(options.finding, 1), finding_count);
  }
  const std::string of = shown < finding_count ? fmt::format(" of {}", finding_count) : "";
  return fmt::format("{}{} finding{}", shown, of, finding_count == 1 ? "" : "s");
}

ExitStatus run_show(ShowOptions options) {
  const Interruptible interruptible;
  read_every_queue(options.input.parse);
  const std::string& path = options.input.path;
  const Result<Program> program = parse_file(path, options.input.parse);
  if (!program) return report_error(program.error());
  if (options.format.empty()) {
    options.format = format_of(options.output);
    if (options.format.empty() && has_other_ending(options.output)) {
      return report_error({fmt::format(
          "{} ends like none of .svg, .html, .htm, .json (a trace for Perfetto), each with or "
          "without .gz; --format says what to write under another name.",
          in_quotes(options.output))});
    }
  }
  if (options.format.empty()) options.format = "html";
  const bool is_named = !options.output.empty();
  if (!is_named) {
    options.output = path == "-" ? path : stem_of(path) + std::string(ending_of(options.format));
  }
  const CheckReport report = check(*program, options.check);
  if (is_stopped()) return ExitStatus::kInterrupted;
  if (options.finding > std::max<uint64_t>(report.findings.size(), 1)) {
    return report_error({fmt::format("there is no finding {}: the program has {}.", options.finding,
                                     report.findings.size())});
  }
  const PictureMaker maker(*program, report);
  std::string text;
  if (options.format == "html") {
    if (report.findings.empty()) options.finding = 0;
    text = page_of(*program, maker, report, options, path);
  } else if (options.format == "svg") {
    text = svg_of(one_picture(maker, report, options.finding, {}));
  } else {
    text = trace_of(one_picture(maker, report, options.finding, trace_limits()), name_of(path));
  }
  if (is_stopped()) return ExitStatus::kInterrupted;
  const ExitStatus status = write_output(options.output, text, ExitStatus::kNothingFound);
  if (is_named || options.output == "-" || status != ExitStatus::kNothingFound) return status;
  print_out(fmt::format(
      "{} shows {}: open it {}.\n", options.output, text_of_shown(options, report.findings.size()),
      options.format == "perfetto" ? "in https://ui.perfetto.dev" : "in a browser"));
  return status;
}

}  // namespace

void add_show_command(CLI::App& app, ExitStatus& status) {
  auto [command, options] = add_subcommand<ShowOptions>(
      app, status, "show", "a picture of a program and of what goes wrong in it", run_show);
  add_input_options(command, options.input);
  command
      .add_option("-o,--output", options.output,
                  "default: FILE's name, with .html, in this folder; - is standard output")
      ->check(writable_path())
      ->type_name("PATH");
  command
      .add_option("--format", options.format,
                  "html: a page whose folds open; svg; perfetto: a trace for ui.perfetto.dev. "
                  "Default: as the output's name ends, else html")
      ->check(one_of({"svg", "html", "perfetto"}));
  add_number(command, "--finding", options.finding,
             "which finding of the report, from 1; 0: all on a page, else the first", 0);
  command.add_flag("--possible", options.check.counts_possible,
                   "hazards count where approximate dispatches need not touch the bytes");
}

}  // namespace interlock
