// Programs of interlock.h.
#include <string>
#include <utility>

#include "bindings/c/handles.h"
#include "bindings/c/interlock.h"
#include "encoder/text/files.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"

namespace interlock {

Made<ilk_program> program_of(std::string source, std::string name, const ilk_options* options) {
  auto sourced = std::make_shared<SourcedProgram>();
  sourced->source = std::move(source);
  sourced->name = std::move(name);
  ParseOptions parse_options = parse_options_of(options);
  parse_options.statement_lines = &sourced->statement_lines;
  Result<Program> program = parse(sourced->source, sourced->name, parse_options);
  if (!program) return input_error(program.error().message, sourced->name);
  sourced->program = std::move(*program);
  return std::make_unique<ilk_program>(ilk_program{std::move(sourced)});
}

}  // namespace interlock

extern "C" {

ilk_status ilk_program_parse(const char* text, size_t size, const char* name,
                             const ilk_options* options, ilk_program** program, ilk_error** error) {
  return interlock::make(program, options, error, [&]() -> interlock::Made<ilk_program> {
    if (text == nullptr && size > 0) return interlock::null_argument("the text");
    return interlock::program_of(std::string(text != nullptr ? text : "", size),
                                 name != nullptr ? name : "<text>", options);
  });
}

ilk_status ilk_program_read(const char* path, const ilk_options* options, ilk_program** program,
                            ilk_error** error) {
  return interlock::make(program, options, error, [&]() -> interlock::Made<ilk_program> {
    if (path == nullptr) return interlock::null_argument("the path");
    auto text = interlock::read_file(path, interlock::parse_options_of(options).limits);
    if (!text) return interlock::input_error(text.error().message, path);
    return interlock::program_of(std::move(*text), path, options);
  });
}

void ilk_program_free(ilk_program* program) { delete program; }

const char* ilk_program_source(const ilk_program* program) {
  return program != nullptr ? program->sourced->source.c_str() : nullptr;
}

const char* ilk_program_text(const ilk_program* program) {
  if (program == nullptr) return nullptr;
  const interlock::SourcedProgram& sourced = *program->sourced;
  return sourced.text.get([&] { return interlock::print(sourced.program); });
}

const char* ilk_program_name(const ilk_program* program) {
  return program != nullptr ? program->sourced->name.c_str() : nullptr;
}

uint64_t ilk_program_dispatch_count(const ilk_program* program) {
  return program != nullptr ? program->sourced->program.dispatches.size() : 0;
}

}  // extern "C"
