#include "fuzz/minimize/without_items.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

namespace interlock {
namespace {

// What an operation comes after once others are gone. The views are of the drafts of dispatches.
struct EdgesLeft {
  std::vector<std::string_view> names;
  bool is_programmatic = false;  // All of them.
};

class HandedOnEdges {
 public:
  void drop(const DispatchDraft& dispatch) {
    if (!dispatch.label.empty()) after_dropped_.emplace(dispatch.label, edges_to(dispatch));
  }

  bool has_dropped() const { return !after_dropped_.empty(); }

  bool names_dropped(const DispatchDraft& dispatch) const {
    return std::ranges::any_of(
        dispatch.after, [&](const std::string& name) { return after_dropped_.contains(name); });
  }

  EdgesLeft edges_to(const DispatchDraft& dispatch) const {
    EdgesLeft left;
    bool has_full = false;
    std::unordered_set<std::string_view> known;
    const auto add = [&](std::string_view name) {
      if (left.names.size() == kHandedOnEdgesMax || !known.insert(name).second) return;
      left.names.push_back(name);
    };
    for (const std::string& name : dispatch.after) {
      const auto dropped = after_dropped_.find(name);
      if (dropped == after_dropped_.end()) {
        add(name);
        has_full = true;
      } else {
        std::ranges::for_each(dropped->second.names, add);
        has_full |= !dropped->second.names.empty() && !dropped->second.is_programmatic;
      }
    }
    left.is_programmatic = !left.names.empty() && (dispatch.is_programmatic || !has_full);
    return left;
  }

 private:
  std::unordered_map<std::string_view, EdgesLeft> after_dropped_;
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
    const EdgesLeft left = edges.edges_to(*dispatch);
    auto& changed = std::get<DispatchDraft>(rest.items.back());
    changed.after.assign(left.names.begin(), left.names.end());
    changed.is_programmatic = left.is_programmatic;
  }
  return rest;
}

}  // namespace interlock
