// Programs with several queues and with the host, as tests write and rewrite them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/generate/queue_generator.h"
#include "fuzz/generate/queue_meanings.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/reference_order.h"
#include "simulator/schedules/choice.h"

namespace interlock {

// None if `text` is not valid, as some of the random ones.
inline std::optional<Program> parse_queues(const std::string& text) {
  ParseOptions options;
  options.reads_every_queue = true;
  Result<Program> program = parse(text, "test", options);
  if (!program) return std::nullopt;
  return std::move(program).value();
}

// Requires: `text` is valid.
inline Program program_with_queues(const std::string& text) {
  ParseOptions options;
  options.reads_every_queue = true;
  const Result<Program> program = parse(text, "test", options);
  if (!program) ADD_FAILURE() << program.error().message << "\n" << text;
  return *program;
}

inline std::vector<std::string> text_lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// A program of the campaigns whose values do not end: what is judged is the order of accesses.
inline std::string generated_queue_program(Choice& choice, QueueGeneratorOptions options = {}) {
  options.ends_values = false;
  return print(generate_queues(choice, options));
}

// The reference run of a program of the campaigns, with all that they say of values and of the
// order that is meant; none of one with a deadlock.
inline std::optional<Program> generated_run_with_meanings(Choice& choice) {
  ProgramDraft draft = generate_queues(choice);
  add_queue_meanings(draft, choice);
  const Program program = program_with_queues(print(draft));
  const ReferenceOrder reference = find_reference_order(program);
  if (!reference.cycle.empty()) return std::nullopt;
  return reference.is_text_order ? program : in_reference_order(program, reference);
}

}  // namespace interlock
