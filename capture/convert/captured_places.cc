#include "capture/convert/captured_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

namespace interlock {
namespace {

constexpr size_t kForeignMax = 100'000;

// Takes "s3" off the text, if it begins so.
std::optional<uint64_t> take_number(std::string_view& text, char letter) {
  if (text.empty() || text.front() != letter) return std::nullopt;
  uint64_t number = 0;
  const char* const begin = text.data() + 1;
  const auto [rest, error] = std::from_chars(begin, text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(rest - text.data()));
  if (!text.empty()) {
    if (text.front() != '.') return std::nullopt;
    text.remove_prefix(1);
  }
  return number;
}

}  // namespace

std::string text_of(const CapturedPlace& place) {
  if (place.command == CapturedPlace::kSubmission) return fmt::format("s{}", place.submission);
  return fmt::format("s{}.b{}.c{}", place.submission, place.buffer, place.command);
}

std::optional<CapturedPlace> place_of_label(std::string_view label) {
  const auto submission = take_number(label, 's');
  const auto buffer = submission ? take_number(label, 'b') : std::nullopt;
  const auto command = buffer ? take_number(label, 'c') : std::nullopt;
  if (!command) return std::nullopt;
  return CapturedPlace{*submission, *buffer, *command};
}

std::string text_of(const CodePlace& place) {
  return fmt::format("{}+{:#x}", place.file->substr(place.file->rfind('/') + 1), place.offset);
}

void CapturedPlaces::add(const CapturedPlace& place, std::shared_ptr<const CommandOrigin> origin) {
  origins_.emplace_back(place, std::move(origin));
}

const CommandOrigin* CapturedPlaces::find(const CapturedPlace& place) const {
  const auto found = std::ranges::lower_bound(
      origins_, place, {}, [](const auto& entry) -> const CapturedPlace& { return entry.first; });
  return found == origins_.end() || found->first != place ? nullptr : found->second.get();
}

bool CapturedPlaces::is_addressed(const CapturedPlace& place) const {
  return std::ranges::binary_search(addressed_, place);
}

void CapturedPlaces::add(ForeignHazard hazard) {
  if (foreign_.size() < kForeignMax) {
    foreign_.push_back(std::move(hazard));
  } else {
    ++lost_foreign_count_;
  }
}

}  // namespace interlock
