// The basic idea is that about half of the programs must be clean and half hazardous, and that most
// must be of a kind on which the two peers have no reason to differ: whole aligned ranges, one sort
// of access per operand. The rest is there for the reasons to differ.
#include "tests/backends/vulkan/sync_validation_peer_programs.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/program/check.h"
#include "encoder/program/draft.h"
#include "encoder/sync/encoder.h"
#include "fuzz/generate/generator.h"
#include "simulator/schedules/choice.h"
#include "tests/backends/vulkan/lowered_program.h"
#include "tests/encoder/sync/mutant_encoders.h"
#include "tests/simulator/programs/random_programs.h"
#include "tests/simulator/programs/random_scoped_programs.h"

namespace interlock {
namespace {

// What most devices take as the offset of a binding.
constexpr uint64_t kUnitBytes = 64;

Program built(const ProgramDraft& draft) {
  Result<Program> program = build(draft);
  INTERLOCK_CHECK(program.has_value());
  return std::move(program).value();
}

void scale(OperandDraft& operand, uint64_t missing_bytes) {
  if (!operand.slice || operand.slice->is_empty()) return;
  operand.slice =
      ByteRange{operand.slice->begin * kUnitBytes, operand.slice->end * kUnitBytes - missing_bytes};
}

// The program with every byte as kUnitBytes of them, and every range shorter at its end.
// Requires: no tensors.
ProgramDraft in_units(ProgramDraft draft, uint64_t missing_bytes = 0) {
  for (ItemDraft& item : draft.items) {
    if (auto* memory = std::get_if<MemoryDraft>(&item)) {
      memory->size_bytes *= kUnitBytes;
    } else if (auto* dispatch = std::get_if<DispatchDraft>(&item)) {
      for (OperandDraft& operand : dispatch->operands) scale(operand, missing_bytes);
    } else if (auto* barrier = std::get_if<BarrierDraft>(&item)) {
      for (DependencyDraft& dependency : barrier->dependencies) {
        for (OperandDraft& operand : dependency.operands) scale(operand, 0);
      }
    }
  }
  return draft;
}

// The program with its bindings aligned: opaque dispatches on the same ranges, in units.
Program in_raw_units(const Program& program) {
  return built(in_units(draft_of(lowered_program(program, {}, {}).program)));
}

Program encoded(const Program& program, std::unique_ptr<Encoder> encoder) {
  return encode(program, *encoder);
}

Program encoded_by_interlock(const Program& program) {
  return encoded(program, find_encoder("interlock")->create());
}

Program without_one_barrier(const Program& program, Choice& choice) {
  if (program.barriers.empty()) return program;
  ProgramDraft draft = draft_of(program);
  uint64_t left = choice.below(program.barriers.size());
  for (size_t i = 0; i < draft.items.size(); ++i) {
    if (!std::holds_alternative<BarrierDraft>(draft.items[i]) || left-- > 0) continue;
    draft.items.erase(draft.items.begin() + static_cast<std::ptrdiff_t>(i));
    break;
  }
  return built(draft);
}

Program fuzzed(Choice& choice, bool has_barriers) {
  GeneratorOptions options;
  options.max_dispatches = 12;
  options.has_barriers = has_barriers;
  return built(generate(choice, options));
}

// `is_plain`: operands read or write, whole.
ProgramDraft small_draft(Choice& choice, uint64_t barrier_percent, bool is_plain) {
  RandomProgramOptions options;
  options.dispatch_count_min = 2;
  options.dispatch_count_max = 7;
  options.memory_bytes = 6;
  options.barrier_percent = barrier_percent;
  options.has_updates = !is_plain;
  options.has_atomics = !is_plain;
  options.has_partial_writes = !is_plain;
  options.has_outputs = false;
  return random_draft(choice, options);
}

ProgramDraft scoped_draft(Choice& choice) {
  RandomScopedProgramOptions options;
  options.dispatch_count_max = 5;
  options.memory_bytes = 6;
  options.command_count_max = 6;
  return draft_of(random_scoped_program(choice, options));
}

ProgramDraft tiny_draft_of(Choice& choice, uint64_t barrier_count) {
  TinyScopedProgramOptions options;
  options.command_count = barrier_count;
  options.dependency_count = barrier_count;
  return draft_of(tiny_scoped_program(choice, options));
}

Program encoded_less_one_barrier(const Program& program, Choice& choice) {
  return without_one_barrier(encoded_by_interlock(program), choice);
}

// Past the last byte that it has heard of, the layer (1.3.239) forgets the rest of an operand
// that also touches bytes before. A first dispatch without operands binds bytes after all
// memories. Program order goes, since a program has it on all dispatches or on none.
Program behind_an_empty_dispatch(const Program& program) {
  ProgramDraft draft = draft_of(program);
  for (ItemDraft& item : draft.items) {
    if (auto* dispatch = std::get_if<DispatchDraft>(&item)) dispatch->order.reset();
  }
  const auto first = std::find_if(draft.items.begin(), draft.items.end(), [](const auto& item) {
    return std::holds_alternative<DispatchDraft>(item) ||
           std::holds_alternative<BarrierDraft>(item);
  });
  DispatchDraft empty;
  empty.kernel = "Nothing";
  draft.items.insert(first, std::move(empty));
  return built(draft);
}

const MutantEncoder& unsafe_mutant(uint64_t index) {
  static const auto* const kUnsafe = [] {
    auto* const mutants = new std::vector<const MutantEncoder*>;
    for (const MutantEncoder& mutant : mutant_encoders()) {
      if (mutant.kind == MutantKind::kUnsafe) mutants->push_back(&mutant);
    }
    return mutants;
  }();
  return *(*kUnsafe)[index % kUnsafe->size()];
}

PeerProgram program_of_origin(uint64_t index) {
  constexpr uint64_t kOriginCount = 12;
  SeededChoice choice(index + 1);
  const MutantEncoder& mutant = unsafe_mutant(index / kOriginCount);
  const bool is_odd = index / kOriginCount % 2 == 1;
  const auto fuzzed_program = [&](bool has_barriers) {
    const Program program = fuzzed(choice, has_barriers);
    return is_odd ? in_raw_units(program) : program;
  };
  switch (index % kOriginCount) {
    case 0:
      return {fuzzed_program(true), "fuzzed, with barriers of its own"};
    case 1:
      return {encoded_by_interlock(fuzzed_program(false)), "fuzzed, encoded by interlock"};
    case 2:
      return {encoded(fuzzed_program(false), mutant.create()), "fuzzed, encoded by a mutant"};
    case 3:
      return {encoded_less_one_barrier(fuzzed_program(false), choice),
              "fuzzed, encoded by interlock less one barrier"};
    case 4:
      return {built(in_units(scoped_draft(choice))), "small, with scoped barriers"};
    case 11:
      return {built(in_units(tiny_draft_of(choice, 1), 1)), "of three dispatches on one odd range"};
    case 5:
    case 10:
      return {built(in_units(tiny_draft_of(choice, 2))), "of three dispatches on one range"};
    case 6:
      if (is_odd) {
        return {encoded_less_one_barrier(built(in_units(small_draft(choice, 0, true))), choice),
                "small, encoded by interlock less one barrier"};
      }
      return {encoded(built(in_units(small_draft(choice, 0, false))), mutant.create()),
              "small, encoded by a mutant"};
    case 7:
      return {built(in_units(small_draft(choice, 60, true))), "small, with global barriers"};
    case 8:
      return {encoded_less_one_barrier(built(in_units(small_draft(choice, 0, is_odd))), choice),
              "small, encoded by interlock less one barrier"};
    default:
      return {built(is_odd ? scoped_draft(choice) : small_draft(choice, 75, false)),
              "small, on bytes"};
  }
}

}  // namespace

PeerProgram peer_program(uint64_t index) {
  PeerProgram peer = program_of_origin(index);
  peer.program = behind_an_empty_dispatch(peer.program);
  return peer;
}

}  // namespace interlock
