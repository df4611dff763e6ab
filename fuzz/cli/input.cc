#include "fuzz/cli/input.h"

#include <fmt/format.h>

#include <charconv>

#include "backends/registry.h"
#include "encoder/text/parser.h"
#include "fuzz/cli/console.h"

namespace interlock {

CLI::Validator whole_number(uint64_t min, uint64_t max) {
  const auto complaint = [min, max](const std::string& text) -> std::string {
    uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, value);
    if (parsed.ec == std::errc() && parsed.ptr == end && min <= value && value <= max) {
      return {};
    }
    return fmt::format("'{}' is not a whole number from {} to {}.", text, min, max);
  };
  return CLI::Validator(complaint, "UINT");
}

void add_limit_options(CLI::App& command, ParseOptions& options) {
  command
      .add_option_function<uint64_t>(
          "--max-file-mib",
          [&options](const uint64_t& mib) { options.limits.file_bytes = mib << 20; },
          fmt::format("largest input file in MiB (default {})", Limits{}.file_bytes >> 20))
      ->check(whole_number(1, 1u << 20));
}

void add_input_options(CLI::App& command, InputOptions& options) {
  command.add_option("file", options.path, "program text (.ilk); - is standard input")->required();
  add_limit_options(command, options.parse);
}

Backend* require_backend(const std::string& name, ExitStatus& status) {
  Backend* const backend = find_backend(name);
  if (backend == nullptr) {
    status = report_error(
        {fmt::format("there is no backend '{}'. `interlock list backends` names them.", name)});
    return nullptr;
  }
  const Availability availability = backend->availability();
  if (!availability.is_available) {
    report_error({fmt::format("backend '{}' is not available: {}", name, availability.reason)});
    status = ExitStatus::kUnavailable;
    return nullptr;
  }
  return backend;
}

ExitStatus report_run_error(const Error& error, const Backend& backend) {
  const ExitStatus status = report_error(error);
  if (error.kind == ErrorKind::kFault) return ExitStatus::kFinding;
  return backend.availability().is_available ? status : ExitStatus::kUnavailable;
}

}  // namespace interlock
