#include "capture/convert/program_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "encoder/import/graph_names.h"
#include "encoder/program/names.h"
#include "encoder/text/printer.h"

namespace interlock {
namespace {

constexpr size_t kKernelNameBytesMax = 100;  // Of what an application calls a kernel.
constexpr uint64_t kStepsPerStatement = 64;
constexpr uint64_t kPiecesPerStep = 64;  // Of unseen writes.

// A barrier is one more for each dependency that does something to its operands.
uint64_t statement_count_of(const ItemDraft& item) {
  const auto* const barrier = std::get_if<BarrierDraft>(&item);
  if (barrier == nullptr) return 1;
  const auto none = std::ranges::count(barrier->dependencies, TransitionKind::kNone,
                                       &DependencyDraft::transition);
  return 1 + barrier->dependencies.size() - static_cast<uint64_t>(none);
}

}  // namespace

ProgramWriter::ProgramWriter(std::ostream& output, const Limits& limits, CaptureSummary& summary)
    : output_(output), limits_(limits), summary_(summary) {
  put("interlock 1\n");
}

std::string comment_lines(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, end));
    std::ranges::replace_if(
        line, [](char c) { return c < ' ' || c > '~'; }, '?');
    lines += "# " + line + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void ProgramWriter::comment(std::string_view text) { put(comment_lines(text)); }

void ProgramWriter::put(const std::string& line) {
  if (insertion_) {
    insertions_[*insertion_] += line;
    return;
  }
  written_bytes_ += line.size();
  if (open_place_count_ == 0) {
    output_ << line;
  } else {
    held_ += line;
  }
}

uint64_t ProgramWriter::open_place() {
  ++open_place_count_;
  return written_bytes_;
}

void ProgramWriter::close_place() {
  if (--open_place_count_ == 0) write_held();
}

void ProgramWriter::close_places() {
  open_place_count_ = 0;
  write_held();
}

void ProgramWriter::write_held() {
  const std::string held = std::exchange(held_, {});
  const auto insertions = std::exchange(insertions_, {});
  const std::string inserted_declarations = std::exchange(inserted_declarations_, {});
  const auto late_declarations = std::exchange(late_declarations_, {});
  // Where what is held begins.
  const uint64_t origin = written_bytes_ - held.size();
  const auto write = [&](uint64_t begin, uint64_t end) {
    output_ << std::string_view(held).substr(begin - origin, end - begin);
  };
  uint64_t at = origin;
  auto declared = late_declarations.begin();
  // What is left, between what is inserted and what stands before all of that now.
  const auto write_until = [&](uint64_t end) {
    for (; declared != late_declarations.end() && declared->first < end; ++declared) {
      write(at, declared->first);
      at = declared->first + declared->second;
    }
    write(at, end);
    at = end;
  };
  if (!insertions.empty()) {
    // What is declared before the first of them stays there.
    const uint64_t first = insertions.begin()->first;
    declared = std::ranges::lower_bound(late_declarations, first, {},
                                        [](const auto& each) { return each.first; });
    write(at, first);
    at = first;
    output_ << inserted_declarations;
    for (auto late = declared; late != late_declarations.end(); ++late) {
      write(late->first, late->first + late->second);
    }
  } else {
    declared = late_declarations.end();
  }
  for (const auto& [place, lines] : insertions) {
    write_until(place);
    output_ << lines;
  }
  write_until(written_bytes_);
}

void ProgramWriter::begin_window() {
  ++window_;
  statement_count_ = memory_count_ = text_bytes_ = step_count_ = row_count_ = 0;
  written_bytes_ = 0;
}

void ProgramWriter::declare(const ItemDraft& item) {
  const std::string line = line_of(item);
  if (window_ != 1) {
    declarations_ += line;
  } else if (insertion_) {
    inserted_declarations_ += line;
  } else {
    if (open_place_count_ > 0 && !line.empty())
      late_declarations_.emplace_back(written_bytes_, line.size());
    put(line);
  }
}

void ProgramWriter::add(const ItemDraft& item) {
  const std::string line = line_of(item);
  if (line.empty()) return;
  if (unseen_ != nullptr) {
    unseen_->add(item);
    add_steps(unseen_->take_steps() / kPiecesPerStep);
  }
  put(line);
}

std::string ProgramWriter::line_of(const ItemDraft& item) {
  const uint64_t count = statement_count_of(item);
  is_full_ = is_full_ || statement_count_ >= limits_.statement_count ||
             count > limits_.statement_count - statement_count_ ||
             memory_count_ >= limits_.memory_count || text_bytes_ >= limits_.input_bytes;
  if (is_full_) return {};
  statement_count_ += count;
  std::string text = print(item) + "\n";
  text_bytes_ += text.size();
  return text;
}

void ProgramWriter::add_steps(uint64_t count) {
  step_count_ += std::min(count, UINT64_MAX - step_count_);
  is_full_ = is_full_ || step_count_ / kStepsPerStatement >= limits_.statement_count;
}

bool ProgramWriter::takes_rows(const CapturedBytes& bytes) {
  if (!bytes.rows) return true;
  const bool has_room = bytes.rows->row_count <= limits_.expansion_count - row_count_;
  if (has_room) row_count_ += bytes.rows->row_count;
  return has_room;
}

void ProgramWriter::touch(CapturedMemory& memory, ByteRange bytes) {
  for (const auto& [both, side] : memory.overlaps) {
    const uint64_t address = memory.host_address;
    const ByteRange now =
        intersection({address + bytes.begin, address + bytes.end}, both->addresses);
    if (now.is_empty()) continue;
    ByteRange& touched = both->touched[side];
    touched = touched.is_empty()
                  ? now
                  : ByteRange{std::min(touched.begin, now.begin), std::max(touched.end, now.end)};
    if (!share_a_byte(touched, both->touched[1 - side])) continue;
    if (std::exchange(both->is_touched_as_both, true)) continue;
    summary_.note("bytes of the host that two memories have, in part (they are taken to be apart)");
  }
}

OperandDraft ProgramWriter::operand(const CapturedBytes& bytes, AccessMode mode) {
  if (!bytes.memory->overlaps.empty()) touch(*bytes.memory, bytes.range);
  OperandDraft operand = named(bytes);
  operand.mode = mode;
  return operand;
}

OperandDraft ProgramWriter::named(const CapturedBytes& bytes) {
  CapturedMemory& memory = *bytes.memory;
  OperandDraft operand;
  operand.name = fmt::format("m{}", memory.number);
  operand.slice = bytes.range;
  operand.stride = bytes.rows;
  if (memory.declared_window != window_) {
    memory.declared_window = window_;
    ++memory_count_;
    MemoryDraft declared;
    declared.name = operand.name;
    declared.size_bytes = std::min(memory.size_bytes, limits_.memory_bytes);
    declare(declared);
  }
  return operand;
}

std::string opaque_name_from(std::string_view text) {
  std::string name = legal_name(text.substr(0, kKernelNameBytesMax));
  if (name.front() >= 'a' && name.front() <= 'z') {
    name.front() = static_cast<char>(name.front() - 'a' + 'A');
  }
  return is_opaque_kernel(name) ? name : "K" + name;
}

}  // namespace interlock
