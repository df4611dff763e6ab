// LogReader: the records of a log, one after the other, in memory for one of them at a time. A log
// is untrusted input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "capture/log/fields.h"
#include "capture/log/record_kind.h"
#include "encoder/program/result.h"

namespace interlock {

struct LogRecord {
  RecordKind kind = RecordKind::kNone;
  uint64_t offset_bytes = 0;  // In the file.
  std::span<const std::byte> bytes;
};

class LogReader {
 public:
  // `name` is that of the file, for errors. Requires: `input` outlives this.
  LogReader(std::istream& input, std::string name) : input_(input), name_(std::move(name)) {}

  // Reads the header; once, first. Errors: this is no log, or of a version that is not known.
  Result<Success> open();

  // The next record; none at the end, which a process that was killed may have left anywhere. What
  // it points to is there until the next call. A file that ends within a record is cut, no error.
  // Errors: a record longer than any is.
  Result<std::optional<LogRecord>> next();

  // Why the writer stopped before its application did: an errno; 0 if it did not.
  uint32_t write_error() const { return write_error_; }
  // Whether the file ended within a record.
  bool is_cut() const { return is_cut_; }
  // A sentence on either; empty if the log is whole.
  std::string why_cut() const;

  // An error about a record of this log.
  Error error_at(uint64_t offset_bytes, const std::string& sentence) const;

 private:
  std::istream& input_;
  std::string name_;
  std::vector<std::byte> bytes_;
  uint64_t offset_bytes_ = 0;
  uint32_t write_error_ = 0;
  bool is_cut_ = false;
};

// The record as what its kind says. Requires: `record.kind` is Record::kKind.
// Errors: it has fewer bytes than its fields need, or more.
template <typename Record>
Result<Record> parsed(const LogReader& reader, const LogRecord& record) {
  Record result;
  ParsedFields fields(record.bytes);
  Record::each_field(result, fields);
  if (!fields.is_whole()) {
    return reader.error_at(record.offset_bytes, "the record ends within its fields.");
  }
  if (fields.rest_bytes() > 0) {
    return reader.error_at(record.offset_bytes, "the record goes on after its fields.");
  }
  return result;
}

}  // namespace interlock
