// `interlock import`: the program of a CUDA graph, from its dot file and from what is stated of its
// nodes.
#include <fmt/format.h>

#include <string>

#include "encoder/import/access_sets.h"
#include "encoder/import/dot_reader.h"
#include "encoder/import/graph_program.h"
#include "encoder/text/files.h"
#include "encoder/text/printer.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/input.h"
#include "fuzz/cli/interrupt.h"

namespace interlock {
namespace {

struct ImportOptions {
  std::string path;
  std::string accesses;
  std::string output = "-";
  ParseOptions parse;  // Its limits.
};

std::string name_of_input(const std::string& path) { return path == "-" ? "<stdin>" : path; }

// What is known of the graph stands above the program, as comments.
std::string commented(std::string_view text) {
  std::string comments;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    comments += fmt::format("# {}\n", text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return comments;
}

ExitStatus run_import(const ImportOptions& options) {
  const Interruptible interruptible;
  const Limits& limits = options.parse.limits;
  const std::string name = name_of_input(options.path);
  const Result<std::string> text = read_file(options.path, limits);
  if (!text) return report_error(text.error());
  const Result<DotFile> file = read_dot_file(*text, name, limits);
  if (!file) return report_error(file.error());
  AccessSets sets;
  if (!options.accesses.empty()) {
    const Result<std::string> stated = read_file(options.accesses, limits);
    if (!stated) return report_error(stated.error());
    Result<AccessSets> read = read_access_sets(*stated, name_of_input(options.accesses), limits);
    if (!read) return report_error(read.error());
    sets = std::move(read).value();
  }
  const Result<ImportedGraph> imported = import_graph(*file, sets, name, limits);
  if (!imported) return report_error(imported.error());
  const std::string known = text_of(imported->counts);
  print_remark(known);
  return write_output(options.output, commented(known) + print(imported->program),
                      ExitStatus::kNothingFound);
}

}  // namespace

void add_import_command(CLI::App& app, ExitStatus& status) {
  auto [command, options] = add_subcommand<ImportOptions>(
      app, status, "import",
      "makes a program of a CUDA graph: the file of cudaGraphDebugDotPrint()", run_import);
  command.add_option("file", options.path, "dot file; - is standard input")->required();
  command.add_option("--accesses", options.accesses,
                     "what the nodes read and write (docs/graphs.md)");
  add_limit_options(command, options.parse);
  add_output_option(command, options.output);
}

}  // namespace interlock
