#include "backends/interface/host_statements.h"

#include <algorithm>

#include "encoder/program/check.h"

namespace interlock {
namespace {

// Its position in Program::host_dispatches.
size_t host_position_of(const Program& program, DispatchId dispatch) {
  const auto found = std::ranges::lower_bound(program.host_dispatches, dispatch);
  INTERLOCK_CHECK(found != program.host_dispatches.end() && *found == dispatch);
  return static_cast<size_t>(found - program.host_dispatches.begin());
}

}  // namespace

void store_host_value(const Program& program, DispatchId dispatch, std::span<uint8_t> bytes) {
  const Access& access = program.accesses_of(dispatch).front();
  const DType dtype = access.tensor.is_some() ? program.tensor(access.tensor).dtype : DType::kF32;
  store_value(bytes, dtype, *program.host_value_of(dispatch));
}

std::vector<uint8_t>& host_read_of(const Program& program, DispatchId dispatch,
                                   std::vector<std::vector<uint8_t>>& host_reads) {
  return host_reads[host_position_of(program, dispatch)];
}

bool is_host_transfer(const Program& program, DispatchId dispatch) {
  switch (program.dispatch(dispatch).host) {
    case HostAccess::kNone:
      return false;
    case HostAccess::kReads:
      return true;
    case HostAccess::kWrites:
      return program.host_value_of(dispatch) != nullptr;
  }
  return false;
}

void run_host_transfer(const Program& program, DispatchId dispatch,
                       std::span<uint8_t* const> starts,
                       std::vector<std::vector<uint8_t>>& host_reads) {
  INTERLOCK_CHECK(is_host_transfer(program, dispatch));
  const auto accesses = program.accesses_of(dispatch);
  if (program.dispatch(dispatch).host == HostAccess::kWrites) {
    const Access& access = accesses.front();
    store_host_value(program, dispatch,
                     {starts[access.memory.index] + access.range.begin, access.range.size_bytes()});
    return;
  }
  std::vector<uint8_t>& read = host_read_of(program, dispatch, host_reads);
  for (const Access& access : accesses) {
    const uint8_t* const bytes = starts[access.memory.index] + access.range.begin;
    read.insert(read.end(), bytes, bytes + access.range.size_bytes());
  }
}

std::vector<HostCopies::Copy> HostCopies::lower(DispatchId dispatch, DeviceLayout& layout) {
  INTERLOCK_CHECK(is_host_transfer(program_, dispatch));
  const bool is_read = program_.dispatch(dispatch).host == HostAccess::kReads;
  std::vector<Copy> copies;
  for (const Access& access : program_.accesses_of(dispatch)) {
    const DeviceRange memory = layout.range_of(access);
    if (memory.size_bytes == 0) continue;
    const DeviceRange room = layout.take(memory.size_bytes, memory.offset_bytes);
    (is_read ? reads_ : values_).push_back({dispatch, room});
    copies.push_back(is_read ? Copy{memory, room} : Copy{room, memory});
  }
  return copies;
}

uint64_t HostCopies::reads_end_bytes() const {
  uint64_t end = 0;
  for (const Room& room : reads_) {
    end = std::max(end, room.range.offset_bytes + room.range.size_bytes);
  }
  return end;
}

void HostCopies::store(uint8_t* bytes) const {
  for (const Room& room : values_) {
    store_host_value(program_, room.dispatch,
                     {bytes + room.range.offset_bytes, room.range.size_bytes});
  }
}

std::vector<std::vector<uint8_t>> HostCopies::load(const uint8_t* bytes) const {
  std::vector<std::vector<uint8_t>> host_reads(program_.host_dispatches.size());
  for (const Room& room : reads_) {
    const uint8_t* const begin = bytes + room.range.offset_bytes;
    std::vector<uint8_t>& read = host_reads[host_position_of(program_, room.dispatch)];
    read.insert(read.end(), begin, begin + room.range.size_bytes);
  }
  return host_reads;
}

}  // namespace interlock
