// ProgramWriter: writes a program as it comes, statement by statement, in the memory of one of
// them; or the windows of one, one after the other (windows.h). Where something may have to stand
// that becomes known later, what follows is held until all such places are known.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/convert/captured_bytes.h"
#include "capture/convert/objects.h"
#include "capture/convert/summary.h"
#include "capture/convert/unseen_writes.h"
#include "encoder/program/draft.h"
#include "encoder/program/limits.h"

namespace interlock {

class ProgramWriter {
 public:
  // Requires: both outlive this.
  ProgramWriter(std::ostream& output, const Limits& limits, CaptureSummary& summary);

  void comment(std::string_view text);

  // Writes the next window from here on to the same output, without a header. What is declared in
  // it comes apart: take_declarations(). Requires: nothing of this window was written.
  void begin_window();
  uint64_t window() const { return window_; }  // From 1.
  // The declarations of a window after the first; a line each.
  std::string take_declarations() { return std::exchange(declarations_, {}); }
  // A place of this window, where something may have to stand that is not known yet. From here on
  // what is written is held, until nothing more can come to any such place.
  uint64_t open_place();
  // Nothing more comes to one of them. Requires: it was opened in this window, and is open.
  void close_place();
  // At the end of the window: nothing more comes to any place.
  void close_places();
  // From here on all is added there, until insert_at_end(); after what was inserted there before.
  // Requires: it is open.
  void insert_at(uint64_t place) { insertion_ = place; }
  void insert_at_end() { insertion_.reset(); }

  // How long the window is so far.
  uint64_t text_bytes() const { return text_bytes_; }
  // Of all that is added from here on. Requires: it outlives this.
  void watch_writes(UnseenWrites& unseen) { unseen_ = &unseen; }

  // A memory, a queue or a semaphore, once for each window.
  void declare(const ItemDraft& item);

  // Nothing once there are as many statements, or as much text, as a program may have: is_full().
  void add(const ItemDraft& item);
  bool is_full() const { return is_full_; }

  // Counts work that writes nothing, as a log may ask for much of it in few bytes: the program is
  // full, too, once there is many times as much as statements may be.
  void add_steps(uint64_t count);

  // Whether the rows of these bytes are not more than a program may have with those so far; they
  // are among them then.
  bool takes_rows(const CapturedBytes& bytes);

  // The operand of one who touches these bytes; declares their memory.
  OperandDraft operand(const CapturedBytes& bytes, AccessMode mode);
  // Of one who only names them.
  OperandDraft named(const CapturedBytes& bytes);

 private:
  void put(const std::string& line);
  // Notes it if these bytes of the host are touched as another memory, too.
  void touch(CapturedMemory& memory, ByteRange bytes);
  // Writes what was held, with what was inserted.
  void write_held();
  // The text of the item and its line end; empty if there is no room.
  std::string line_of(const ItemDraft& item);

  std::ostream& output_;
  const Limits limits_;
  CaptureSummary& summary_;
  UnseenWrites* unseen_ = nullptr;
  std::string declarations_;
  uint64_t written_bytes_ = 0;  // In this window, held or not. So the rest of these.
  uint64_t open_place_count_ = 0;
  std::string held_;  // Since the first place that was opened, until all are closed.
  std::optional<uint64_t> insertion_;
  std::map<uint64_t, std::string> insertions_;  // By place.
  std::string inserted_declarations_;
  // Of what is held: what is declared, by where it begins and how long it is. What is inserted may
  // name it earlier.
  std::vector<std::pair<uint64_t, uint64_t>> late_declarations_;
  uint64_t window_ = 1;
  uint64_t statement_count_ = 0;
  uint64_t memory_count_ = 0;
  uint64_t text_bytes_ = 0;
  uint64_t step_count_ = 0;
  uint64_t row_count_ = 0;
  bool is_full_ = false;
};

// Each line of the text as a comment, with what is printable of it.
std::string comment_lines(std::string_view text);

// `text` as the name of an opaque kernel: other bytes than those of names become '_', and what is
// too long ends early.
std::string opaque_name_from(std::string_view text);

}  // namespace interlock
