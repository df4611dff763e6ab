// The file of a log: a header of kLogHeaderBytes, then records, each with a head. All is
// little-endian. What ends early is whole up to there: the head of a record is written last.
#pragma once

#include <cstddef>
#include <cstdint>

namespace interlock {

struct LogHeader {
  char magic[8] = {'I', 'L', 'K', 'C', 'A', 'P', 'T', 'R'};
  uint32_t version = 2;
  // Why the writer stopped before its application did: an errno; 0 if it did not.
  uint32_t write_error = 0;
};

struct RecordHead {
  uint32_t size_bytes = 0;  // Of what follows the head, and one: so 0 means that none was written.
  uint32_t kind = 0;        // RecordKind.
};

inline constexpr size_t kLogHeaderBytes = sizeof(LogHeader);
inline constexpr size_t kRecordHeadBytes = sizeof(RecordHead);
inline constexpr uint64_t kRecordBytesMax = 64ull << 20;  // Of what follows the head.

}  // namespace interlock
