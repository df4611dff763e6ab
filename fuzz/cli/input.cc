#include "fuzz/cli/input.h"

#include <fmt/format.h>

#include "fuzz/cli/console.h"

namespace interlock {

void add_limit_options(CLI::App& command, ParseOptions& options) {
  command
      .add_option_function<uint64_t>(
          "--max-file-mib",
          [&options](const uint64_t& mib) { options.limits.file_bytes = mib << 20; },
          fmt::format("largest input file in MiB (default {})", Limits{}.file_bytes >> 20))
      ->check(CLI::Range(1u, 1u << 20));
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

}  // namespace interlock
