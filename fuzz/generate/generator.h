// Generator: random programs that are valid by construction. Swarm testing (Groce et al., ISSTA
// 2012): each program draws a random subset of the features below with random weights, because
// uniform mixtures hardly ever reach conjunctions such as "slot reuse and donation and no barrier
// for eighteen outputs".
#pragma once

#include <cstdint>
#include <string_view>

#include "encoder/program/draft.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "simulator/schedules/choice.h"

namespace interlock {

enum class Feature : uint8_t {
  kElementwise,    // Table kernels on whole tensors.
  kReduction,      // Sums over rows and columns.
  kMatmul,         // Products and their transposed forms.
  kNormalization,  // Forward norms, softmax.
  kVjpGroup,       // A normalization VJP as MLX dispatches it, the cotangent donated.
  kBackwardGroup,  // The dispatches of any VJP rule, in any order that its values allow.
  kBytewise,       // copy and fill on tensors and raw ranges.
  kOpaqueTensors,  // Opaque dispatches on tensors.
  kOpaqueRanges,   // Opaque dispatches on raw ranges, down to one byte.
  kTinyOverlap,    // Ranges that touch or share exactly one byte with an earlier one.
  kEmptyRange,
  kUpdate,
  kAtomic,
  kPartial,
  kInPlace,  // Output on exactly the input's range, where the contract allows it.
  kDonation,
  kView,
  kSlotReuse,  // A dead tensor's bytes under a new tensor.
  kScratch,    // A scratch memory.
  kOutputs,
  kInitialValues,
  kManyReaders,   // One value read again and again: the trackers' lists grow.
  kManyOutputs,   // Long runs of independent writers: the trackers' lists grow.
  kProgramOrder,  // `order=` on all dispatches; only with GeneratorOptions::has_barriers.
  kScopes,        // Scoped barriers and uniform reads; only with GeneratorOptions::has_barriers.
};
inline constexpr int kFeatureCount = static_cast<int>(Feature::kScopes) + 1;
std::string_view word_of(Feature feature);

struct GeneratorOptions {
  uint32_t max_dispatches = 32;
  bool has_barriers = false;  // Barriers of all kinds, for programs judged as they stand.
  bool gives_roots_own_memories = false;  // Each root tensor its own memory, as MLX allocates.
  // Of campaigns and of mutators, which then make programs of several queues too
  // (queue_generator.h); generate() does not look at it.
  bool has_queues = false;
};

// What a generated program contains; index: Feature.
struct FeatureCounts {
  uint64_t counts[kFeatureCount] = {};
};

// Returns a draft that builds and breaks no alias contract, whatever `choice` says. A correct
// encoder gives it no finding, unless it has an `order=` that contradicts its data flow, which one
// in some 80 programs with barriers has. `counts`, if given, is added to. Cost: some microseconds.
ProgramDraft generate(Choice& choice, const GeneratorOptions& options = {},
                      FeatureCounts* counts = nullptr);

// The program that the draft builds, at less cost. Errors: it does not build.
Result<Program> generate_program(Choice& choice, const GeneratorOptions& options = {});

}  // namespace interlock
