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

  // Nothing once there are as many statements as a program may have: is_full().
  void add(const ItemDraft& item);
  bool is_full() const { return is_full_; }

  // The operand that names these bytes; declares their memory.
  OperandDraft operand(const CapturedBytes& bytes, AccessMode mode);

 private:
  std::ostream& output_;
  const Limits limits_;
  uint64_t statement_count_ = 0;
  uint64_t memory_count_ = 0;
  bool is_full_ = false;
};

// `text` as the name of an opaque kernel: other bytes than those of names become '_', and what is
// too long ends early.
std::string opaque_name_from(std::string_view text);

}  // namespace interlock
