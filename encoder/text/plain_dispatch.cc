// The basic idea is that no token is made: each part of the line is read where it is expected, and
// whatever else stands there ends the attempt.
#include "encoder/text/plain_dispatch.h"

#include <cstdint>
#include <utility>

#include "encoder/program/names.h"
#include "encoder/program/words.h"
#include "encoder/text/plain_cursor.h"

namespace interlock {
namespace {

// Its position in kClauseWords; -1 if it is none of them.
int clause_of_word(std::string_view word) {
  const auto position = [](AccessMode mode) { return static_cast<int>(mode); };
  if (is_literally(word, "reads")) return position(AccessMode::kRead);
  if (is_literally(word, "writes")) return position(AccessMode::kWrite);
  if (is_literally(word, "updates")) return position(AccessMode::kUpdate);
  if (is_literally(word, "uniform")) return position(AccessMode::kUniform);
  if (is_literally(word, "atomics")) return position(AccessMode::kAtomic);
  return -1;
}

class PlainReader {
 public:
  PlainReader(std::string_view line, DispatchWords& words) : cursor_(line), words_(words) {}

  bool read() {
    words_.label = {};
    words_.order.reset();
    words_.operands.clear();
    words_.attributes.clear();
    words_.is_partial = false;
    words_.is_approximate = false;
    words_.stage = Stage::kCompute;
    if (!cursor_.take("dispatch ") && !(read_label() && cursor_.take("dispatch "))) return false;
    cursor_.skip_spaces();
    return cursor_.take_name(words_.kernel) && !cursor_.is_at('=') && read_stage() && read_rest();
  }

 private:
  bool read_label() {
    if (!cursor_.take_name(words_.label) || !cursor_.take(':')) return false;
    cursor_.skip_spaces();
    return true;
  }

  // In one of the other stages: `in copy`.
  bool read_stage() {
    std::string_view word;
    if (!cursor_.take(" in ")) return true;
    const bool is_read = cursor_.take_name(word) && !cursor_.is_at('=');
    const auto stage = stage_of_dispatches(word);
    words_.stage = stage.value_or(Stage::kCompute);
    return is_read && stage.has_value();
  }

  bool read_range(ByteRange& range) {
    return cursor_.take_number(range.begin) && cursor_.take(':') &&
           cursor_.take_number(range.end) && cursor_.take(']');
  }

  bool read_rest() {
    for (;;) {
      const bool is_spaced = cursor_.skip_spaces();
      if (cursor_.is_at_end()) break;
      std::string_view word;
      if (!is_spaced || !cursor_.take_name(word)) return false;
      if (cursor_.is_at('=')) {
        if (!read_key(word)) return false;
      } else if (is_reserved(word)) {
        if (!read_clause(word)) return false;
      } else if (!read_operand(word)) {
        return false;
      }
    }
    return !clause_is_empty_ && (!is_actual_ || clause_ >= 0) && cursor_.has_plain_comment();
  }

  bool read_operand(std::string_view name) {
    // 'after' begins edges, mostly.
    if (clause_ < 0 || !has_operands_only_ || is_literally(name, "after")) return false;
    clause_is_empty_ = false;
    OperandWords& operand = words_.operands.emplace_back();
    operand.name = name;
    operand.mode = static_cast<AccessMode>(clause_);
    operand.is_undeclared = is_actual_;
    operand.is_sliced = cursor_.take('[');
    return !operand.is_sliced || read_range(operand.slice);
  }

  bool read_key(std::string_view key) {
    cursor_.take('=');
    if (key == "order") {
      const bool is_first = clause_ < 0 && !is_actual_ && has_operands_only_ && !words_.order;
      uint64_t order = 0;
      if (!is_first || !cursor_.take_number(order)) return false;
      words_.order = order;
      return true;
    }
    const bool ends_a_clause = !clause_is_empty_ && (!is_actual_ || clause_ >= 0);
    if (!ends_a_clause || is_reserved(key)) return false;
    has_operands_only_ = false;
    const std::string_view value = cursor_.take_value();
    words_.attributes.emplace_back(key, value);
    return !value.empty();
  }

  bool read_clause(std::string_view word) {
    if (clause_is_empty_ || !has_operands_only_) return false;
    if (const int next = clause_of_word(word); next >= 0) {
      clause_is_empty_ = true;
      return std::exchange(clause_, next) < next;
    }
    if (is_actual_ && clause_ < 0) return false;
    if (word == "actual" && !is_actual_) {
      is_actual_ = true;
      clause_ = -1;
      return true;
    }
    has_operands_only_ = false;
    words_.is_partial = word == "partial";
    words_.is_approximate = word == "approximate";
    return words_.is_partial || words_.is_approximate;
  }

  PlainCursor cursor_;
  DispatchWords& words_;
  int clause_ = -1;  // Of kClauseWords; after `actual` they begin anew.
  bool clause_is_empty_ = false;
  bool is_actual_ = false;
  bool has_operands_only_ = true;  // Neither `partial` nor an attribute stands before.
};

}  // namespace

bool read_plain_dispatch(std::string_view line, DispatchWords& words) {
  return PlainReader(line, words).read();
}

}  // namespace interlock
