// The encoders by name: ours first, then the two trivial ones, then the models.

#include <array>
#include <memory>

#include "encoder/program/registry.h"
#include "encoder/sync/encoder.h"
#include "encoder/sync/ggml.h"
#include "encoder/sync/ggml_vulkan.h"
#include "encoder/sync/interlock_encoder.h"
#include "encoder/sync/interlock_scoped_encoder.h"
#include "encoder/sync/mlx.h"
#include "encoder/sync/trivial_encoders.h"

namespace interlock {
namespace {

template <typename T>
std::unique_ptr<Encoder> create() {
  // A list of an epoch has room for much, which make_unique() would make zero first.
  return std::make_unique_for_overwrite<T>();
}

constexpr std::array kEncoders = {
    EncoderEntry{"interlock", "ours: byte exact, the fewest barriers for the given order", false,
                 &create<InterlockEncoder>},
    EncoderEntry{"interlock-scoped",
                 "the same barriers, with scopes of which no stage and no access can go", false,
                 &create<InterlockScopedEncoder>, true},
    EncoderEntry{"serial", "a full barrier before every dispatch but the first", false,
                 &create<SerialEncoder>},
    EncoderEntry{"none", "no barriers", true, &create<NoneEncoder>},
    EncoderEntry{"ggml-metal",
                 "ggml's ggml_mem_ranges on declared ranges; adjacent ranges conflict", false,
                 &create<GgmlMetalEncoder>},
    EncoderEntry{"ggml-vulkan-27805",
                 "ggml's Vulkan encoder, which reorders and misses views (llama.cpp#27805)", true,
                 &create<GgmlVulkan27805Encoder>},
    EncoderEntry{"ggml-vulkan-reorder", "the same since #27812: it looks below the views", false,
                 &create<GgmlVulkanReorderEncoder>},
    EncoderEntry{"mlx-2024", "MLX's Metal encoder before #3630: whole memories, misses WAR", true,
                 &create<Mlx2024Encoder>},
    EncoderEntry{"mlx-2026", "MLX's Metal encoder since #3630: whole memories, RAW, WAR and WAW",
                 false, &create<Mlx2026Encoder>},
};

}  // namespace

std::span<const EncoderEntry> encoder_registry() { return kEncoders; }

const EncoderEntry* find_encoder(std::string_view name) {
  return find_entry(encoder_registry(), name);
}

}  // namespace interlock
