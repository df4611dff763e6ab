// Any bytes, read as the dot file of a graph and, after a line "----", as access sets, give a
// program or an error with a position, never a crash, a hang or unbounded memory. What is imported
// prints as text that reads as the same program.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "encoder/import/access_sets.h"
#include "encoder/import/dot_reader.h"
#include "encoder/import/graph_program.h"
#include "encoder/program/check.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"

namespace interlock {
namespace {

constexpr std::string_view kGraphName = "fuzz.dot";
constexpr std::string_view kSetsName = "fuzz.accesses";
constexpr std::string_view kSeparator = "\n----\n";
constexpr ParseOptions kEveryQueue{.reads_every_queue = true};

void check_error(const Error& error, std::string_view file_name) {
  INTERLOCK_CHECK(error.message.starts_with(std::string(file_name) + ":"));
  INTERLOCK_CHECK(error.message.find(": error: ") != std::string::npos);
  INTERLOCK_CHECK(error.message.size() < 4096);
}

void check_import(std::string_view text) {
  const size_t separator = text.find(kSeparator);
  const bool has_sets = separator != std::string_view::npos;
  const std::string_view dot = text.substr(0, separator);
  const std::string_view stated =
      has_sets ? text.substr(separator + kSeparator.size()) : "accesses 1\n";
  Limits limits;
  limits.expansion_count = 10'000;
  const Result<DotFile> file = read_dot_file(dot, kGraphName, limits);
  if (!file) check_error(file.error(), kGraphName);
  const Result<AccessSets> sets = read_access_sets(stated, kSetsName, limits);
  if (!sets) check_error(sets.error(), kSetsName);
  if (!file || !sets) return;
  const Result<ImportedGraph> imported = import_graph(*file, *sets, kGraphName, limits);
  if (!imported) return check_error(imported.error(), kGraphName);
  INTERLOCK_CHECK(imported->counts.unknown.size() <= imported->counts.node_count);
  const std::string program = print(imported->program);
  const Result<Program> again = parse(program, "fuzz.ilk", kEveryQueue);
  INTERLOCK_CHECK(again.has_value());
  INTERLOCK_CHECK(print(*again) == program);
}

}  // namespace
}  // namespace interlock

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  interlock::check_import({reinterpret_cast<const char*>(data), size});
  return 0;
}
