// The alias contracts of the kernel table, tried out: in place where it is allowed, and a placement
// that goes wrong where it is not.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "encoder/kernel/kernel_table.h"
#include "tests/backends/kernels/kernel_case.h"

namespace interlock::kernel_alias_test {
namespace {

using Outputs = std::vector<std::vector<uint8_t>>;

Outputs outputs_after(const KernelCase& c, const Program& program,
                      const std::vector<uint64_t>& slices) {
  const MemoryImage image = image_after(program, slices_in_order(slices));
  Outputs outputs;
  for (const CaseOperand& operand : operands_of(c)) {
    if (operand.is_output) {
      outputs.push_back(bytes_of(program, image, operand.name));
    }
  }
  return outputs;
}

std::vector<KernelCase> alias_cases() {
  std::vector<KernelCase> cases = all_cases();
  // The last operands of the norms fit on w and b only in a single row.
  for (KernelCase c : one_case_per_kernel()) {
    c.rows = 1;
    c.cols = 70;
    c.inner = 70;
    cases.push_back(c);
  }
  return cases;
}

void expect_in_place_is_safe(const KernelCase& c, const SharedPlaces& shared) {
  const Program apart = program_apart(c, shared);
  const Outputs expected = outputs_after(c, apart, ascending_slices(apart));
  const Program program = program_of(c, shared);
  EXPECT_EQ(outputs_after(c, program, ascending_slices(program)), expected) << c;
  EXPECT_EQ(outputs_after(c, program, descending_slices(program)), expected) << c;
  EXPECT_EQ(outputs_after(c, program, shuffled_slices(program, 1)), expected) << c;
  EXPECT_EQ(outputs_after(c, program, shuffled_slices(program, 2)), expected) << c;
}

TEST(AliasContracts, IdenticalElementsAreSafeInPlace) {
  for (const KernelCase& c : alias_cases()) {
    const std::vector<CaseOperand> operands = operands_of(c);
    for (const auto& [input, output] :
         kernel_entry(find_kernel(c.kernel).value()).identical_pairs) {
      const std::string& input_name = operands[static_cast<size_t>(input)].name;
      expect_in_place_is_safe(c, {{operands[static_cast<size_t>(output)].name, {input_name, 0}}});
    }
  }
}

TEST(AliasContracts, BothOutputsOfANormVjpMayReplaceItsInputs) {
  for (const char* kernel : {"rms_norm_vjp", "layer_norm_vjp"}) {
    const KernelCase c{kernel, 13, 41};
    expect_in_place_is_safe(c, {{"gx", {"g", 0}}, {"gw_rows", {"x", 0}}});
    expect_in_place_is_safe(c, {{"gx", {"x", 0}}, {"gw_rows", {"g", 0}}});
  }
}

// How much larger an output may be than the input that it lies on: there is room after inputs.
constexpr uint64_t kReachBytes = 128;

// True iff some placement of `output` within reach of `input`, and some order of slices, changes an
// output: so the contract `never` says no more than is true.
bool goes_wrong(const KernelCase& c, const CaseOperand& input, const CaseOperand& output) {
  const Program apart = program_of(c);
  const Outputs expected = outputs_after(c, apart, ascending_slices(apart));
  for (const int64_t offset_bytes : {0, 4, -4, 8, 64}) {
    const Program program = program_of(c, {{output.name, {input.name, offset_bytes}}});
    if (outputs_after(c, program, ascending_slices(program)) != expected ||
        outputs_after(c, program, descending_slices(program)) != expected) {
      return true;
    }
  }
  return false;
}

TEST(AliasContracts, EveryNeverHasAPlacementThatGoesWrong) {
  for (const KernelEntry& entry : kernel_table()) {
    for (size_t i = 0; i < entry.operands.size(); ++i) {
      for (size_t k = i + 1; k < entry.operands.size(); ++k) {
        if (entry.operands[i].mode != AccessMode::kRead ||
            entry.operands[k].mode != AccessMode::kWrite ||
            alias_contract_of(entry, static_cast<int>(i), static_cast<int>(k)) !=
                AliasContract::kNever) {
          continue;
        }
        const std::vector<KernelCase> cases = alias_cases();
        EXPECT_TRUE(std::any_of(cases.begin(), cases.end(),
                                [&](const KernelCase& c) {
                                  if (c.kernel != entry.name) {
                                    return false;
                                  }
                                  const std::vector<CaseOperand> operands = operands_of(c);
                                  return operands[k].size_bytes() <=
                                             operands[i].size_bytes() + kReachBytes &&
                                         goes_wrong(c, operands[i], operands[k]);
                                }))
            << entry.name << ": " << entry.operands[k].name << " on " << entry.operands[i].name;
      }
    }
  }
}

TEST(AliasContracts, MixIsSafeInPlace) {
  const Program apart = parsed(R"(interlock 1
memory a 300
memory b 300
memory c 300
memory d 300
dispatch copy reads a writes c
dispatch copy reads b writes d
k: dispatch Kernel reads a b writes c d
)");
  const Program in_place = parsed(R"(interlock 1
memory a 300
memory b 300
k: dispatch Kernel reads a b writes a b
)");
  const MemoryImage expected = image_after(apart, reference_order_schedule(apart));
  const MemoryImage image = image_after(in_place, reference_order_schedule(in_place));
  EXPECT_EQ(image.memories[0], expected.memories[2]);
  EXPECT_EQ(image.memories[1], expected.memories[3]);
}

}  // namespace
}  // namespace interlock::kernel_alias_test
