#include "capture/convert/exact_index.h"

#include <algorithm>
#include <cstring>

#include "capture/log/log_reader.h"
#include "encoder/program/stop.h"

namespace interlock {

void ExactIndex::forget_before(std::streamoff here) {
  while (!in_order_.empty() && in_order_.begin()->first < here) {
    places_.erase(in_order_.begin()->second);
    in_order_.erase(in_order_.begin());
  }
}

void ExactIndex::look_ahead() {
  if (!is_begun_) return;
  const std::streamoff here = log_.tellg();
  if (here < 0) return;
  forget_before(here);
  looked_to_ = std::max(looked_to_, here);
  const auto ahead = static_cast<std::streamoff>(ahead_bytes_);
  // Not each time: whoever reads the log would have to read it anew.
  if (is_at_end_ || looked_to_ - here > ahead / 2) return;
  log_.seekg(looked_to_);
  LogReader reader(log_, name_);
  while (looked_to_ - here < ahead && !is_stopped()) {
    const std::streamoff place = looked_to_;
    const Result<std::optional<LogRecord>> record = reader.next();
    is_at_end_ = !record || !record->has_value();
    if (is_at_end_) break;
    looked_to_ = log_.tellg();
    const std::span<const std::byte> bytes = (*record)->bytes;
    uint64_t key[2] = {};  // As the record begins.
    if ((*record)->kind != RecordKind::kExactAccesses || bytes.size() < sizeof(key)) continue;
    std::memcpy(key, bytes.data(), sizeof(key));
    const auto [known, is_new] =
        places_.try_emplace({key[0], key[1]}, Place{place, bytes.size(), true});
    if (is_new) in_order_[place] = known->first;
    known->second.is_unique = known->second.is_unique && is_new;
  }
  log_.clear();
  log_.seekg(here);
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
