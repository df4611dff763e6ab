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
    const auto [known, is_new] =
        places_.try_emplace({key[0], key[1]}, Place{place, bytes.size(), true});
    known->second.is_unique = known->second.is_unique && is_new;
  }
  log_.clear();
  log_.seekg(start);
}

const ExactIndex::Place* ExactIndex::find_place(uint64_t submission, uint64_t slot) const {
  const auto found = places_.find({submission, slot});
  return found == places_.end() || !found->second.is_unique ? nullptr : &found->second;
}

uint64_t ExactIndex::size_of(uint64_t submission, uint64_t slot) const {
  const Place* const place = find_place(submission, slot);
  return place == nullptr ? 0 : place->size_bytes;
}

std::optional<ExactAccessesRecord> ExactIndex::find(uint64_t submission, uint64_t slot) {
  const Place* const place = find_place(submission, slot);
  if (place == nullptr) return std::nullopt;
  const std::streamoff before = log_.tellg();
  log_.seekg(place->begin);
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
