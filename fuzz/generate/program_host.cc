// The basic idea is to add items at places among the dispatches, and to know of each memory, one of
// an unplaced tensor included, after which dispatch or access of the host nothing touches it.
#include "fuzz/generate/program_host.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace interlock {
namespace {

constexpr uint64_t kHostBytesMax = 16;

class HostWorkGiver {
 public:
  HostWorkGiver(ProgramDraft& draft, Choice& choice) : draft_(draft), choice_(choice) {
    for (size_t i = 0; i < draft.items.size(); ++i) {
      if (std::holds_alternative<DispatchDraft>(draft.items[i])) dispatches_.push_back(i);
    }
  }

  void run() {
    if (dispatches_.empty()) return;
    add_accesses();
    find_last_uses();
    add_ends();
  }

 private:
  // Before a dispatch, or at the end.
  size_t random_place() {
    const size_t place = choice_.below(dispatches_.size() + 1);
    return place == dispatches_.size() ? draft_.items.size() : dispatches_[place];
  }

  void insert(size_t place, ItemDraft item) {
    draft_.items.insert(draft_.items.begin() + static_cast<std::ptrdiff_t>(place), std::move(item));
    for (size_t& dispatch : dispatches_) dispatch += dispatch >= place ? 1 : 0;
  }

  void add_accesses() {
    std::vector<MemoryDraft> memories;
    for (const ItemDraft& item : draft_.items) {
      const auto* const memory = std::get_if<MemoryDraft>(&item);
      if (memory != nullptr && memory->size_bytes > 0) memories.push_back(*memory);
    }
    if (memories.empty()) return;
    for (uint64_t left = choice_.below(4); left > 0; --left) {
      const MemoryDraft& memory = memories[choice_.below(memories.size())];
      const uint64_t begin = choice_.below(memory.size_bytes);
      const uint64_t size_max = std::min(kHostBytesMax, memory.size_bytes - begin);
      const bool is_write = choice_.chance(1, 2);
      HostAccessDraft access;
      access.access = is_write ? HostAccess::kWrites : HostAccess::kReads;
      access.operands.push_back({.mode = is_write ? AccessMode::kWrite : AccessMode::kRead,
                                 .name = memory.name,
                                 .slice = ByteRange{begin, begin + 1 + choice_.below(size_max)}});
      insert(random_place(), std::move(access));
    }
  }

  // The memory that a tensor is in, or the first tensor of those that share an implicit one.
  std::string memory_of(std::string name) const {
    for (auto base = bases_.find(name); base != bases_.end() && !base->second.empty();
         base = bases_.find(name)) {
      name = base->second;
    }
    return name;
  }

  void find_last_uses() {
    for (size_t i = 0; i < draft_.items.size(); ++i) {
      const ItemDraft& item = draft_.items[i];
      if (const auto* const tensor = std::get_if<TensorDraft>(&item)) {
        bases_.emplace(tensor->name, tensor->base);
        if (tensor->placement != Placement::kView) values_.push_back(tensor->name);
      } else if (const auto* const dispatch = std::get_if<DispatchDraft>(&item)) {
        use(dispatch->operands, i);
      } else if (const auto* const access = std::get_if<HostAccessDraft>(&item)) {
        use(access->operands, i);
      } else if (const auto* const output = std::get_if<OutputDraft>(&item)) {
        has_outputs_ = true;
        for (const std::string& name : output->tensors) last_uses_[memory_of(name)] = SIZE_MAX;
      }
    }
  }

  void use(const std::vector<OperandDraft>& operands, size_t place) {
    for (const OperandDraft& operand : operands) {
      size_t& last = last_uses_[memory_of(operand.name)];
      last = std::max(last, place);
    }
  }

  // Without outputs every memory is read at the end.
  void add_ends() {
    if (!has_outputs_) return;
    std::vector<std::pair<size_t, ItemDraft>> ends;
    for (const std::string& name : values_) {
      const auto last = last_uses_.find(memory_of(name));
      const bool may_end = last != last_uses_.end() && last->second != SIZE_MAX;
      if (!may_end || !choice_.chance(1, 2)) continue;
      LifetimeDraft end;
      end.kind = choice_.chance(1, 2) ? LifetimeKind::kFree : LifetimeKind::kDestroy;
      end.name = name;
      const size_t first = last->second + 1;
      ends.emplace_back(first + choice_.below(draft_.items.size() - first + 1), std::move(end));
    }
    // Those behind first, so that the places of the others stay.
    std::ranges::stable_sort(ends, [](const auto& a, const auto& b) { return a.first > b.first; });
    for (auto& [place, end] : ends) insert(place, std::move(end));
  }

  ProgramDraft& draft_;
  Choice& choice_;
  std::vector<size_t> dispatches_;            // Their places among the items.
  std::map<std::string, std::string> bases_;  // Of tensors: what they are placed on, if anything.
  std::vector<std::string> values_;           // Tensors that are no views.
  std::map<std::string, size_t> last_uses_;   // By memory; SIZE_MAX: the end of the program.
  bool has_outputs_ = false;
};

}  // namespace

void give_host_work(ProgramDraft& draft, Choice& choice) { HostWorkGiver(draft, choice).run(); }

}  // namespace interlock
