#include "capture/convert/place_notes.h"

#include <fmt/format.h>

#include <algorithm>

#include "capture/convert/summary.h"

namespace interlock {
namespace {

// Each command below labels has them: no more is kept than one would read.
constexpr size_t kLabelsShown = 4;
constexpr size_t kOpenLabelsMax = 1000;
constexpr size_t kCallersMax = 16;
constexpr size_t kLabelTextMax = 64;

}  // namespace

void CallerBook::add_module(uint64_t begin, uint64_t end, uint64_t bias, const std::string& path) {
  modules_[begin] = {end, bias, std::make_shared<const std::string>(printable(path))};
}

void CallerBook::set(uint64_t handle, const std::vector<uint64_t>& addresses) {
  next_[handle].assign(addresses.begin(), addresses.begin() + static_cast<ptrdiff_t>(std::min(
                                                                  addresses.size(), kCallersMax)));
}

void CallerBook::add_label(uint64_t handle, std::string_view name) {
  Labels& labels = labels_[handle];
  if (labels.open.size() < kOpenLabelsMax) {
    labels.open.push_back(printable(name.substr(0, kLabelTextMax)));
  }
}

void CallerBook::remove_label(uint64_t handle) {
  Labels& labels = labels_[handle];
  if (!labels.open.empty()) labels.open.pop_back();
}

void CallerBook::insert_label(uint64_t handle, std::string_view name) {
  labels_[handle].inserted = printable(name.substr(0, kLabelTextMax));
}

void CallerBook::name_caller(uint64_t address, CommandOrigin& origin) const {
  auto found = modules_.upper_bound(address);
  if (found == modules_.begin()) return;
  --found;
  const Module& module = found->second;
  if (address >= module.end) return;
  origin.callers.push_back({module.path, address - module.bias});
}

std::shared_ptr<const CommandOrigin> CallerBook::take(uint64_t handle) {
  CommandOrigin origin;
  if (const auto callers = next_.find(handle); callers != next_.end()) {
    for (const uint64_t address : callers->second) name_caller(address, origin);
    next_.erase(callers);
  }
  if (const auto labels = labels_.find(handle); labels != labels_.end()) {
    std::vector<std::string>& open = labels->second.open;
    const size_t shown = std::min(open.size(), kLabelsShown);
    for (size_t i = open.size() - shown; i < open.size(); ++i) {
      origin.labels += (origin.labels.empty() ? "" : " / ") + open[i];
    }
    std::string& inserted = labels->second.inserted;
    if (!inserted.empty()) {
      origin.labels += (origin.labels.empty() ? "" : " / ") + inserted;
      inserted.clear();
    }
  }
  if (origin.labels.empty() && origin.callers.empty()) return nullptr;
  return std::make_shared<const CommandOrigin>(std::move(origin));
}

}  // namespace interlock
