#include "capture/spirv/shader_accesses.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "capture/spirv/address_origins.h"
#include "capture/spirv/module_reader.h"
#include "capture/spirv/operand_uses.h"
#include "capture/spirv/spirv_words.h"
#include "encoder/program/error_of.h"
#include "encoder/program/stop.h"

namespace interlock {
namespace {

class AccessFinder {
 public:
  AccessFinder(const ShaderModule& module, uint32_t entry) : module_(module) {
    find_parameters();
    reach(entry);
    for (const auto& [variable, place] : module.bindings) bases_[variable].insert(variable);
    for (const uint32_t variable : module.unbound) bases_[variable].insert(variable);
  }

  Result<ShaderAccesses> find() {
    while (has_changed_ && step_count_ <= kPointerStepsMax) {
      has_changed_ = false;
      for_each_reached([&](const ShaderInstruction& instruction) { pass_bases_on(instruction); });
    }
    for_each_reached([&](const ShaderInstruction& instruction) { note_uses(instruction); });
    if (step_count_ > kPointerStepsMax) {
      return Error{"the pointers of the shader module may come from too many variables."};
    }
    ShaderAccesses accesses;
    accesses.has_unbound = has_unbound_;
    for (const auto& [place, use] : uses_) {
      accesses.bindings.push_back({place.first, place.second, use.is_loaded, use.is_stored});
    }
    return accesses;
  }

 private:
  using Bases = std::set<uint32_t>;

  template <typename Visit>
  void for_each_reached(const Visit& visit) {
    for (const ShaderInstruction& instruction : module_.instructions) {
      if (is_stopped() || ++step_count_ > kPointerStepsMax) return;
      if (reached_.count(instruction.function) > 0) visit(instruction);
    }
  }

  void find_parameters() {
    for (const ShaderInstruction& instruction : module_.instructions) {
      if (instruction.opcode == Opcode::kFunctionParameter) {
        parameters_[instruction.function].push_back(instruction.result);
      } else if (instruction.opcode == Opcode::kFunctionCall && instruction.id_count > 0) {
        calls_[instruction.function].insert(module_.ids_of(instruction).front());
      }
    }
  }

  void reach(uint32_t entry) {
    std::vector<uint32_t> waiting = {entry};
    while (!waiting.empty()) {
      const uint32_t function = waiting.back();
      waiting.pop_back();
      if (!reached_.insert(function).second) continue;
      const Bases& called = calls_[function];
      waiting.insert(waiting.end(), called.begin(), called.end());
    }
  }

  void add_bases(uint32_t from, uint32_t to) {
    const auto found = bases_.find(from);
    if (found == bases_.end() || from == to) return;
    step_count_ += found->second.size();
    if (step_count_ > kPointerStepsMax) return;
    Bases& bases = bases_[to];
    const size_t before = bases.size();
    // References into a map stay.
    bases.insert(found->second.begin(), found->second.end());
    has_changed_ = has_changed_ || bases.size() > before;
  }

  bool is_reference(const ShaderInstruction& instruction) const {
    return instruction.result != 0 && module_.reference_types.count(instruction.type) > 0;
  }

  void pass_bases_on(const ShaderInstruction& instruction) {
    const std::span<const uint32_t> ids = module_.ids_of(instruction);
    if (instruction.opcode == Opcode::kFunctionCall && !ids.empty()) {
      const std::vector<uint32_t>& parameters = parameters_[ids.front()];
      for (size_t i = 0; i < parameters.size() && i + 1 < ids.size(); ++i) {
        add_bases(ids[i + 1], parameters[i]);
      }
      add_bases(ids.front(), instruction.result);  // What the function returns.
    } else if (instruction.opcode == Opcode::kReturnValue && !ids.empty()) {
      add_bases(ids.front(), instruction.function);
    } else if (instruction.opcode == Opcode::kStore && ids.size() >= 2) {
      add_bases(ids[1], ids[0]);  // A reference that is kept in a variable.
    } else if (is_reference(instruction)) {
      for (const uint32_t id : ids) add_bases(id, instruction.result);
    }
  }

  void note_uses(const ShaderInstruction& instruction) {
    // Loading a handle loads nothing of what it is a handle of.
    if (instruction.opcode == Opcode::kLoad && is_reference(instruction)) return;
    const std::span<const uint32_t> ids = module_.ids_of(instruction);
    for (size_t i = 0; i < ids.size(); ++i) {
      const OperandUse use = operand_use_of(instruction.opcode, i);
      const auto found = bases_.find(ids[i]);
      if (found == bases_.end() || (!use.is_loaded && !use.is_stored)) continue;
      step_count_ += found->second.size();
      for (const uint32_t base : found->second) {
        const auto place = module_.bindings.find(base);
        if (place == module_.bindings.end()) {
          has_unbound_ = true;
          continue;
        }
        OperandUse& all = uses_[place->second];
        all.is_loaded = all.is_loaded || use.is_loaded;
        all.is_stored = all.is_stored || use.is_stored;
      }
    }
  }

  const ShaderModule& module_;
  std::set<uint32_t> reached_;
  std::map<uint32_t, std::vector<uint32_t>> parameters_;  // By function.
  std::map<uint32_t, Bases> calls_;                       // Likewise.
  std::map<uint32_t, Bases> bases_;                       // By id; of functions what they return.
  std::map<std::pair<uint32_t, uint32_t>, OperandUse> uses_;  // By set and binding.
  bool has_changed_ = true;
  bool has_unbound_ = false;
  uint64_t step_count_ = 0;
};

}  // namespace

Result<ShaderAccesses> shader_accesses_of(std::span<const uint32_t> module, std::string_view entry,
                                          uint32_t model) {
  const Result<ShaderModule> read = read_module(module);
  if (!read) return read.error();
  const auto found = read->entries.find({model, std::string(entry)});
  if (found == read->entries.end()) {
    return error_of("the shader module has no {}entry point '{}'.",
                    model == kComputeModel ? "compute " : "", entry);
  }
  Result<ShaderAccesses> accesses = AccessFinder(*read, found->second).find();
  if (!accesses || !read->has_addresses) return accesses;
  const Result<SpirvWords> words = SpirvWords::read(module);
  if (!words) return words.error();
  Result<std::vector<AddressUse>> addresses = address_uses_of(*words, found->second, model);
  if (!addresses) return addresses.error();
  accesses->addresses = std::move(*addresses);
  return accesses;
}

}  // namespace interlock
