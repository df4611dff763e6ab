// `interlock print`: the canonical text of a program.
#include <string>

#include "encoder/text/files.h"
#include "encoder/text/printer.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/input.h"
#include "fuzz/cli/interrupt.h"
#include "simulator/report/read_every_queue.h"

namespace interlock {
namespace {

struct PrintOptions {
  InputOptions input;
  std::string output = "-";
};

ExitStatus run_print(const PrintOptions& options) {
  const Interruptible interruptible;
  ParseOptions parse = options.input.parse;
  read_every_queue(parse);
  const Result<Program> program = parse_file(options.input.path, parse);
  if (!program) return report_error(program.error());
  return write_output(options.output, print(*program), ExitStatus::kNothingFound);
}

}  // namespace

void add_print_command(CLI::App& app, ExitStatus& status) {
  auto [command, options] = add_subcommand<PrintOptions>(
      app, status, "print", "prints a program in its canonical text, or says why it is none",
      run_print);
  add_input_options(command, options.input);
  add_output_option(command, options.output);
}

}  // namespace interlock
