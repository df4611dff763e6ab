#include "capture/log/log_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "capture/log/log_format.h"
#include "encoder/program/error_of.h"

namespace interlock {
namespace {

// A record is read in pieces, so that a length that lies costs no more memory than the file has.
constexpr size_t kPieceBytes = size_t{1} << 20;

size_t read_some(std::istream& input, void* to, size_t size_bytes) {
  input.read(static_cast<char*>(to), static_cast<std::streamsize>(size_bytes));
  return static_cast<size_t>(input.gcount());
}

}  // namespace

std::string LogReader::why_cut() const {
  if (write_error_ == EBADF) {
    return "the application closed the file of the log, which cannot be opened again.";
  }
  if (write_error_ != 0) {
    return fmt::format("the log could not be written on: {}.",
                       std::strerror(static_cast<int>(write_error_)));
  }
  return is_cut_ ? "the log ends within a record." : "";
}

Error LogReader::error_at(uint64_t offset_bytes, const std::string& sentence) const {
  return error_of("{}: byte {}: error: {}", name_, offset_bytes, sentence);
}

Result<Success> LogReader::open() {
  LogHeader header;
  const size_t got = read_some(input_, &header, sizeof(header));
  const LogHeader known;
  if (got < sizeof(header) || std::memcmp(header.magic, known.magic, sizeof(known.magic)) != 0) {
    return error_at(0, "this is no log of `interlock capture`.");
  }
  if (header.version != known.version) {
    return error_at(0, fmt::format("the log is of version {}; this program reads version {}.",
                                   header.version, known.version));
  }
  write_error_ = header.write_error;
  offset_bytes_ = sizeof(header);
  return Success{};
}

Result<std::optional<LogRecord>> LogReader::next() {
  const std::optional<LogRecord> none;
  RecordHead head;
  const size_t got = read_some(input_, &head, sizeof(head));
  is_cut_ = got > 0 && got < sizeof(head);
  if (got < sizeof(head) || head.size_bytes == 0) return none;
  const size_t size_bytes = head.size_bytes - 1;
  if (size_bytes > kRecordBytesMax) {
    return error_at(offset_bytes_, fmt::format("a record of {} bytes; no record has more than {}.",
                                               size_bytes, kRecordBytesMax));
  }
  bytes_.clear();
  while (bytes_.size() < size_bytes) {
    const size_t before = bytes_.size();
    const size_t piece = std::min(size_bytes - before, kPieceBytes);
    bytes_.resize(before + piece);
    if (read_some(input_, bytes_.data() + before, piece) < piece) {
      is_cut_ = true;
      return none;
    }
  }
  LogRecord record;
  record.kind = static_cast<RecordKind>(head.kind);
  record.offset_bytes = offset_bytes_;
  record.bytes = bytes_;
  offset_bytes_ += kRecordHeadBytes + size_bytes;
  return std::optional<LogRecord>(record);
}

}  // namespace interlock
