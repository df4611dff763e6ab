// Shaders: the SPIR-V of every kernel and of the phases of mix, embedded at build time.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "encoder/program/ids.h"

namespace interlock {

// Bindings of the shader that has the most: shaders/mix.comp.
inline constexpr uint32_t kBindingCountMax = 14;

// How a shader sees its operands (shaders/kernel.glsl).
enum class OperandWidth : uint8_t {
  kWords,  // They start at multiples of four bytes.
  kBytes,  // They start anywhere. Needs 8-bit storage.
};

struct Shader {
  std::string_view name;  // Of the kernel, or of a phase of mix.
  OperandWidth width = OperandWidth::kWords;
  std::span<const uint32_t> module;
};

// A shader, as an index into shaders().
using ShaderIndex = uint32_t;

std::span<const Shader> shaders();

// Requires: there is a shader of this name.
ShaderIndex shader_index(std::string_view name, OperandWidth width);

// As above, of a kernel of the table other than mix. Cost: constant.
ShaderIndex shader_of(KernelId kernel, OperandWidth width);

}  // namespace interlock
