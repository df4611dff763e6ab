// interlock encode: drops the sync of a program and lets an encoder place its own.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "encoder/encoder.h"
#include "encoder/text.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/input.h"

namespace interlock {
namespace {

struct EncodeOptions {
  InputOptions input;
  std::string encoder = "interlock";
  std::string output = "-";
};

ExitStatus run_encode(const EncodeOptions& options) {
  const EncoderEntry* const entry = find_encoder(options.encoder);
  if (entry == nullptr) {
    return report_error({fmt::format(
        "there is no encoder '{}'. `interlock list encoders` names them.", options.encoder)});
  }
  const Result<Program> program = parse_file(options.input.path, options.input.parse);
  if (!program) {
    return report_error(program.error());
  }
  const std::unique_ptr<Encoder> encoder = entry->create();
  const std::string text = print(encode(*program, *encoder));
  if (options.output == "-") {
    print_out(text);
    return ExitStatus::kNothingFound;
  }
  const Result<Success> written = write_file(options.output, text);
  return written ? ExitStatus::kNothingFound : report_error(written.error());
}

}  // namespace

void add_encode_command(CLI::App& app, ExitStatus& status) {
  CLI::App* const command =
      app.add_subcommand("encode", "replaces the sync of a program by an encoder's own");
  auto options = std::make_shared<EncodeOptions>();
  add_input_options(*command, options->input);
  command->add_option("--encoder", options->encoder, "who places the sync")->capture_default_str();
  command->add_option("-o,--output", options->output, "where to write; - is standard output")
      ->capture_default_str();
  command->callback([options, &status] { status = run_encode(*options); });
}

}  // namespace interlock
