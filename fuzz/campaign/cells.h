// Cells: what parts of the space of programs one reaches, as its encoder has made it. Two operands
// in conflict are in a cell for the kernel on either side, "WAR-donation-layer_norm_vjp-full", and
// in one for where they stand, "WAR-donation-full-after-16": the kind of hazard that they would be,
// how they came to share bytes, what orders them, and how many outputs its epoch had before the
// first. What orders them, cell_places.h has words for. Where the encoder tells of its branches,
// each of them and about how often it was taken is a cell, too, "branch-17-3".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/program.h"
#include "fuzz/campaign/cell_places.h"
#include "simulator/bytes/conflict_scan.h"

namespace interlock {

// A number that says what the cell is; in another build it may be another.
enum class Cell : uint32_t {};

std::string cell_name(Cell cell);

// None: no cell of this build has the name.
std::optional<Cell> cell_of(std::string_view name);

bool is_of_branch(Cell cell);

class CellSet {
 public:
  bool contains(Cell cell) const;
  // False: it was there.
  bool add(Cell cell);
  size_t size() const { return size_; }

 private:
  std::vector<bool> conflicts_;
  std::vector<bool> branches_;
  size_t size_ = 0;
};

// Notes for each dispatch the latest that it conflicts with, by kind.
class ConflictNotes final : public ConflictObserver {
 public:
  void see(DispatchId dispatch, const ScannedConflicts& latest) override;

  const std::vector<DispatchPair>& pairs() const { return pairs_; }

 private:
  std::vector<DispatchPair> pairs_;
};

// The cells of `encoded`, and those of `branches`, numbers as Encoding::branches has them, that
// `known` has not, each once; at most kJournalNamesOfRunMax. Requires: `notes` has seen the
// dispatches. Cost: linear in the operands of the pairs, and in the rest.
std::vector<Cell> new_cells_of(const Program& encoded, const ConflictNotes& notes,
                               std::span<const uint64_t> branches, const CellSet& known);

// As above, without branches; none of a program in which two operands of one dispatch may not
// overlap as they do, which is no case for an encoder. Cost: that of scan_conflicts(), too.
std::vector<Cell> new_cells_of(const Program& encoded, const CellSet& known);

}  // namespace interlock
