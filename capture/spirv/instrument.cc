#include "capture/spirv/instrument.h"

#include <spirv-tools/libspirv.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "capture/spirv/access_plan.h"
#include "capture/spirv/mark_functions.h"
#include "capture/spirv/module_additions.h"
#include "capture/spirv/spirv_words.h"

namespace interlock {
namespace {

constexpr uint32_t kVersion14 = 0x00010400;

bool is_annotation(Opcode opcode) {
  constexpr auto kDecorateId = Opcode{332};
  constexpr auto kDecorateString = Opcode{5632};
  constexpr auto kMemberDecorateString = Opcode{5633};
  return (opcode >= Opcode::kDecorate && opcode <= Opcode::kGroupMemberDecorate) ||
         opcode == kDecorateId || opcode == kDecorateString || opcode == kMemberDecorateString;
}

class Instrumenter {
 public:
  Instrumenter(const SpirvWords& module, uint32_t own_set)
      : module_(module), plan_(plan_accesses(module)), additions_(module, own_set) {}

  InstrumentedModule run() {
    choose_variables();
    const std::vector<SpirvInstruction>& all = module_.instructions();
    size_t last_annotation = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      if (is_annotation(all[i].opcode)) last_annotation = i;
    }
    // First the bodies: they say which types and constants there are to be.
    std::vector<uint32_t> before;
    std::vector<uint32_t> bodies;
    std::vector<uint32_t> head;
    size_t next_access = 0;
    bool is_in_functions = false;
    for (size_t i = 0; i < all.size(); ++i) {
      is_in_functions = is_in_functions || all[i].opcode == Opcode::kFunction;
      for (; next_access < plan_.accesses.size() && plan_.accesses[next_access].instruction == i;
           ++next_access) {
        write_mark(plan_.accesses[next_access], bodies);
      }
      std::vector<uint32_t>& to = is_in_functions ? bodies : i <= last_annotation ? head : before;
      copy(all[i], to);
    }
    return assemble(head, before, bodies);
  }

 private:
  // Those that are measured get entries; a set and binding that several variables have is left
  // alone if one of them is.
  void choose_variables() {
    std::set<std::pair<uint32_t, uint32_t>> refused;
    uint64_t entries = 0;
    for (PlannedVariable& variable : plan_.variables) {
      if (!variable.reason.empty()) continue;
      if (entries + variable.element_count > kEntriesMax) {
        variable.reason = "one of more bindings than are measured";
      } else {
        entries += variable.element_count;
      }
    }
    for (const PlannedVariable& variable : plan_.variables) {
      if (variable.reason.empty()) continue;
      if (!refused.insert({variable.set, variable.binding}).second) continue;
      result_.unmeasured.push_back({variable.set, variable.binding, variable.reason});
    }
    entries_.assign(plan_.variables.size(), kNotMeasured);
    for (size_t i = 0; i < plan_.variables.size(); ++i) {
      const PlannedVariable& variable = plan_.variables[i];
      if (refused.count({variable.set, variable.binding}) > 0) continue;
      entries_[i] = result_.entry_count;
      result_.measured.push_back({variable.set, variable.binding, variable.element_count,
                                  result_.entry_count, variable.granule_shift, variable.is_image,
                                  variable.is_sampled, variable.is_arrayed, variable.axis_count,
                                  false, false});
      result_.entry_count += variable.element_count;
    }
    std::map<uint32_t, MeasuredBinding*> by_entry;
    for (MeasuredBinding& measured : result_.measured) by_entry[measured.first_entry] = &measured;
    for (const PlannedAccess& access : plan_.accesses) {
      if (entries_[access.variable] == kNotMeasured) continue;
      MeasuredBinding& measured = *by_entry[entries_[access.variable]];
      measured.is_loaded = measured.is_loaded || access.is_load;
      measured.is_stored = measured.is_stored || access.is_store;
    }
  }

  void copy(const SpirvInstruction& instruction, std::vector<uint32_t>& to) {
    const std::span<const uint32_t> words = module_.words_of(instruction);
    // From 1.4 on an entry point names every variable that it uses.
    if (instruction.opcode == Opcode::kEntryPoint && module_.version() >= kVersion14) {
      std::vector<uint32_t> operands(words.begin() + 1, words.end());
      operands.push_back(additions_.buffer());
      return put_instruction(to, Opcode::kEntryPoint, operands);
    }
    to.insert(to.end(), words.begin(), words.end());
  }

  // The value as an unsigned word.
  uint32_t as_word(BlockWriter& to, uint32_t id, uint32_t type) {
    if (type == additions_.uint_type()) return id;
    const bool is_of_32_bits = module_.word(type, 2) == 32;
    return to.word(is_of_32_bits ? Opcode::kBitcast : Opcode::kUConvert, {id});
  }

  // The word at which the entry of the element begins.
  uint32_t entry_of(BlockWriter& to, const PlannedAccess& access) {
    const uint32_t first = entries_[access.variable];
    const uint32_t count = plan_.variables[access.variable].element_count;
    const auto known = module_.literal(access.element);
    if (access.element == 0 || known) {
      const uint32_t element = std::min(known.value_or(0), count - 1);
      return additions_.uint_constant((first + element) * kEntryWords);
    }
    // What is past the array is undefined, and no entry of another.
    const uint32_t element = as_word(to, access.element, module_.type_of(access.element));
    const uint32_t last = additions_.uint_constant(count - 1);
    const uint32_t is_past = to.claim(Opcode::kULessThan, {last, element});
    const uint32_t within = to.word(Opcode::kSelect, {is_past, last, element});
    const uint32_t words = to.word(Opcode::kIMul, {within, additions_.uint_constant(kEntryWords)});
    return to.word(Opcode::kIAdd, {words, additions_.uint_constant(first * kEntryWords)});
  }

  void write_mark(const PlannedAccess& access, std::vector<uint32_t>& words) {
    if (entries_[access.variable] == kNotMeasured) return;
    BlockWriter to(additions_, words);
    const uint32_t entry = entry_of(to, access);
    if (access.kind == PlannedKind::kBytes) return write_bytes(access, entry, to);
    const std::array<uint32_t, 3> at = coordinates_of(to, access);
    if (access.kind == PlannedKind::kSample) return marks_.call_sample(to, entry, at);
    if (access.is_load) marks_.call_texel(to, entry, additions_.uint_constant(kLoadsWord), at);
    if (access.is_store) marks_.call_texel(to, entry, additions_.uint_constant(kStoresWord), at);
  }

  void write_bytes(const PlannedAccess& access, uint32_t entry, BlockWriter& to) {
    const uint32_t shift = plan_.variables[access.variable].granule_shift;
    uint32_t granule = 0;  // What the indices make of it; 0: there are none.
    for (const auto& [index, stride] : access.terms) {
      const uint32_t term = to.word(Opcode::kIMul, {as_word(to, index, module_.type_of(index)),
                                                    additions_.uint_constant(stride >> shift)});
      granule = granule == 0 ? term : to.word(Opcode::kIAdd, {granule, term});
    }
    for (const BytePiece& piece : access.pieces) {
      const uint32_t fixed =
          additions_.uint_constant(static_cast<uint32_t>((access.offset + piece.offset) >> shift));
      const uint32_t first = granule == 0 ? fixed : to.word(Opcode::kIAdd, {granule, fixed});
      const uint32_t count = additions_.uint_constant(static_cast<uint32_t>(piece.size >> shift));
      for (const uint32_t kind : {kLoadsWord, kStoresWord}) {
        if (!(kind == kLoadsWord ? access.is_load : access.is_store)) continue;
        const uint32_t of_kind = additions_.uint_constant(kind);
        if (piece.size >> shift == 1) {
          marks_.call_bit(to, entry, of_kind, first);
        } else {
          marks_.call_bits(to, entry, of_kind, first, count);
        }
      }
    }
  }

  // Axes that the image does not have are 0; layers come last.
  std::array<uint32_t, 3> coordinates_of(BlockWriter& to, const PlannedAccess& access) {
    const PlannedVariable& variable = plan_.variables[access.variable];
    const bool is_sample = access.kind == PlannedKind::kSample;
    const uint32_t none = is_sample ? additions_.float_constant(0.0F) : additions_.uint_constant(0);
    std::array<uint32_t, 3> at = {none, none, none};
    const uint32_t type = module_.type_of(access.coordinate);
    const bool is_vector = module_.is(type, Opcode::kTypeVector);
    const uint32_t scalar = is_vector ? module_.word(type, 2) : type;
    const uint32_t count = variable.axis_count + (variable.is_arrayed ? 1 : 0);
    for (uint32_t i = 0; i < count && i < at.size(); ++i) {
      const uint32_t component =
          is_vector ? to.value(Opcode::kCompositeExtract, scalar, {access.coordinate, i})
                    : access.coordinate;
      const uint32_t axis = i < variable.axis_count ? i : 2;
      at[axis] = is_sample ? component : as_word(to, component, scalar);
    }
    return at;
  }

  InstrumentedModule assemble(const std::vector<uint32_t>& head,
                              const std::vector<uint32_t>& before,
                              const std::vector<uint32_t>& bodies) {
    std::vector<uint32_t>& words = result_.words;
    words.assign(module_.header().begin(), module_.header().end());
    for (const std::vector<uint32_t>* const part :
         {&head, &additions_.annotations(), &before, &additions_.globals(), &bodies,
          &marks_.words()}) {
      words.insert(words.end(), part->begin(), part->end());
    }
    words[3] = additions_.id_bound();
    return std::move(result_);
  }

  static constexpr uint32_t kNotMeasured = UINT32_MAX;

  const SpirvWords& module_;
  AccessPlan plan_;
  ModuleAdditions additions_;
  MarkFunctions marks_{additions_};
  InstrumentedModule result_;
  std::vector<uint32_t> entries_;  // The first of each variable of the plan.
};

// Empty if it is valid.
std::string complaint_about(std::span<const uint32_t> words) {
  const std::unique_ptr<spv_context_t, decltype(&spvContextDestroy)> context(
      spvContextCreate(SPV_ENV_UNIVERSAL_1_6), spvContextDestroy);
  const std::unique_ptr<spv_validator_options_t, decltype(&spvValidatorOptionsDestroy)> options(
      spvValidatorOptionsCreate(), spvValidatorOptionsDestroy);
  // Which layouts a device takes, the application knows.
  spvValidatorOptionsSetSkipBlockLayout(options.get(), true);
  spv_const_binary_t binary = {words.data(), words.size()};
  spv_diagnostic diagnostic = nullptr;
  const spv_result_t result =
      spvValidateWithOptions(context.get(), options.get(), &binary, &diagnostic);
  const std::unique_ptr<spv_diagnostic_t, decltype(&spvDiagnosticDestroy)> said(
      diagnostic, spvDiagnosticDestroy);
  if (result == SPV_SUCCESS) return "";
  return said == nullptr ? "no reason is known" : said->error;
}

}  // namespace

Result<InstrumentedModule> instrument(std::span<const uint32_t> module, uint32_t own_set) {
  Result<SpirvWords> words = SpirvWords::read(module);
  if (!words) return words.error();
  if (words->has_decoration_groups()) return Error{"it has groups of decorations"};
  const AccessPlan plan = plan_accesses(*words);
  if (std::ranges::count(plan.variables, own_set, &PlannedVariable::set) > 0) {
    return Error{"it uses every descriptor set"};
  }
  InstrumentedModule result = Instrumenter(*words, own_set).run();
  const std::string complaint = complaint_about(result.words);
  if (!complaint.empty()) return Error{"it would not be valid with bitmaps: " + complaint};
  return result;
}

}  // namespace interlock
