// instrument: a compute module that notes what it touches. The basic idea is that each load, store
// and atomic through a binding first sets a bit in a buffer, which a descriptor set of its own
// binds: a bit for each granule of a buffer, or for each texel of an image. What the module
// computes stays as it is.
//
// How that buffer looks: kEntryWords words for each entry, an entry for each element of each
// measured binding; whoever binds the buffer fills them in (TableWord). The bitmaps stand after
// them, wherever an entry says.
//
// A binding is measured if every access to it is understood: access chains of any depth, copies,
// atomics, reads, writes, fetches and samples of images of one sample. Pointers that pass through
// functions, selections or phis, cube maps, texel buffers, gathers and offsets of samples are not:
// such a binding is left as it is and named.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "encoder/program/result.h"

namespace interlock {

// The words of an entry, by position.
enum TableWord : uint32_t {
  kLoadsWord,   // Where the bitmap of loads begins, in words of the buffer.
  kStoresWord,  // Likewise, of stores.
  kLimitWord,   // How many bits each of them has. What is further is not noted there.
  kPastWord,    // Written by the module: not 0 if something was further.
  kWidthWord,   // Of an image, in texels. So the next two.
  kHeightWord,
  kDepthWord,     // Or layers.
  kSamplingWord,  // How samples look for texels: eight bits for each axis (SamplingBit).
  kEntryWords,
};

enum SamplingBit : uint32_t {
  kSamplesLinearly = 1,
  kSamplesTexelCoordinates = 2,  // Not normalized ones.
  kSamplesRepeating = 4,         // Else, to the edge.
  kSamplesBorder = 8,            // Past the edge is no texel.
  kSamplesLayer = 16,            // The nearest layer.
};

struct MeasuredBinding {
  uint32_t set = 0;
  uint32_t binding = 0;
  uint32_t element_count = 1;  // Of an array of bindings.
  uint32_t first_entry = 0;
  uint32_t granule_shift = 2;  // Of a buffer: a bit stands for so many bytes, as a power of 2.
  bool is_image = false;
  bool is_sampled = false;  // With a sampler that is part of the binding.
  bool is_arrayed = false;  // The image has layers.
  uint32_t axis_count = 0;  // Of an image, without layers.
  bool is_loaded = false;   // So it has a bitmap of loads.
  bool is_stored = false;
};

struct UnmeasuredBinding {
  uint32_t set = 0;
  uint32_t binding = 0;
  std::string reason;  // "a pointer that …": what is not understood.
};

struct InstrumentedModule {
  std::vector<uint32_t> words;
  std::vector<MeasuredBinding> measured;  // Those with the same set and binding may be several.
  std::vector<UnmeasuredBinding> unmeasured;
  uint32_t entry_count = 0;
};

// Entries of a module: arrays of bindings have one for each element.
inline constexpr uint32_t kEntriesMax = 4096;

// The module with the buffer at binding 0 of `own_set`, which it does not use itself.
// Errors: it is not valid; it has decorations by groups, or uses that set; the result is not valid
// as SPIRV-Tools tells. Cost: linear in the module, and a validation.
Result<InstrumentedModule> instrument(std::span<const uint32_t> module, uint32_t own_set);

}  // namespace interlock
