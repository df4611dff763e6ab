// Access truth: four sources say how each kernel accesses each of its operands, and all must say
// the same. The kernel table declares it, SPIR-V declares it again by decorations, the instructions
// of the shader do it, and so does the body on the CPU under instrumentation. Each source is given
// a planted lie, which the comparison must find. Needs no device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "backends/cpu/instrumented.h"
#include "backends/vulkan/shaders.h"
#include "backends/vulkan/spirv.h"
#include "encoder/kernel/kernel_table.h"
#include "tests/backends/kernels/kernel_case.h"
#include "tests/backends/vulkan/spirv_access.h"

namespace interlock::access_truth_test {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

using Accesses = std::vector<std::string>;  // By operand: "r", "w", "rw" or "".
using Module = std::vector<uint32_t>;

std::string word_of(bool reads, bool writes) {
  return std::string(reads ? "r" : "") + (writes ? "w" : "");
}

Accesses declared_accesses(const KernelEntry& entry) {
  Accesses accesses;
  for (const KernelOperand& operand : entry.operands) {
    const Access access{.mode = operand.mode};
    accesses.push_back(word_of(access.reads_plainly() || operand.streams, access.writes_plainly()));
  }
  return accesses;
}

Accesses decorated_accesses(const Module& module) {
  Accesses accesses;
  for (const SpirvAccess& access : buffer_accesses_of(module)) {
    accesses.push_back(word_of(!access.is_non_readable, !access.is_non_writable));
  }
  return accesses;
}

Accesses shader_accesses(const Module& module) {
  Accesses accesses;
  for (const SpirvAccess& access : buffer_accesses_of(module)) {
    accesses.push_back(word_of(access.is_loaded, access.is_stored));
  }
  return accesses;
}

// Of all slices together.
Accesses body_accesses(const KernelCase& c, RecordedBody body = nullptr) {
  InstrumentedOptions options;
  std::vector<bool> is_loaded(operands_of(c).size());
  std::vector<bool> is_stored(is_loaded.size());
  if (body != nullptr) options.bodies[find_kernel(c.kernel).value().index] = body;
  options.on_slice = [&](DispatchId, uint64_t, std::span<const OperandTouches> operands) {
    for (size_t i = 0; i < operands.size(); ++i) {
      is_loaded[i] = is_loaded[i] || !operands[i].loaded.empty();
      is_stored[i] = is_stored[i] || !operands[i].stored.empty();
    }
  };
  EXPECT_TRUE(run_instrumented(program_of(c), options).has_value());
  Accesses accesses;
  for (size_t i = 0; i < is_loaded.size(); ++i) {
    accesses.push_back(word_of(is_loaded[i], is_stored[i]));
  }
  return accesses;
}

Module module_of(std::string_view kernel, OperandWidth width = OperandWidth::kWords) {
  const std::span<const uint32_t> module = shaders()[shader_index(kernel, width)].module;
  return {module.begin(), module.end()};
}

// The sources that do not say what the table says.
std::vector<std::string> liars(const Accesses& declared, const Module& module,
                               const Accesses& body) {
  std::vector<std::string> names;
  if (decorated_accesses(module) != declared) names.emplace_back("decorations");
  if (shader_accesses(module) != declared) names.emplace_back("instructions");
  if (body != declared) names.emplace_back("body");
  return names;
}

TEST(AccessTruth, HoldsForEveryKernel) {
  size_t kernel_count = 0;
  for (const KernelCase& c : one_case_per_kernel()) {
    ++kernel_count;
    const Accesses declared = declared_accesses(kernel_entry(find_kernel(c.kernel).value()));
    for (const OperandWidth width : {OperandWidth::kWords, OperandWidth::kBytes}) {
      EXPECT_THAT(liars(declared, module_of(c.kernel, width), body_accesses(c)), IsEmpty())
          << c.kernel;
    }
  }
  EXPECT_EQ(kernel_count + 1, kernel_table().size());  // All but mix, which follows.
}

// By the modes that the bindings of mix stand for: 2 uniform, 5 read, 3 written, 2 updated, 2
// atomic. A partial write loads, so written bindings have a shader of their own for that.
TEST(AccessTruth, HoldsForTheShadersOfMix) {
  const std::map<std::string, Accesses> expected = {
      {"mix", {"r", "r", "r", "r", "r", "r", "r", "w", "w", "w", "rw", "rw", "rw", "rw"}},
      {"mix_digest", {"r", "rw"}},
      {"mix_write", {"w", "r"}},
      {"mix_partial", {"rw", "r"}},
      {"mix_atomic", {"rw", "r"}},
      {"commit_atomic", {"rw", "r"}}};
  for (const auto& [name, accesses] : expected) {
    for (const OperandWidth width : {OperandWidth::kWords, OperandWidth::kBytes}) {
      EXPECT_EQ(decorated_accesses(module_of(name, width)), accesses) << name;
      EXPECT_EQ(shader_accesses(module_of(name, width)), accesses) << name;
    }
  }
}

const KernelCase& add_case() {
  static const KernelCase c{"add", 3, 5};
  return c;
}

std::vector<std::string> liars_of_add(const Module& module, const Accesses& body) {
  return liars({"r", "r", "w"}, module, body);
}

TEST(AccessTruth, FindsATableThatDeclaresOtherAccesses) {
  EXPECT_THAT(liars({"r", "w", "w"}, module_of("add"), body_accesses(add_case())), SizeIs(3));
  EXPECT_THAT(liars({"r", "r", "rw"}, module_of("add"), body_accesses(add_case())), SizeIs(3));
  EXPECT_THAT(liars({"r", "r"}, module_of("add"), body_accesses(add_case())), SizeIs(3));
}

// Removes every decoration of this kind: 24 is NonWritable, 25 NonReadable.
Module without_decoration(const Module& module, uint32_t decoration) {
  Module changed(module.begin(), module.begin() + 5);
  for (size_t i = 5; i < module.size(); i += module[i] >> 16) {
    const uint32_t opcode = module[i] & 0xffff;
    const bool is_gone = (opcode == 71 && module[i + 2] == decoration) ||
                         (opcode == 72 && module[i + 3] == decoration);
    if (is_gone) continue;
    changed.insert(changed.end(), module.begin() + static_cast<ptrdiff_t>(i),
                   module.begin() + static_cast<ptrdiff_t>(i + (module[i] >> 16)));
  }
  return changed;
}

TEST(AccessTruth, FindsAShaderThatDoesNotSayWhatItMayDo) {
  const Accesses body = body_accesses(add_case());
  for (const uint32_t decoration : {24u, 25u}) {
    EXPECT_THAT(liars_of_add(without_decoration(module_of("add"), decoration), body),
                testing::ElementsAre("decorations"));
  }
}

// Binding numbers of the output and of input b exchanged: a store to b, a load of y.
TEST(AccessTruth, FindsAShaderThatAccessesAnotherOperand) {
  Module module = module_of("add");
  for (size_t i = 5; i < module.size(); i += module[i] >> 16) {
    const bool is_binding = (module[i] & 0xffff) == 71 && module[i + 2] == 33;
    if (is_binding && module[i + 3] > 0) module[i + 3] = 3 - module[i + 3];
  }
  EXPECT_THAT(liars_of_add(module, body_accesses(add_case())),
              testing::ElementsAre("decorations", "instructions"));
}

// Decorations promise what is not done: as if b had been forgotten in the sum.
TEST(AccessTruth, FindsAShaderThatNeverReadsAnOperand) {
  Module module = module_of("add");
  const uint32_t a = bindings_of(module)[0].variable_id;
  const uint32_t b = bindings_of(module)[1].variable_id;
  for (size_t i = 5; i < module.size(); i += module[i] >> 16) {
    const bool is_chain = (module[i] & 0xffff) == 65 || (module[i] & 0xffff) == 66;
    if (is_chain && module[i + 3] == b) module[i + 3] = a;
  }
  EXPECT_THAT(liars_of_add(module, body_accesses(add_case())),
              testing::ElementsAre("instructions"));
}

TEST(AccessTruth, FindsABodyThatNeverReadsAnOperand) {
  const RecordedBody forgets_b = [](RecordingMemory& memory, const KernelParams& params, uint64_t) {
    for (uint64_t i = 0; i < params.element_count; ++i) {
      memory.store_f32(2, i, memory.load_f32(0, i));
    }
  };
  EXPECT_THAT(liars_of_add(module_of("add"), body_accesses(add_case(), forgets_b)),
              testing::ElementsAre("body"));
}

TEST(AccessTruth, FindsABodyThatReadsItsOutput) {
  const RecordedBody accumulates = [](RecordingMemory& memory, const KernelParams& params,
                                      uint64_t) {
    for (uint64_t i = 0; i < params.element_count; ++i) {
      memory.store_f32(2, i, memory.load_f32(2, i) + memory.load_f32(0, i) + memory.load_f32(1, i));
    }
  };
  EXPECT_THAT(liars_of_add(module_of("add"), body_accesses(add_case(), accumulates)),
              testing::ElementsAre("body"));
}

}  // namespace
}  // namespace interlock::access_truth_test
