// What the host reads and writes in statements of its own (`host reads x`, `host writes x = …`):
// done by the host in memory that it reaches, or as copies where the device alone does.
//
// A host write that names no values is no part of this: it writes what an opaque kernel would.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "backends/interface/device_layout.h"
#include "backends/interface/image.h"
#include "encoder/program/program.h"

namespace interlock {

// Whether the statement is carried out by the functions below: the host reads, or writes values
// that the program names.
bool is_host_transfer(const Program& program, DispatchId dispatch);

// The values that a host write names, into `bytes`, which are those of its operand.
// Requires: is_host_transfer(), of a write.
void store_host_value(const Program& program, DispatchId dispatch, std::span<uint8_t> bytes);

// Where what the host reads goes: its place in `host_reads`. Requires: it is of the host.
std::vector<uint8_t>& host_read_of(const Program& program, DispatchId dispatch,
                                   std::vector<std::vector<uint8_t>>& host_reads);

// Carries it out in memories that start at `starts`, by MemoryId; what is read goes to its place in
// `host_reads`, which has one for each of the host's dispatches (MemoryImage). Requires:
// is_host_transfer().
void run_host_transfer(const Program& program, DispatchId dispatch,
                       std::span<uint8_t* const> starts,
                       std::vector<std::vector<uint8_t>>& host_reads);

// The host's statements of a run as copies within the device's allocation: from room that holds the
// values to the memory, or from the memory to room that is read back when the run is over.
class HostCopies {
 public:
  struct Copy {
    DeviceRange source;
    DeviceRange destination;
  };

  explicit HostCopies(const Program& program) : program_(program) {}

  // Returns the copies of the statement, whose room it takes. Requires: is_host_transfer().
  std::vector<Copy> lower(DispatchId dispatch, DeviceLayout& layout);

  bool is_empty() const { return values_.empty() && reads_.empty(); }

  // One past the last byte of the room that is read back; 0 if there is none.
  uint64_t reads_end_bytes() const;

  // Writes the values into the bytes that the allocation starts with.
  void store(uint8_t* bytes) const;

  // Returns what the host has read, as MemoryImage has it.
  std::vector<std::vector<uint8_t>> load(const uint8_t* bytes) const;

 private:
  struct Room {
    DispatchId dispatch;
    DeviceRange range;  // Of one operand.
  };

  const Program& program_;
  std::vector<Room> values_;
  std::vector<Room> reads_;
};

}  // namespace interlock
