// Copies between rows, with what they leave by definition.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "simulator/schedules/choice.h"

namespace interlock {

struct RowCopyCase {
  std::string text;                // Of a program with memories `m` and `out`.
  std::vector<uint8_t> m;          // At the end.
  std::vector<uint8_t> out;        // Likewise: what the rows of `m` held that were written.
  bool has_several_parts = false;  // Some row has bytes of several rows of the other side.
};

// Rows of `m` go to other rows of `m`, those to `out`, and last `out` is filled in rows of its own.
// The rows of both sides lie between each other, and need not be as wide.
inline RowCopyCase random_row_copy(Choice& choice) {
  const uint64_t unit = 1 + choice.below(5);
  const uint64_t reads_per_row = 1 + choice.below(3);
  const uint64_t writes_per_row = 1 + choice.below(3);
  const uint64_t size_bytes = unit * reads_per_row * writes_per_row;
  // Row k of what is read begins at k * pitch, and what is written lies after all widths.
  const uint64_t read_width = unit * reads_per_row;
  const uint64_t write_width = unit * writes_per_row;
  const uint64_t gap = choice.below(4);
  const uint64_t pitch = read_width + gap + write_width + choice.below(4);
  const uint64_t read_rows = writes_per_row;
  const uint64_t write_rows = reads_per_row;
  const uint64_t first_written = read_width + gap;
  const uint64_t memory_bytes = pitch * (read_rows > write_rows ? read_rows : write_rows);
  const uint64_t byte = choice.below(256);
  RowCopyCase result;
  result.has_several_parts = read_width != write_width;
  const std::string written = fmt::format("m[{}:{} rows {} pitch {} width {}]", first_written,
                                          memory_bytes, write_rows, pitch, write_width);
  result.text = fmt::format(
      "interlock 1\nmemory m {0}\nmemory out {1}\ntensor t u8[{0}] at m+0 = iota\n"
      "move: dispatch copy reads m[0:{0} rows {2} pitch {3} width {4}] writes {5}\nbarrier\n"
      "gather: dispatch copy reads {5} writes out\nbarrier\n"
      "mark: dispatch fill writes out[0:{1} rows {6} pitch {7} width 1] value={8}\n",
      memory_bytes, size_bytes, read_rows, pitch, read_width, written,
      (size_bytes + unit - 1) / unit, unit, byte);
  for (uint64_t i = 0; i < memory_bytes; ++i) result.m.push_back(static_cast<uint8_t>(i));
  for (uint64_t i = 0; i < size_bytes; ++i) {
    const auto moved = static_cast<uint8_t>(i / read_width * pitch + i % read_width);
    result.m[first_written + i / write_width * pitch + i % write_width] = moved;
    result.out.push_back(i % unit == 0 ? static_cast<uint8_t>(byte) : moved);
  }
  return result;
}

}  // namespace interlock
