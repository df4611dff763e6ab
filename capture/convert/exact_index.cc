#include "capture/convert/exact_index.h"

#include <cstring>

#include "capture/log/log_reader.h"
#include "encoder/program/stop.h"

namespace interlock {

void ExactIndex::scan() {
  if (is_scanned_) return;
  is_scanned_ = true;
  const std::streamoff start = log_.tellg();
  if (start < 0) return;
  LogReader reader(log_, name_);
  for (std::streamoff place = start; !is_stopped(); place = log_.tellg()) {
    const Result<std::optional<LogRecord>> record = reader.next();
    if (!record || !record->has_value()) break;
    const std::span<const std::byte> bytes = (*record)->bytes;
    uint64_t key[2] = {};  // As the record begins.
    if ((*record)->kind != RecordKind::kExactAccesses || bytes.size() < sizeof(key)) continue;
    std::memcpy(key, bytes.data(), sizeof(key));
    places_[{key[0], key[1]}] = place;
  }
  log_.clear();
  log_.seekg(start);
}

std::optional<ExactAccessesRecord> ExactIndex::find(uint64_t submission, uint64_t slot) {
  const auto place = places_.find({submission, slot});
  if (place == places_.end()) return std::nullopt;
  const std::streamoff before = log_.tellg();
  log_.seekg(place->second);
  LogReader reader(log_, name_);
  std::optional<ExactAccessesRecord> found;
  const Result<std::optional<LogRecord>> record = reader.next();
  if (record && record->has_value()) {
    if (const Result<ExactAccessesRecord> read = parsed<ExactAccessesRecord>(reader, **record)) {
      found = *read;
    }
  }
  log_.clear();
  log_.seekg(before);
  return found;
}

}  // namespace interlock
