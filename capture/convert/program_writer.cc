#include "capture/convert/program_writer.h"

#include <fmt/format.h>

#include <algorithm>
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

ProgramWriter::ProgramWriter(std::ostream& output, const Limits& limits)
    : output_(output), limits_(limits) {
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
  output_ << line;
  written_bytes_ += line.size();
}

uint64_t ProgramWriter::place() {
  has_places_ = true;
  return written_bytes_;
}

std::string ProgramWriter::with_inserted(std::string written) {
  if (insertions_.empty()) return written;
  const uint64_t first = insertions_.begin()->first;
  std::string text = written.substr(0, first) + inserted_declarations_;
  std::erase_if(late_declarations_, [&](const auto& each) { return each.first < first; });
  for (const auto& [begin, size] : late_declarations_) text += written.substr(begin, size);
  // What is left, between what is inserted and what stands before all of that now.
  uint64_t at = first;
  auto declared = late_declarations_.begin();
  const auto copy_until = [&](uint64_t end) {
    for (; declared != late_declarations_.end() && declared->first < end; ++declared) {
      text += written.substr(at, declared->first - at);
      at = declared->first + declared->second;
    }
    text += written.substr(at, end - at);
    at = end;
  };
  for (const auto& [place, lines] : insertions_) {
    copy_until(place);
    text += lines;
  }
  copy_until(written.size());
  return text;
}

void ProgramWriter::begin_window() {
  ++window_;
  statement_count_ = memory_count_ = text_bytes_ = step_count_ = row_count_ = 0;
  written_bytes_ = 0;
  insertions_.clear();
  inserted_declarations_.clear();
  late_declarations_.clear();
  has_places_ = false;
}

void ProgramWriter::declare(const ItemDraft& item) {
  const std::string line = line_of(item);
  if (window_ != 1) {
    declarations_ += line;
  } else if (insertion_) {
    inserted_declarations_ += line;
  } else {
    if (has_places_ && !line.empty()) late_declarations_.emplace_back(written_bytes_, line.size());
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

OperandDraft ProgramWriter::operand(const CapturedBytes& bytes, AccessMode mode) {
  CapturedMemory& memory = *bytes.memory;
  OperandDraft operand;
  operand.mode = mode;
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
