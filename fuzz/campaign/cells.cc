// The basic idea is that nearly all cells of a program are known already, so a cell is a small
// number, and a set of them a bit for each.
#include "fuzz/campaign/cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/names.h"
#include "encoder/sync/encoder.h"
#include "fuzz/campaign/cell_places.h"
#include "fuzz/campaign/journal_text.h"
#include "fuzz/judge/signature.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/hazards/alias_contracts.h"

namespace interlock {
namespace {

constexpr uint32_t kBranchBit = 1u << 31;
constexpr uint64_t kBranchNumbersMax = 1u << 24;
constexpr uint64_t kCountClassesOfBranch = 8;
constexpr std::string_view kBranchStart = "branch-";
constexpr std::string_view kAfterStart = "after-";

constexpr std::array kCellKinds = {FindingKind::kReadAfterWrite, FindingKind::kWriteAfterRead,
                                   FindingKind::kWriteAfterWrite};
// Beyond it the row of outputs is long, however long it is: else ever longer programs were new.
constexpr uint64_t kOutputsMax = 32;
constexpr uint32_t kAfterClasses = 7;  // 0, 1, 2, 4, 8, 16, 32.

// The number of a cell of conflicts, digit by digit.
struct ConflictCell {
  uint32_t kind = 0;      // Into kCellKinds.
  uint32_t relation = 0;  // Into kAliasShapes.
  uint32_t sync = 0;      // Into kCellSyncWords.
  uint32_t place = 0;     // Of kAfterClasses; beyond those a kernel.

  Cell cell() const {
    uint32_t number = place;
    number = number * static_cast<uint32_t>(kCellSyncWords.size()) + sync;
    number = number * static_cast<uint32_t>(kAliasShapes.size()) + relation;
    return Cell{number * static_cast<uint32_t>(kCellKinds.size()) + kind};
  }
};

ConflictCell conflict_cell(Cell cell) {
  auto number = static_cast<uint32_t>(cell);
  const auto digit = [&number](size_t base) {
    const auto value = static_cast<uint32_t>(number % base);
    number = static_cast<uint32_t>(number / base);
    return value;
  };
  ConflictCell digits;
  digits.kind = digit(kCellKinds.size());
  digits.relation = digit(kAliasShapes.size());
  digits.sync = digit(kCellSyncWords.size());
  digits.place = number;
  return digits;
}

uint64_t outputs_of_class(uint32_t place) { return place == 0 ? 0 : 1ull << (place - 1); }

std::string_view cell_kernel_word(uint32_t place) {
  const KernelEntry& kernel = kernel_table()[place - kAfterClasses];
  return kernel.is_variadic ? "Opaque" : kernel.name;
}

// Takes what stands before the next '-' from the front of `name`, and that.
std::string_view take_cell_word(std::string_view& name) {
  const size_t end = std::min(name.find('-'), name.size());
  const std::string_view word = name.substr(0, end);
  name.remove_prefix(std::min(end + 1, name.size()));
  return word;
}

template <typename Words>
std::optional<uint32_t> place_among(const Words& words, std::string_view word) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (word == words[i]) return static_cast<uint32_t>(i);
  }
  return std::nullopt;
}

std::optional<uint32_t> place_of_kernel(std::string_view word) {
  for (uint32_t i = 0; i < kernel_table().size(); ++i) {
    if (cell_kernel_word(kAfterClasses + i) == word) return kAfterClasses + i;
  }
  return std::nullopt;
}

std::optional<Cell> branch_cell_of(std::string_view rest) {
  const auto branch = decimal_of(take_cell_word(rest));
  const auto count_class = decimal_of(rest);
  if (!branch || !count_class || *count_class >= kCountClassesOfBranch ||
      *branch >= kBranchNumbersMax / kCountClassesOfBranch) {
    return std::nullopt;
  }
  return Cell{kBranchBit | static_cast<uint32_t>(*branch * kCountClassesOfBranch + *count_class)};
}

class CellScan {
 public:
  CellScan(const Program& program, const CellSet& known) : program_(program), known_(known) {}

  void add_pair(const DispatchPair& pair, const PairPlace& place) {
    const Dispatch& first = program_.dispatch(pair.first);
    const Dispatch& second = program_.dispatch(pair.second);
    const bool is_one_atomic_op = first.atomic_op == second.atomic_op;
    for (const Access& a : program_.declared_accesses_of(first)) {
      for (const Access& b : program_.declared_accesses_of(second)) {
        if (conflicts(a, b, is_one_atomic_op)) add_operands(pair, place, a, b);
      }
    }
  }

  void add(Cell cell) {
    const bool is_new = !known_.contains(cell) && cells_.size() < kJournalNamesOfRunMax;
    if (is_new && seen_.add(cell)) cells_.push_back(cell);
  }

  std::vector<Cell> take() && { return std::move(cells_); }

 private:
  void add_operands(const DispatchPair& pair, const PairPlace& place_of_pair, const Access& a,
                    const Access& b) {
    ConflictCell cell;
    cell.relation = static_cast<uint32_t>(alias_shape_of(program_, a, b));
    cell.sync = static_cast<uint32_t>(place_of_pair.sync);
    const uint64_t outputs = std::min(place_of_pair.output_count, kOutputsMax);
    const std::array places = {
        static_cast<uint32_t>(kAfterClasses + program_.dispatch(pair.first).kernel.index),
        static_cast<uint32_t>(kAfterClasses + program_.dispatch(pair.second).kernel.index),
        static_cast<uint32_t>(std::bit_width(outputs))};
    const std::array is_of_kind = {a.has_write_side() && b.has_read_side(),
                                   a.has_read_side() && b.has_write_side(),
                                   a.has_write_side() && b.has_write_side()};
    for (cell.kind = 0; cell.kind < kCellKinds.size(); ++cell.kind) {
      if (!is_of_kind[cell.kind]) continue;
      for (const uint32_t place : places) {
        cell.place = place;
        add(cell.cell());
      }
    }
  }

  const Program& program_;
  const CellSet& known_;
  CellSet seen_;
  std::vector<Cell> cells_;
};

}  // namespace

bool is_of_branch(Cell cell) { return (static_cast<uint32_t>(cell) & kBranchBit) != 0; }

std::string cell_name(Cell cell) {
  if (is_of_branch(cell)) {
    const uint32_t number = static_cast<uint32_t>(cell) & ~kBranchBit;
    return fmt::format("{}{}-{}", kBranchStart, number / kCountClassesOfBranch,
                       number % kCountClassesOfBranch);
  }
  const ConflictCell digits = conflict_cell(cell);
  const std::string start = fmt::format("{}-{}", word_of(kCellKinds[digits.kind]),
                                        word_of(kAliasShapes[digits.relation]));
  const std::string_view sync = kCellSyncWords[digits.sync];
  if (digits.place >= kAfterClasses) {
    return fmt::format("{}-{}-{}", start, cell_kernel_word(digits.place), sync);
  }
  return fmt::format("{}-{}-{}{}", start, sync, kAfterStart, outputs_of_class(digits.place));
}

std::optional<Cell> cell_of(std::string_view name) {
  std::string_view rest = name;
  if (rest.starts_with(kBranchStart)) {
    const auto cell = branch_cell_of(rest.substr(kBranchStart.size()));
    return cell && cell_name(*cell) == name ? cell : std::nullopt;
  }
  const std::string_view kind = take_cell_word(rest);
  const std::string_view relation = take_cell_word(rest);
  const std::string_view word = take_cell_word(rest);
  ConflictCell digits;
  while (digits.kind < kCellKinds.size() && word_of(kCellKinds[digits.kind]) != kind) ++digits.kind;
  while (digits.relation < kAliasShapes.size() &&
         word_of(kAliasShapes[digits.relation]) != relation) {
    ++digits.relation;
  }
  const bool is_after = rest.starts_with(kAfterStart);
  const auto sync = place_among(kCellSyncWords, is_after ? word : rest);
  std::optional<uint32_t> place;
  if (is_after) {
    const auto outputs = decimal_of(rest.substr(kAfterStart.size()));
    if (outputs && *outputs <= kOutputsMax) place = static_cast<uint32_t>(std::bit_width(*outputs));
  } else {
    place = place_of_kernel(word);
  }
  if (digits.kind == kCellKinds.size() || digits.relation == kAliasShapes.size() || !sync ||
      !place) {
    return std::nullopt;
  }
  digits.sync = *sync;
  digits.place = *place;
  const Cell cell = digits.cell();
  return cell_name(cell) == name ? std::optional(cell) : std::nullopt;
}

bool CellSet::contains(Cell cell) const {
  const std::vector<bool>& bits = is_of_branch(cell) ? branches_ : conflicts_;
  const size_t at = static_cast<uint32_t>(cell) & ~kBranchBit;
  return at < bits.size() && bits[at];
}

bool CellSet::add(Cell cell) {
  if (contains(cell)) return false;
  std::vector<bool>& bits = is_of_branch(cell) ? branches_ : conflicts_;
  const size_t at = static_cast<uint32_t>(cell) & ~kBranchBit;
  if (at >= bits.size()) bits.resize(std::max<size_t>(at + 1, 2 * bits.size()));
  bits[at] = true;
  ++size_;
  return true;
}

void ConflictNotes::see(DispatchId dispatch, const ScannedConflicts& latest) {
  const auto note = [&](Stamp stamp) {
    if (stamp > 0) pairs_.push_back({DispatchId(static_cast<size_t>(stamp - 1)), dispatch});
  };
  note(latest.write);
  if (latest.any != latest.write) note(latest.any);
}

std::vector<Cell> new_cells_of(const Program& encoded, const ConflictNotes& notes,
                               std::span<const uint64_t> branches, const CellSet& known) {
  CellScan scan(encoded, known);
  if (!encoded.dispatches.empty()) {  // Else a stop came.
    const std::vector<PairPlace> places = places_of(encoded, notes.pairs());
    for (size_t i = 0; i < places.size(); ++i) scan.add_pair(notes.pairs()[i], places[i]);
  }
  for (const uint64_t number : branches) {
    if (number < kBranchNumbersMax) scan.add(Cell{kBranchBit | static_cast<uint32_t>(number)});
  }
  return std::move(scan).take();
}

std::vector<Cell> new_cells_of(const Program& encoded, const CellSet& known) {
  if (!find_alias_violations(encoded, 1).empty()) return {};
  const ByteSegments segments(encoded);
  ConflictNotes notes;
  ConflictObserver* const observers[] = {&notes};
  scan_conflicts(encoded, segments, observers);
  return new_cells_of(encoded, notes, {}, known);
}

}  // namespace interlock
