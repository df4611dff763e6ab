#include "capture/convert/addressed_operands.h"

#include <vulkan/vulkan_core.h>

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "capture/convert/captured_bytes.h"

namespace interlock {
namespace {

// Of a dispatch, before those that overlap are one.
constexpr size_t kAddressedOperandsMax = 1u << 16;
constexpr uint64_t kAddressedStepsMax = 1u << 22;

// What is not known, and bounded.
constexpr std::string_view kAnyAddress =
    "a dispatch or draw by addresses that are in no push constant (it may touch every buffer whose "
    "address was asked for)";
constexpr std::string_view kReckonedAddress =
    "a dispatch or draw by an address that is reckoned of one in the push constants (it is taken to "
    "stay in that one's buffer)";
constexpr std::string_view kBoundedAddresses =
    "a dispatch or draw by addresses of buffers (what it touches there is bounded, not measured)";

class AddressedFinder {
 public:
  AddressedFinder(const PushedConstants& pushed, const CapturedAddresses& addresses,
                  CaptureSummary& summary)
      : pushed_(pushed), addresses_(addresses), summary_(summary) {}

  AddressedOperands find(const std::vector<AddressUse>& uses) {
    if (summary_.is_exact) summary_.remark(kBoundedAddresses);
    for (const AddressUse& use : uses) {
      if (add_pushed(use)) continue;
      add_every_addressed(use);
      result_.may_be_any = true;
    }
    if (is_reckoned_) summary_.remark(kReckonedAddress);
    if (result_.may_be_any && addresses_.all().empty()) {
      note("an address of a buffer that was never asked for");
    } else if (result_.may_be_any) {
      summary_.remark(kAnyAddress);
    }
    return std::move(result_);
  }

 private:
  void note(std::string_view what) {
    summary_.note(what);
    result_.is_understood = false;
  }

  // From the place on that an address in the push constants names; all of a buffer where it is
  // reckoned of such an address. False if it may be another buffer's.
  bool add_pushed(const AddressUse& use) {
    bool is_any_known = false;
    bool has_computed = false;
    for (const AddressOrigin& origin : use.origins) {
      if (!has_room()) return true;
      ++result_.step_count;
      const std::optional<uint64_t> number = pushed_.address_at(origin.offset_bytes);
      has_computed = has_computed || origin.is_computed;
      // A constant that something is reckoned of may be shorter, and what follows was not pushed.
      if (!number && !origin.is_computed) return false;
      // Nothing is touched through one that is null.
      if (!number || *number == 0) continue;
      bool is_known = add_at(*number, origin.is_computed, use);
      if (origin.is_computed) {
        // The end of a buffer leads back into it. A small number is none itself, but added to one.
        is_known = add_at(*number - 1, true, use) || is_known;
        if (!is_known && !may_be_address(*number)) continue;
      }
      if (!is_known) return false;
      is_any_known = true;
    }
    is_reckoned_ = is_reckoned_ || (has_computed && is_any_known);
    return !use.origins.empty() && (is_any_known || !has_computed);
  }

  // What has this address, from there on or `as_whole`. False if it is not known, or not all of it.
  bool add_at(uint64_t address, bool as_whole, const AddressUse& use) {
    const CapturedAddresses::Found found = addresses_.find(address);
    result_.step_count += found.step_count;
    for (const auto& [buffer, offset_bytes] : found.places) {
      if (!has_room()) break;
      add_addressed_buffer(*buffer, as_whole ? 0 : offset_bytes, use);
    }
    return found.is_complete && !found.places.empty();
  }

  // What is not so large as half of the least address is an index or a size.
  bool may_be_address(uint64_t number) const {
    const std::optional<uint64_t> least = addresses_.least();
    return least && number >= *least / 2;
  }

  void add_every_addressed(const AddressUse& use) {
    for (const auto& [key, buffer] : addresses_.all()) {
      if (!has_room()) return;
      ++result_.step_count;
      add_addressed_buffer(*buffer, 0, use);
    }
  }

  void add_addressed_buffer(const CapturedBuffer& buffer, uint64_t offset_bytes,
                            const AddressUse& use) {
    if (buffer.memory == nullptr) return note("an address of a buffer whose memory is not known");
    for (const CapturedBytes& part : bounds_of(bytes_of(buffer, offset_bytes, VK_WHOLE_SIZE))) {
      if (use.is_loaded) result_.operands.push_back({part, AccessMode::kRead});
      if (use.is_stored) result_.operands.push_back({part, AccessMode::kWrite});
    }
  }

  // For more by addresses.
  bool has_room() {
    if (result_.operands.size() < kAddressedOperandsMax &&
        result_.step_count <= kAddressedStepsMax) {
      return true;
    }
    if (result_.is_understood) note("addresses of too many buffers");
    return false;
  }

  const PushedConstants& pushed_;
  const CapturedAddresses& addresses_;
  CaptureSummary& summary_;
  AddressedOperands result_;
  bool is_reckoned_ = false;  // Something is touched by an address that is.
};

}  // namespace

AddressedOperands addressed_operands_of(const std::vector<AddressUse>& uses,
                                        const PushedConstants& pushed,
                                        const CapturedAddresses& addresses,
                                        CaptureSummary& summary) {
  return AddressedFinder(pushed, addresses, summary).find(uses);
}

}  // namespace interlock
