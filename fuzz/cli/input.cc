#include "fuzz/cli/input.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "backends/registry.h"
#include "encoder/program/names.h"
#include "encoder/text/files.h"
#include "fuzz/cli/amounts.h"
#include "fuzz/judge/pass_chain.h"

namespace interlock {

CLI::Validator whole_number(uint64_t min, uint64_t max) {
  const auto rewrite = [min, max](std::string& text) -> std::string {
    const std::optional<uint64_t> number = whole_number_in(text);
    if (!number || *number < min || *number > max) {
      return fmt::format("'{}' is not a whole number from {} to {}.", text, min, max);
    }
    text = std::to_string(*number);
    return {};
  };
  return CLI::Validator(rewrite, "");  // The type of the option says what it is.
}

CLI::Validator one_of(std::vector<std::string> names) {
  const std::string list = fmt::format("{}", fmt::join(names, ", "));
  const auto check = [names = std::move(names), list](std::string& text) -> std::string {
    if (std::ranges::find(names, text) != names.end()) return {};
    NearestName nearest(text);
    for (const std::string& name : names) nearest.offer(name);
    return fmt::format("{} is none of {}.{}", in_quotes(text), list, nearest.advice());
  };
  return CLI::Validator(check, "{" + list + "}");
}

CLI::Validator writable_path() {
  const auto check = [](std::string& path) -> std::string {
    if (path == "-") return {};
    const Result<Success> writable = check_writable(path);
    if (writable) return {};
    const std::string& message = writable.error().message;
    return message.substr(0, message.size() - 1);  // What follows is a sentence with its own end.
  };
  return CLI::Validator(check, "");
}

void add_limit_options(CLI::App& command, ParseOptions& options) {
  command
      .add_option_function<uint64_t>(
          "--max-input-mib",
          [&options](const uint64_t& mib) { options.limits.input_bytes = mib << 20; },
          fmt::format("most memory for a text and its program, in MiB (default {})",
                      Limits{}.input_bytes >> 20))
      ->transform(whole_number(1, 1u << 20));
}

void add_input_options(CLI::App& command, InputOptions& options) {
  command.add_option("file", options.path, "program text (.ilk); - is standard input")->required();
  add_limit_options(command, options.parse);
}

void add_output_option(CLI::App& command, std::string& path) {
  command.add_option("-o,--output", path, "where to write; - is standard output")
      ->check(writable_path())
      ->capture_default_str();
}

ExitStatus write_output(const std::string& path, const std::string& text, ExitStatus status) {
  if (path == "-") {
    print_out(text);
    return status;
  }
  const Result<Success> written = write_file(path, text);
  return written ? status : report_error(written.error());
}

std::string shown_word(std::string_view path) {
  std::string shown;
  for (const char c : path_word(path)) {
    const auto byte = static_cast<unsigned char>(c);
    shown += byte < 0x20 || byte == 0x7f ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return shown;
}

bool has_ending(std::string_view path, std::string_view ending) {
  if (path.size() < ending.size()) return false;
  const auto small = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return std::ranges::equal(path.substr(path.size() - ending.size()), ending, {}, small);
}

std::string stem_of(std::string_view path) {
  path.remove_prefix(path.find_last_of('/') + 1);
  if (path.ends_with(".gz")) path.remove_suffix(3);
  return std::string(path.substr(0, path.find_last_of('.')));
}

Backend* find_named_backend(const std::string& name, ExitStatus& status) {
  Backend* const backend = find_backend(name);
  if (backend == nullptr) {
    NearestName nearest(name);
    for (const Backend* const other : backend_registry()) nearest.offer(other->name());
    status =
        report_error({fmt::format("there is no backend {}.{} `interlock list backends` names them.",
                                  in_quotes(name), nearest.advice())});
  }
  return backend;
}

bool is_there(Backend& backend, const std::string& name, ExitStatus& status) {
  const Availability availability = backend.availability();
  if (availability.is_available) return true;
  report_error({fmt::format("backend '{}' is not available: {}", name, availability.reason)});
  status = ExitStatus::kUnavailable;
  return false;
}

Backend* require_backend(const std::string& name, ExitStatus& status) {
  Backend* const backend = find_named_backend(name, status);
  return backend != nullptr && is_there(*backend, name, status) ? backend : nullptr;
}

ExitStatus report_run_error(const Error& error, const Backend& backend) {
  const ExitStatus status = report_error(error);
  if (error.kind == ErrorKind::kFault) return ExitStatus::kFinding;
  return backend.availability().is_available ? status : ExitStatus::kUnavailable;
}

}  // namespace interlock
