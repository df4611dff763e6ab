#include "encoder/kernel/row_parts.h"

#include <algorithm>
#include <span>

namespace interlock {
namespace {

// Where the next byte of the rows in `accesses` is.
class RowCursor {
 public:
  RowCursor(std::span<const Access> accesses, size_t first, size_t end)
      : accesses_(accesses), access_(first), end_(end) {
    skip_ended();
  }

  bool is_at_end() const { return access_ == end_; }
  uint64_t left_bytes() const { return accesses_[access_].range.size_bytes() - offset_bytes_; }
  RowPart::Operand place() const { return {access_, offset_bytes_}; }

  // Requires: at most left_bytes().
  void pass(uint64_t size_bytes) {
    offset_bytes_ += size_bytes;
    skip_ended();
  }

 private:
  void skip_ended() {
    while (access_ < end_ && offset_bytes_ == accesses_[access_].range.size_bytes()) {
      ++access_;
      offset_bytes_ = 0;
    }
  }

  std::span<const Access> accesses_;
  size_t access_;
  size_t end_;
  uint64_t offset_bytes_ = 0;
};

}  // namespace

bool takes_rows(const KernelEntry& entry) { return entry.is_bytewise && !entry.is_variadic; }

bool has_rows(const Program& program, const Dispatch& dispatch) {
  if (program.strides.empty() || kernel_entry(dispatch.kernel).is_variadic) return false;
  return std::ranges::any_of(program.accesses_of(dispatch), [](const Access& access) {
    return access.stride != Access::kNotStrided;
  });
}

void for_each_row_part(const Program& program, const Dispatch& dispatch,
                       const std::function<void(const RowPart&)>& take) {
  const std::span<const Access> accesses = program.accesses_of(dispatch);
  // Clauses stand in this order.
  const size_t read_count =
      static_cast<size_t>(std::ranges::count_if(accesses, &Access::only_reads));
  RowCursor from(accesses, 0, read_count);
  RowCursor to(accesses, read_count, accesses.size());
  while (!to.is_at_end()) {
    RowPart part;
    part.size_bytes = to.left_bytes();
    if (read_count > 0) {
      part.size_bytes = std::min(part.size_bytes, from.left_bytes());
      part.operands[part.operand_count++] = from.place();
      from.pass(part.size_bytes);
    }
    part.operands[part.operand_count++] = to.place();
    to.pass(part.size_bytes);
    take(part);
  }
}

KernelParams params_of(const RowPart& part, const KernelParams& params) {
  KernelParams of_part = params;
  of_part.element_count = part.size_bytes;
  of_part.block = part.size_bytes;
  return of_part;
}

}  // namespace interlock
