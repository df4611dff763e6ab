// Where the statements of a minimized program came from: labels that survive every reduction, and
// the text that says it in comments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

struct StatementOrigin {
  size_t number = 0;      // Of the statement in the original text, from 0; replays and backward
                          // passes, which are made of others, apart.
  std::string kernel;     // Of a dispatch; else empty.
  bool has_label = true;  // In the original.
};

// A program whose statements all have labels.
struct LabelledProgram {
  Program program;
  std::map<std::string, StatementOrigin> origins;  // By label.
  size_t statement_count = 0;
  size_t dispatch_count = 0;  // As the text has them.
};

// `program` with a label on each dispatch that has none, its number after a "d", and on each other
// statement that has none. Nothing else differs, so it has the same findings. Cost: linear, times
// the logarithm.
LabelledProgram with_labels_of_origin(const Program& program);

// The text of `minimized`, without the labels that with_labels_of_origin() gave to other statements
// than dispatches, unless an `expect` line needs them; with a comment after each statement that
// says where it stood. `file_name` and `lines`, of each statement of the original from 1, are
// those of its text; without lines, as where they come from replays, the numbers of dispatches have
// to do. Requires: `minimized` is made of `original.program` by reductions.
std::string text_with_origins(const Program& minimized, const LabelledProgram& original,
                              std::string_view file_name, std::span<const uint64_t> lines);

}  // namespace interlock
