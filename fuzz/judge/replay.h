// Replay: runs the recorded witness of a program against its reference on one backend, and says
// in numbers whether it still fails.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/interface/backend.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "simulator/gradients/gradient_check.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

// One output tensor (or a whole memory, bytewise, if the program has no output lines), or what the
// host reads in one statement, compared.
struct OutputComparison {
  TensorId tensor;  // None: `memory` as bytes.
  MemoryId memory;
  DispatchId host_read;  // If some: what it reads, and no memory; of `tensor`, or bytes.
  uint64_t element_count = 0;
  uint64_t differing_count = 0;
  uint64_t first_differing = 0;  // Element index; meaningful iff differing_count > 0.
  double reference_value = 0;    // At first_differing.
  double witness_value = 0;
  double max_abs_difference = 0;  // Over numbers; NaN counts as differing only.
};

struct ReplayReport {
  bool diverges = false;
  std::vector<OutputComparison> outputs;  // As compare_outputs() has them.
  // Complete sentences: the schedule, and per differing output "64 of 64 values of gb differ: …".
  std::string headline;
  std::vector<std::string> details;
};

// Compares the outputs of two runs of `program`, bit for bit, and then what the host reads: in the
// order of ShadowMachine::differing_outputs().
std::vector<OutputComparison> compare_outputs(const Program& program, const MemoryImage& reference,
                                              const MemoryImage& other);

// Compares one tensor of `other` with one of `reference`, of the same shape, bit for bit.
OutputComparison compare_output(const Program& other, const MemoryImage& other_image,
                                TensorId other_tensor, const Program& reference,
                                const MemoryImage& reference_image, TensorId reference_tensor);

// True iff an output differs in any bit, or what the host reads.
bool outputs_differ(const Program& program, const MemoryImage& reference, const MemoryImage& other);

// An element, as short as its type allows: 0.1 and not 0.10000000149011612.
std::string text_of_element(DType dtype, const uint8_t* bytes);

// "64 of 64 values of gb differ: …", or "All 64 values of gb agree."; one sentence for each
// comparison. Cost: as harms_values() (values_apart.h), once, and the sentences.
std::vector<std::string> sentences_of(const Program& program,
                                      const std::vector<OutputComparison>& comparisons);

// Runs the reference (reference.h) and the recorded witness. Where these agree, a last sentence
// says if the program has a hazard all the same, for up to 100,000 dispatches. Errors: the program
// has no witness line; the witness is not a legal schedule of this program; the backend failed.
Result<ReplayReport> replay(const Program& program, Backend& backend);

// Runs the reference and any legal schedule.
Result<ReplayReport> replay(const Program& program, const Schedule& schedule, Backend& backend);

// A wrong gradient in numbers: it goes wrong in reference order, so there is no witness to replay.
// Runs `program` and the same program with the backward pass one-shot, both in reference order, and
// compares the `wrong` gradients, those that are not the sum over all paths. Of a wrong gradient
// the numbers may agree all the same: what counts twice can be zeros. Of programs of up to 4 MiB
// the details also have one-shot in float64, by the oracles of the kernels: whether the numbers to
// compare with are right themselves. Requires: `wrong` is find_wrong_gradients(program), not empty.
// Errors: the backend failed.
Result<ReplayReport> replay_gradients(const Program& program,
                                      const std::vector<GradientFinding>& wrong, Backend& backend);

}  // namespace interlock
