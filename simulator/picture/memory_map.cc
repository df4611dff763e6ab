// The basic idea: the accesses of the rows that are shown cut a memory into a few segments; then
// one walk over all statements carries along what each segment holds. What touches a part of a
// segment makes it mixed, so that no owner is claimed of bytes that it does not have.
#include "simulator/picture/memory_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "encoder/program/stop.h"
#include "simulator/lifetimes/held_value.h"
#include "simulator/picture/segments.h"
#include "simulator/report/operand_text.h"

namespace interlock {
namespace {

// What a segment holds, and since when.
struct SegmentOwner {
  HeldValue held;
  DispatchId writer;  // Of a raw write.
  bool is_mixed = false;
  uint32_t row = kNone32;  // None: from the start.
};

// What a row does to a segment.
struct SegmentTouch {
  uint64_t read_count = 0;
  uint64_t write_count = 0;
  std::vector<AccessRef> accesses;  // The first ones; none of a fold.

  bool operator==(const SegmentTouch&) const = default;
};

using SegmentPlace = std::pair<uint32_t, uint32_t>;  // Memory and segment.
using SegmentTouches = std::map<SegmentPlace, SegmentTouch>;

constexpr size_t kAccessesNamed = 2;

class MemoryWalk {
 public:
  MemoryWalk(const Program& program, const FoldedRows& folded, const Finding* finding,
             Picture& picture)
      : program_(program),
        folded_(folded),
        finding_(finding),
        picture_(picture),
        holdings_(program),
        column_of_(program.memories.size(), kNone32) {
    for (uint32_t i = 0; i < picture.memories.size(); ++i) {
      column_of_[picture.memories[i].memory.index] = i;
      owners_.emplace_back(picture.memories[i].boundaries.size() - 1);
    }
  }

  void run(const RunOrder& order) {
    for (size_t i = 0; i < program_.tensors.size(); ++i) {
      const Tensor& tensor = program_.tensors[i];
      if (tensor.initial.kind == InitialKind::kNone) continue;
      change(tensor.memory, tensor.range, kNone32,
             [&](SegmentOwner& owner) { owner.held = written_value(TensorId(i)); });
    }
    for (uint64_t i = 0; i < order.ran_count && !is_stopped_at(i); ++i) see(order.statements[i]);
    flush_row();
    emit_folds();
    for (uint32_t column = 0; column < owners_.size(); ++column) {
      for (uint32_t k = 0; k < owners_[column].size(); ++k) close(column, k, kNone32);
    }
    merge_owners();
  }

 private:
  void see(StatementId id) {
    const Statement& statement = program_.statements[id.index];
    const uint32_t row = folded_.row_of[id.index];
    if (row != row_) flush_row();
    row_ = row;
    if (statement.kind == StatementKind::kDispatch) {
      see_dispatch(DispatchId(size_t{statement.index}));
    } else if (statement.kind == StatementKind::kLifetime) {
      see_lifetime(LifetimeId(size_t{statement.index}));
    }
  }

  void see_dispatch(DispatchId id) {
    const std::span<const Access> accesses = program_.accesses_of(id);
    const bool is_transition = program_.dispatch(id).is_transition();
    for (uint32_t k = 0; k < accesses.size(); ++k) {
      if (column_of_[accesses[k].memory.index] != kNone32) touch(id, k);
    }
    for (const Access& access : accesses) {
      if (access.only_reads() || (is_transition && access.reads_plainly())) continue;
      const TensorId root =
          access.tensor.is_some() ? program_.tensor(access.tensor).root : TensorId();
      change(access.memory, access.range, row_, [&](SegmentOwner& owner) {
        owner.held = is_transition ? HeldValue{} : written_value(root);
        owner.writer = root.is_some() || is_transition ? DispatchId() : id;
        owner.is_mixed = false;
      });
    }
  }

  void see_lifetime(LifetimeId id) {
    const Lifetime& lifetime = program_.lifetimes[id.index];
    holdings_.count_pin(lifetime);
    change(lifetime.memory, affected_by(program_, lifetime), row_,
           [&](SegmentOwner& owner) { holdings_.apply(id, owner.held); });
  }

  // Lets `how` change the owner of each segment within `bytes`; those that are cut become mixed.
  template <typename How>
  void change(MemoryId memory, ByteRange bytes, uint32_t row, How how) {
    const uint32_t column = column_of_[memory.index];
    if (column == kNone32 || bytes.is_empty()) return;
    const std::vector<uint64_t>& boundaries = picture_.memories[column].boundaries;
    const auto [first, count] = segments_of(boundaries, bytes);
    for (uint32_t k = first; k < first + count; ++k) {
      SegmentOwner& owner = owners_[column][k];
      SegmentOwner changed = owner;
      if (bytes.contains({boundaries[k], boundaries[k + 1]})) {
        how(changed);
      } else {
        changed.is_mixed = true;
      }
      const bool is_same = changed.held == owner.held && changed.writer == owner.writer &&
                           changed.is_mixed == owner.is_mixed;
      if (is_same) continue;
      close(column, k, row);
      changed.row = row;
      owner = changed;
    }
  }

  void close(uint32_t column, uint32_t segment, uint32_t row) {
    const SegmentOwner& owner = owners_[column][segment];
    if (row == owner.row && row != kNone32) return;
    OwnerRun run{.memory = column,
                 .first_segment = segment,
                 .segment_count = 1,
                 .first_row = owner.row,
                 .last_row = row};
    describe(owner, run);
    if (run.kind != OwnerKind::kNothing) picture_.owners.push_back(std::move(run));
  }

  void describe(const SegmentOwner& owner, OwnerRun& run) {
    if (owner.is_mixed) {
      run.kind = OwnerKind::kMixed;
      run.label = "several values";
      return;
    }
    const std::string name(owner.held.owner.is_some() ? name_of(program_, owner.held.owner) : "");
    if (owner.held.is_ended()) {
      run.kind = OwnerKind::kEnded;
      run.label = name.empty() ? "ended" : name + ", ended";
    } else if (owner.held.kind == HeldKind::kValue) {
      run.kind = OwnerKind::kValue;
      run.label = name;
      const auto next = static_cast<uint32_t>(colours_.size());
      run.colour = colours_.emplace(owner.held.owner, next).first->second;
    } else if (owner.held.kind == HeldKind::kUnknown && owner.writer.is_some()) {
      run.kind = OwnerKind::kRaw;
      run.label = "of " + program_.description_of(owner.writer);
      run.colour = raw_count_++;
    }
  }

  void touch(DispatchId id, uint32_t index) {
    const Access& access = program_.accesses_of(id)[index];
    const uint32_t column = column_of_[access.memory.index];
    const auto [first, count] = segments_of(picture_.memories[column].boundaries, access.range);
    if (row_ == kNone32) return;
    const PictureRow& row = picture_.rows[row_];
    const bool is_fold = row.kind == RowKind::kFold;
    const uint32_t fold = is_fold ? row_ : row.fold;
    for (uint32_t k = first; k < first + count; ++k) {
      if (fold != kNone32) add(access, folds_[fold][{column, k}]);
      if (is_fold) continue;
      SegmentTouch& touched = touches_[{column, k}];
      add(access, touched);
      const AccessRef ref{id, index};
      // What the finding names comes first.
      if (is_named(ref)) {
        touched.accesses.insert(touched.accesses.begin(), ref);
      } else if (touched.accesses.size() < kAccessesNamed) {
        touched.accesses.push_back(ref);
      }
    }
  }

  static void add(const Access& access, SegmentTouch& touched) {
    touched.read_count += access.has_read_side() ? 1 : 0;
    touched.write_count += access.has_write_side() ? 1 : 0;
  }

  bool is_named(AccessRef ref) const {
    if (finding_ == nullptr) return false;
    return finding_->first == ref || (finding_->second && *finding_->second == ref);
  }

  void flush_row() {
    emit(row_, touches_);
    touches_.clear();
  }

  // Neighbouring segments of which the row does the same are one cell.
  void emit(uint32_t row, const SegmentTouches& touches) {
    const SegmentTouch* before = nullptr;
    for (const auto& [place, touched] : touches) {
      const auto [memory, segment] = place;
      const bool joins =
          before != nullptr && *before == touched && picture_.cells.back().memory == memory &&
          picture_.cells.back().first_segment + picture_.cells.back().segment_count == segment;
      before = &touched;
      if (joins) {
        ++picture_.cells.back().segment_count;
        continue;
      }
      MapCell cell{.row = row,
                   .memory = memory,
                   .first_segment = segment,
                   .segment_count = 1,
                   .read_count = touched.read_count,
                   .write_count = touched.write_count,
                   .label = label_of(touched)};
      cell.is_in_finding = !touched.accesses.empty() && is_named(touched.accesses.front());
      picture_.cells.push_back(std::move(cell));
    }
  }

  std::string label_of(const SegmentTouch& touched) const {
    if (touched.accesses.empty()) {
      return fmt::format("{} write{}, {} read{}", touched.write_count,
                         touched.write_count == 1 ? "" : "s", touched.read_count,
                         touched.read_count == 1 ? "" : "s");
    }
    std::string label;
    for (const AccessRef ref : touched.accesses) {
      const Access& access = access_of(program_, ref);
      label += fmt::format("{}{} {}", label.empty() ? "" : ", ", verb_of(access),
                           program_.text_of(access));
      if (is_named(ref)) break;
    }
    return label;
  }

  void emit_folds() {
    for (const auto& [row, touches] : folds_) emit(row, touches);
    std::ranges::stable_sort(picture_.cells, {}, &MapCell::row);
  }

  // Neighbours that say the same are one.
  void merge_owners() {
    std::vector<OwnerRun>& owners = picture_.owners;
    const auto key = [](const OwnerRun& run) {
      return std::tuple(run.memory, run.first_row, run.last_row, run.first_segment);
    };
    std::ranges::sort(owners, {}, key);
    std::vector<OwnerRun> merged;
    for (OwnerRun& run : owners) {
      const bool joins =
          !merged.empty() && merged.back().memory == run.memory &&
          merged.back().first_row == run.first_row && merged.back().last_row == run.last_row &&
          merged.back().kind == run.kind && merged.back().label == run.label &&
          merged.back().first_segment + merged.back().segment_count == run.first_segment;
      if (joins) {
        merged.back().segment_count += run.segment_count;
      } else {
        merged.push_back(std::move(run));
      }
    }
    owners = std::move(merged);
  }

  const Program& program_;
  const FoldedRows& folded_;
  const Finding* finding_;
  Picture& picture_;
  Holdings holdings_;
  std::vector<uint32_t> column_of_;                // By memory.
  std::vector<std::vector<SegmentOwner>> owners_;  // By column and segment.
  uint32_t raw_count_ = 0;
  std::map<TensorId, uint32_t> colours_;      // In the order in which runs end.
  uint32_t row_ = kNone32;                    // Of the statement that is seen.
  SegmentTouches touches_;                    // Of that row.
  std::map<uint32_t, SegmentTouches> folds_;  // By the row of the fold.
};

}  // namespace

void draw_memory(const Program& program, const RunOrder& order, const FoldedRows& folded,
                 const Finding* finding, const PictureLimits& limits, Picture& picture) {
  cut_memories(program, finding, limits, picture);
  MemoryWalk(program, folded, finding, picture).run(order);
}

}  // namespace interlock
