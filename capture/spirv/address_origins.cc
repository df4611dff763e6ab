#include "capture/spirv/address_origins.h"

#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "capture/spirv/operand_uses.h"
#include "capture/spirv/shader_accesses.h"
#include "capture/spirv/storage_class.h"
#include "capture/spirv/value_layout.h"
#include "encoder/program/stop.h"

namespace interlock {
namespace {

// Of a chain of pointers into push constants.
constexpr int kChainsMax = 64;

constexpr uint32_t kPhysicalAddressBytes = 8;

// What is known of a value, or of what a variable holds.
struct AddressFact {
  enum class Kind : uint8_t { kPushed, kComputed, kElsewhere, kVariable };

  Kind kind = Kind::kElsewhere;
  uint32_t number = 0;  // The offset of what was pushed; of a pointer, the variable.

  auto operator<=>(const AddressFact&) const = default;
};

using AddressFacts = std::set<AddressFact>;
using FactKind = AddressFact::Kind;

bool is_within(Opcode opcode, Opcode first, Opcode last) {
  return opcode >= first && opcode <= last;
}

// Whether the value comes of those of the operands, and of nothing else.
bool computes(Opcode opcode) {
  return opcode == Opcode::kExtInst ||
         is_within(opcode, Opcode::kVectorExtractDynamic, Opcode::kTranspose) ||
         is_within(opcode, Opcode::kConvertFToU, Opcode::kBitCount) ||
         is_within(opcode, Opcode::kGroupNonUniformElect, Opcode::kGroupNonUniformQuadSwap);
}

class AddressFinder {
 public:
  AddressFinder(const SpirvWords& module, uint32_t entry, uint32_t model)
      : module_(module), model_(model) {
    find_functions();
    reach(entry);
  }

  Result<std::vector<AddressUse>> find() {
    while (has_changed_ && step_count_ <= kPointerStepsMax && !is_stopped()) {
      has_changed_ = false;
      for_each_reached([&](const SpirvInstruction& instruction) { pass_on(instruction); });
    }
    for_each_reached([&](const SpirvInstruction& instruction) { note_uses(instruction); });
    if (step_count_ > kPointerStepsMax) {
      return Error{"the addresses of the shader module may come from too many places."};
    }
    std::vector<AddressUse> result;
    for (const auto& [origins, use] : uses_) {
      result.push_back({origins, use.is_loaded, use.is_stored});
    }
    return result;
  }

 private:
  struct Function {
    size_t begin = 0;  // Into the instructions.
    size_t end = 0;
    std::vector<uint32_t> parameters;
    std::set<uint32_t> called;
  };

  void find_functions() {
    uint32_t current = 0;
    const std::vector<SpirvInstruction>& all = module_.instructions();
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].opcode == Opcode::kFunction) {
        current = all[i].result;
        functions_[current] = {i, i, {}, {}};
      }
      if (current == 0) continue;
      Function& function = functions_[current];
      const std::span<const uint32_t> ids = module_.ids_of(all[i]);
      function.end = i;
      if (all[i].opcode == Opcode::kFunctionParameter) function.parameters.push_back(all[i].result);
      if (all[i].opcode == Opcode::kFunctionCall && !ids.empty()) function.called.insert(ids[0]);
      if (all[i].opcode == Opcode::kFunctionEnd) current = 0;
    }
  }

  void reach(uint32_t entry) {
    std::vector<uint32_t> waiting = {entry};
    while (!waiting.empty()) {
      const uint32_t id = waiting.back();
      waiting.pop_back();
      const auto function = functions_.find(id);
      if (function == functions_.end() || !reached_.insert(id).second) continue;
      waiting.insert(waiting.end(), function->second.called.begin(), function->second.called.end());
    }
  }

  template <typename Visit>
  void for_each_reached(const Visit& visit) {
    for (const uint32_t id : reached_) {
      const Function& function = functions_[id];
      function_ = id;
      for (size_t i = function.begin; i <= function.end; ++i) {
        if (is_stopped() || ++step_count_ > kPointerStepsMax) return;
        visit(module_.instructions()[i]);
      }
    }
  }

  uint32_t class_of(uint32_t pointer) const {
    const uint32_t type = module_.type_of(pointer);
    return module_.is(type, Opcode::kTypePointer) ? module_.word(type, 2) : 0;
  }

  static bool is_local(uint32_t storage_class) {
    return storage_class == kFunctionClass || storage_class == kPrivateClass ||
           storage_class == kWorkgroupClass;
  }

  // What is known of a value; of a variable outside of functions, that it is one.
  AddressFacts facts_of(uint32_t id) const {
    const auto found = facts_.find(id);
    if (found != facts_.end()) {
      step_count_ += found->second.size();
      return found->second;
    }
    if (module_.is(id, Opcode::kVariable)) return {{FactKind::kVariable, id}};
    if (may_be_constant_address(id)) return {{FactKind::kElsewhere, 0}};
    return {};
  }

  // Of 64 bits, and given when the pipeline is created, or neither small nor small and negative: no
  // index, no stride, no mask of what is to be aligned.
  bool may_be_constant_address(uint32_t id) const {
    constexpr uint32_t kNegative = UINT32_MAX;
    const SpirvInstruction* const value = module_.find(id);
    if (value == nullptr) return false;
    const bool is_given = value->opcode == Opcode::kSpecConstant ||
                          value->opcode == Opcode::kSpecConstantComposite ||
                          value->opcode == Opcode::kSpecConstantOp;
    if (!is_given && value->opcode != Opcode::kConstant) return false;
    if (size_of(value->type) != kPhysicalAddressBytes) return false;
    const uint32_t high = module_.word(id, 4);
    return is_given || (high != 0 && high != kNegative);
  }

  void add(const AddressFacts& facts, AddressFacts& to) {
    step_count_ += facts.size();
    const size_t before = to.size();
    to.insert(facts.begin(), facts.end());
    has_changed_ = has_changed_ || to.size() > before;
  }

  void add_computed(std::span<const uint32_t> ids, AddressFacts& to) {
    for (const uint32_t id : ids) {
      AddressFacts facts;
      for (const AddressFact& fact : facts_of(id)) {
        if (fact.kind == FactKind::kVariable) continue;
        const bool is_pushed = fact.kind == FactKind::kPushed;
        facts.insert({is_pushed ? FactKind::kComputed : fact.kind, fact.number});
      }
      add(facts, to);
    }
  }

  // Where a pointer into push constants points to, if that is one place.
  std::optional<uint32_t> pushed_offset_of(uint32_t pointer) const {
    uint64_t offset = 0;
    for (int i = 0; i < kChainsMax; ++i) {
      const SpirvInstruction* const from = module_.find(pointer);
      if (from == nullptr) return std::nullopt;
      if (from->opcode == Opcode::kVariable) {
        return offset > UINT32_MAX ? std::nullopt : std::optional(static_cast<uint32_t>(offset));
      }
      const std::span<const uint32_t> ids = module_.ids_of(*from);
      const bool is_chain =
          from->opcode == Opcode::kAccessChain || from->opcode == Opcode::kInBoundsAccessChain;
      if (!is_chain || ids.empty()) return std::nullopt;
      uint32_t type = module_.word(module_.type_of(ids[0]), 3);
      step_count_ += ids.size();
      if (step_count_ > kPointerStepsMax) return std::nullopt;
      for (const uint32_t index : ids.subspan(1)) {
        const std::optional<uint64_t> part = step(type, index);
        if (!part) return std::nullopt;
        offset += *part;
      }
      pointer = ids[0];
    }
    return std::nullopt;
  }

  // To a part of a value of this type, which becomes that of the part.
  std::optional<uint64_t> step(uint32_t& type, uint32_t index) const {
    const std::optional<uint32_t> number = module_.literal(index);
    if (!number) return std::nullopt;
    const uint32_t whole = type;
    if (module_.is(whole, Opcode::kTypeStruct)) {
      type = module_.word(whole, *number >= UINT32_MAX - 2 ? 0 : *number + 2);
      return module_.member_decoration(whole, *number, kOffsetDecoration);
    }
    type = module_.word(whole, 2);
    if (module_.is(whole, Opcode::kTypeVector)) {
      return uint64_t{*number} * scalar_bytes(module_, type);
    }
    const auto stride = module_.decoration(whole, kArrayStrideDecoration);
    if (!module_.is(whole, Opcode::kTypeArray) || !stride) return std::nullopt;
    return uint64_t{*number} * *stride;
  }

  // In bytes, of a scalar, a pointer or a vector; 0 of any other type.
  uint64_t size_of(uint32_t type) const {
    uint32_t count = 1;
    if (module_.is(type, Opcode::kTypeVector)) {
      count = module_.word(type, 3);
      type = module_.word(type, 2);
    }
    return uint64_t{scalar_bytes(module_, type)} * count;
  }

  // Whether a value of this type is an address at most, or a part of one.
  bool is_small(uint32_t type) const {
    const uint64_t size = size_of(type);
    return size > 0 && size <= kPhysicalAddressBytes;
  }

  AddressFacts loaded_through(uint32_t pointer, uint32_t type) const {
    const uint32_t storage_class = class_of(pointer);
    if (storage_class == kPushConstantClass && is_small(type)) {
      if (const auto offset = pushed_offset_of(pointer)) return {{FactKind::kPushed, *offset}};
    }
    if (storage_class == kInputClass && model_ == kComputeModel) return {};
    if (!is_local(storage_class)) return {{FactKind::kElsewhere, 0}};
    AddressFacts facts;
    for (const AddressFact& fact : facts_of(pointer)) {
      const auto held = held_.find(fact.number);
      if (fact.kind == FactKind::kVariable && held != held_.end()) {
        step_count_ += held->second.size();
        if (step_count_ > kPointerStepsMax) return facts;
        facts.insert(held->second.begin(), held->second.end());
      }
    }
    return facts;
  }

  // Requires: the pointer is local.
  void store(uint32_t pointer, const AddressFacts& facts) {
    for (const AddressFact& fact : facts_of(pointer)) {
      if (fact.kind == FactKind::kVariable) add(facts, held_[fact.number]);
    }
  }

  void pass_call_on(uint32_t result, std::span<const uint32_t> ids) {
    const auto called = functions_.find(ids[0]);
    if (called == functions_.end()) return;
    const std::vector<uint32_t>& parameters = called->second.parameters;
    for (size_t i = 0; i < parameters.size() && i + 1 < ids.size(); ++i) {
      add(facts_of(ids[i + 1]), facts_[parameters[i]]);
    }
    add(returned_[ids[0]], facts_[result]);
  }

  void pass_on(const SpirvInstruction& instruction) {
    const std::span<const uint32_t> ids = module_.ids_of(instruction);
    const Opcode opcode = instruction.opcode;
    if (is_within(opcode, Opcode::kAtomicLoad, Opcode::kAtomicXor))
      return pass_atomic_on(instruction);
    if (opcode == Opcode::kReturnValue && !ids.empty()) {
      return add(facts_of(ids[0]), returned_[function_]);
    }
    if (opcode == Opcode::kStore && ids.size() >= 2) {
      if (is_local(class_of(ids[0]))) store(ids[0], facts_of(ids[1]));
      return;
    }
    if (opcode == Opcode::kCopyMemory && ids.size() >= 2) {
      if (!is_local(class_of(ids[0]))) return;
      const uint32_t type = module_.word(module_.type_of(ids[1]), 3);
      return store(ids[0], loaded_through(ids[1], type));
    }
    if (instruction.result == 0 || ids.empty()) return;
    AddressFacts& to = facts_[instruction.result];
    switch (opcode) {
      case Opcode::kFunctionCall:
        return pass_call_on(instruction.result, ids);
      case Opcode::kLoad:
        return add(loaded_through(ids[0], instruction.type), to);
      case Opcode::kAccessChain:
      case Opcode::kInBoundsAccessChain:
      case Opcode::kCopyObject:
      case Opcode::kBitcast:
      case Opcode::kConvertPtrToU:
      case Opcode::kConvertUToPtr:
        return add(facts_of(ids[0]), to);
      case Opcode::kPtrAccessChain:
      case Opcode::kInBoundsPtrAccessChain:
        // The first index may lead backward.
        if (class_of(ids[0]) == kPhysicalStorageClass) return add_computed(ids.first(1), to);
        return add(facts_of(ids[0]), to);
      case Opcode::kSelect:
        for (const uint32_t id : ids.subspan(1)) add(facts_of(id), to);
        return;
      case Opcode::kPhi:
        for (const uint32_t id : ids) add(facts_of(id), to);
        return;
      case Opcode::kVariable:
        return add({{FactKind::kVariable, instruction.result}}, to);
      case Opcode::kFunction:
      case Opcode::kFunctionParameter:
        return;
      default:
        if (computes(opcode)) return add_computed(ids, to);
        add({{FactKind::kElsewhere, 0}}, to);
    }
  }

  void pass_atomic_on(const SpirvInstruction& instruction) {
    const std::span<const uint32_t> ids = module_.ids_of(instruction);
    if (ids.empty()) return;
    if (is_local(class_of(ids[0]))) {
      for (const uint32_t id : ids.subspan(1)) store(ids[0], facts_of(id));
    }
    if (instruction.result == 0) return;
    add(loaded_through(ids[0], instruction.type), facts_[instruction.result]);
  }

  std::vector<AddressOrigin> origins_of(uint32_t pointer) const {
    std::vector<AddressOrigin> origins;
    for (const AddressFact& fact : facts_of(pointer)) {
      if (fact.kind == FactKind::kElsewhere) return {};
      if (fact.kind == FactKind::kVariable) continue;
      origins.push_back({fact.number, fact.kind == FactKind::kComputed});
    }
    return origins;
  }

  void note_uses(const SpirvInstruction& instruction) {
    const std::span<const uint32_t> ids = module_.ids_of(instruction);
    for (size_t i = 0; i < ids.size(); ++i) {
      if (class_of(ids[i]) != kPhysicalStorageClass) continue;
      const OperandUse use = operand_use_of(instruction.opcode, i);
      if (!use.is_loaded && !use.is_stored) continue;
      OperandUse& all = uses_[origins_of(ids[i])];
      all.is_loaded = all.is_loaded || use.is_loaded;
      all.is_stored = all.is_stored || use.is_stored;
    }
  }

  const SpirvWords& module_;
  uint32_t model_;
  std::map<uint32_t, Function> functions_;
  std::set<uint32_t> reached_;
  uint32_t function_ = 0;                      // That is visited.
  std::map<uint32_t, AddressFacts> facts_;     // By id.
  std::map<uint32_t, AddressFacts> held_;      // By variable: what is stored to it.
  std::map<uint32_t, AddressFacts> returned_;  // By function.
  std::map<std::vector<AddressOrigin>, OperandUse> uses_;
  bool has_changed_ = true;
  mutable uint64_t step_count_ = 0;
};

}  // namespace

Result<std::vector<AddressUse>> address_uses_of(const SpirvWords& module, uint32_t entry,
                                                uint32_t model) {
  return AddressFinder(module, entry, model).find();
}

}  // namespace interlock
