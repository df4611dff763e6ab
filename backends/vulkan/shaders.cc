#include "backends/vulkan/shaders.h"

#include <algorithm>
#include <vector>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/check.h"

namespace interlock {
namespace {

// kEmbeddedShaders: written by CMake, which knows the list of shaders.
#include "backends/vulkan/embedded_shaders.inc"

std::vector<ShaderIndex> indices_by_kernel() {
  std::vector<ShaderIndex> indices;
  for (const KernelEntry& entry : kernel_table()) {
    for (const OperandWidth width : {OperandWidth::kWords, OperandWidth::kBytes}) {
      indices.push_back(shader_index(entry.name, width));
    }
  }
  return indices;
}

}  // namespace

std::span<const Shader> shaders() { return kEmbeddedShaders; }

ShaderIndex shader_index(std::string_view name, OperandWidth width) {
  const std::span<const Shader> all = shaders();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Shader& shader) {
    return shader.name == name && shader.width == width;
  });
  INTERLOCK_CHECK(found != all.end());  // Every kernel of the table needs one.
  return static_cast<ShaderIndex>(found - all.begin());
}

ShaderIndex shader_of(KernelId kernel, OperandWidth width) {
  static const std::vector<ShaderIndex> indices = indices_by_kernel();
  return indices[2 * kernel.index + static_cast<size_t>(width)];
}

}  // namespace interlock
