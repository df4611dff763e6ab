// Scopes: which stages, and which of their accesses, one side of a scoped barrier covers.
// Terms: Vulkan 1.3 specification, chapter 7, "Synchronization Scopes" and "Access Scopes".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace interlock {

// Where work of a queue executes. The kernels copy and fill execute in kCopy, every other dispatch
// in kCompute; the arguments of indirect dispatches are read in kIndirect.
enum class Stage : uint8_t { kCompute, kCopy, kIndirect, kHost };
inline constexpr size_t kStageCount = 4;
inline constexpr std::array<Stage, kStageCount> kStages = {Stage::kCompute, Stage::kCopy,
                                                           Stage::kIndirect, Stage::kHost};

// One sort of access in one stage: visibility is kept per sort.
enum class StageAccess : uint8_t {
  kComputeRead,
  kComputeWrite,
  kComputeUniform,  // A read that `compute.read` does not cover.
  kCopyRead,
  kCopyWrite,
  kIndirectRead,
  kHostRead,
  kHostWrite,
};
inline constexpr size_t kStageAccessCount = 8;

// Those of devices: what is the host's comes last.
inline constexpr size_t kDeviceSortCount = 6;
static_assert(static_cast<size_t>(StageAccess::kHostRead) == kDeviceSortCount);

using StageMask = uint8_t;   // One bit per Stage.
using AccessMask = uint8_t;  // One bit per StageAccess.

constexpr StageMask bit_of(Stage stage) {
  return static_cast<StageMask>(1u << static_cast<unsigned>(stage));
}
constexpr AccessMask bit_of(StageAccess access) {
  return static_cast<AccessMask>(1u << static_cast<unsigned>(access));
}

inline constexpr StageMask kAllStages = 0x0f;
inline constexpr AccessMask kAllAccesses = 0xff;

Stage stage_of(StageAccess access);

// A union of stages and of (stage, access) pairs. Every access is in a stage of `stages`; a stage
// without an access is there for execution only.
struct Scope {
  StageMask stages = 0;
  AccessMask accesses = 0;

  bool operator==(const Scope&) const = default;
};

inline constexpr Scope kEverything = {kAllStages, kAllAccesses};

// The scope that one word names: "compute.write", "copy", "all.read". None if it is no scope: an
// unknown stage or access, or an access that the stage does not have.
// `all.read` has every read, uniform and indirect ones too.
std::optional<Scope> scope_of(std::string_view word);

// True iff the word starts like a scope: its part before a '.' is a stage.
bool names_a_stage(std::string_view word);

// The canonical text: "compute.read|copy". Requires: not empty. scope_of() of its words, joined,
// gives `scope` back.
std::string text_of(Scope scope);

// "compute", "compute.read".
std::string text_of(Stage stage);
std::string text_of(StageAccess access);

}  // namespace interlock
