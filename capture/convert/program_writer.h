// ProgramWriter: writes a program as it comes, statement by statement, in the memory of one of
// them.
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "capture/convert/captured_bytes.h"
#include "capture/convert/objects.h"
#include "encoder/program/draft.h"
#include "encoder/program/limits.h"

namespace interlock {

class ProgramWriter {
 public:
  // Requires: `output` outlives this.
  ProgramWriter(std::ostream& output, const Limits& limits);

  void comment(std::string_view text);

  // Nothing once there are as many statements, or as much text, as a program may have: is_full().
  void add(const ItemDraft& item);
  bool is_full() const { return is_full_; }

  // Counts work that writes nothing, as a log may ask for much of it in few bytes: the program is
  // full, too, once there is many times as much as statements may be.
  void add_steps(uint64_t count);

  // Whether the rows of these bytes are not more than a program may have with those so far; they
  // are among them then.
  bool takes_rows(const CapturedBytes& bytes);

  // The operand that names these bytes; declares their memory.
  OperandDraft operand(const CapturedBytes& bytes, AccessMode mode);

 private:
  std::ostream& output_;
  const Limits limits_;
  uint64_t statement_count_ = 0;
  uint64_t memory_count_ = 0;
  uint64_t text_bytes_ = 0;
  uint64_t step_count_ = 0;
  uint64_t row_count_ = 0;
  bool is_full_ = false;
};

// `text` as the name of an opaque kernel: other bytes than those of names become '_', and what is
// too long ends early.
std::string opaque_name_from(std::string_view text);

}  // namespace interlock
