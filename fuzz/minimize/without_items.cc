#include "fuzz/minimize/without_items.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

namespace interlock {
namespace {

// What an operation comes after once others are gone, the names as they are found.
class HandedOnEdges {
 public:
  void drop(const DispatchDraft& dispatch) {
    if (!dispatch.label.empty()) after_dropped_.emplace(dispatch.label, names_after(dispatch));
  }

  bool has_dropped() const { return !after_dropped_.empty(); }

  bool names_dropped(const DispatchDraft& dispatch) const {
    return std::ranges::any_of(
        dispatch.after, [&](const std::string& name) { return after_dropped_.contains(name); });
  }

  // Of dispatches that stay. The views are of the drafts of dispatches.
  std::vector<std::string_view> names_after(const DispatchDraft& dispatch) const {
    std::vector<std::string_view> names;
    std::unordered_set<std::string_view> known;
    const auto add = [&](std::string_view name) {
      if (names.size() < kHandedOnEdgesMax && known.insert(name).second) names.push_back(name);
    };
    for (const std::string& name : dispatch.after) {
      const auto dropped = after_dropped_.find(name);
      if (dropped == after_dropped_.end()) {
        add(name);
      } else {
        std::ranges::for_each(dropped->second, add);
      }
    }
    return names;
  }

 private:
  std::unordered_map<std::string_view, std::vector<std::string_view>> after_dropped_;
};

}  // namespace

ProgramDraft without_items(const ProgramDraft& draft, std::span<const size_t> positions) {
  ProgramDraft rest;
  rest.items.reserve(draft.items.size() - positions.size());
  HandedOnEdges edges;
  size_t next = 0;
  for (size_t i = 0; i < draft.items.size(); ++i) {
    const auto* const dispatch = std::get_if<DispatchDraft>(&draft.items[i]);
    if (next < positions.size() && positions[next] == i) {
      ++next;
      if (dispatch != nullptr) edges.drop(*dispatch);
      continue;
    }
    rest.items.push_back(draft.items[i]);
    if (dispatch == nullptr || !edges.has_dropped() || !edges.names_dropped(*dispatch)) continue;
    const std::vector<std::string_view> names = edges.names_after(*dispatch);
    auto& changed = std::get<DispatchDraft>(rest.items.back());
    changed.after.assign(names.begin(), names.end());
    changed.is_programmatic &= !names.empty();
  }
  return rest;
}

}  // namespace interlock
