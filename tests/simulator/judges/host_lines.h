// HostLines: the copies of each byte of a tiny program, as host_cache.h has them, and how they get
// from one to another.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

// One value for each byte, 0 for the initial one: who wrote it, which says it all as long as
// everybody has found what the reference run has; else what is written follows from what was read.
using ByteWriter = uint64_t;

enum class LineState : uint8_t { kAbsent, kClean, kDirty };

struct HostCacheState {
  size_t host = 0;    // Statements that the host has passed.
  size_t handed = 0;  // Of the queue: so many are submitted,
  size_t device = 0;  // and so many over.
  std::vector<uint64_t> counters;
  std::vector<ByteWriter> at_device;  // By byte. So below.
  std::vector<ByteWriter> at_host;
  std::vector<bool> is_bound_for_host;
  std::vector<ByteWriter> bound_for_host;
  std::vector<bool> is_bound_for_device;
  std::vector<ByteWriter> bound_for_device;
  std::vector<LineState> lines;    // By first byte of the atom.
  std::vector<ByteWriter> cached;  // By byte.
  ByteWriter host_reads = 0;       // Of all that the host has read.

  auto operator<=>(const HostCacheState&) const = default;
};

class HostLines {
 public:
  explicit HostLines(const Program& program) {
    size_t byte_count = 0;
    for (const Memory& memory : program.memories) {
      first_byte_.push_back(byte_count);
      byte_count += memory.size_bytes;
      for (uint64_t i = 0; i < memory.size_bytes; ++i) {
        const uint64_t atom = std::max<uint64_t>(memory.atom_bytes, 1);
        memory_of_.push_back(&memory);
        atom_of_.push_back(first_byte_.back() + i / atom * atom);
      }
    }
  }

  size_t byte_count() const { return atom_of_.size(); }
  size_t line_of(size_t byte) const { return atom_of_[byte]; }

  // With nothing cached, and nothing on its way.
  HostCacheState start() const {
    HostCacheState start;
    const size_t byte_count = atom_of_.size();
    for (std::vector<ByteWriter>* values : {&start.at_device, &start.at_host, &start.bound_for_host,
                                            &start.bound_for_device, &start.cached}) {
      values->assign(byte_count, 0);
    }
    start.is_bound_for_host.assign(byte_count, false);
    start.is_bound_for_device.assign(byte_count, false);
    start.lines.assign(byte_count, LineState::kAbsent);
    return start;
  }

  std::vector<size_t> bytes_of(const Access& access) const {
    std::vector<size_t> bytes;
    for (uint64_t i = access.range.begin; i < access.range.end; ++i) {
      bytes.push_back(first_byte_[access.memory.index] + i);
    }
    return bytes;
  }
  // Of all operands.
  std::set<size_t> bytes_of(std::span<const Access> accesses) const {
    std::set<size_t> all;
    for (const Access& access : accesses) {
      for (const size_t byte : bytes_of(access)) all.insert(byte);
    }
    return all;
  }
  std::set<size_t> with_atoms(const std::set<size_t>& bytes) const {
    std::set<size_t> all;
    for (const size_t byte : bytes) {
      for (size_t b = 0; b < atom_of_.size(); ++b) {
        if (atom_of_[b] == atom_of_[byte]) all.insert(b);
      }
    }
    return all;
  }
  bool has_lines(size_t byte) const { return memory_of_[byte]->atom_bytes > 0; }
  bool is_shared(size_t byte) const { return memory_of_[byte]->is_unified; }

  void deliver_to_host(HostCacheState& state, size_t byte) const {
    if (!state.is_bound_for_host[byte]) return;
    state.is_bound_for_host[byte] = false;
    state.at_host[byte] = std::exchange(state.bound_for_host[byte], 0);
  }
  void deliver_to_device(HostCacheState& state, size_t byte) const {
    if (!state.is_bound_for_device[byte]) return;
    state.is_bound_for_device[byte] = false;
    state.at_device[byte] = std::exchange(state.bound_for_device[byte], 0);
  }
  void write_at_host(HostCacheState& state, size_t byte, ByteWriter value) const {
    if (is_shared(byte)) {
      state.at_device[byte] = value;
      return;
    }
    state.at_host[byte] = value;
    state.is_bound_for_device[byte] = true;
    state.bound_for_device[byte] = value;
  }

  template <typename Visit>
  void for_each_in_line(size_t line, const Visit& visit) const {
    for (size_t b = 0; b < atom_of_.size(); ++b) {
      if (atom_of_[b] == line) visit(b);
    }
  }
  void fill(HostCacheState& state, size_t line) const {
    if (state.lines[line] != LineState::kAbsent) return;
    state.lines[line] = LineState::kClean;
    for_each_in_line(line, [&](size_t b) { state.cached[b] = state.at_host[b]; });
  }
  void drop(HostCacheState& state, size_t line) const {
    state.lines[line] = LineState::kAbsent;
    for_each_in_line(line, [&](size_t b) { state.cached[b] = 0; });
  }
  void write_back(HostCacheState& state, size_t line) const {
    if (state.lines[line] != LineState::kDirty) return;
    state.lines[line] = LineState::kClean;
    for_each_in_line(line, [&](size_t b) { write_at_host(state, b, state.cached[b]); });
  }

 private:
  std::vector<size_t> first_byte_;        // By memory.
  std::vector<const Memory*> memory_of_;  // By byte.
  std::vector<size_t> atom_of_;           // By byte: the first one of its atom.
};

}  // namespace interlock
