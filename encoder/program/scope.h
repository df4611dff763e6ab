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

// Where work of a queue executes. The kernels copy and fill execute in kCopy, an opaque dispatch in
// the stage that it names, every other one in kCompute; the arguments of indirect dispatches are
// read in kIndirect. What a barrier does to its operands (layout transitions, transfers of
// ownership: 7.1.1) executes in kTransition, which no word of a scope names by itself: `all` and
// `device` have it.
enum class Stage : uint8_t { kCompute, kCopy, kIndirect, kGraphics, kTransition, kHost };
inline constexpr size_t kStageCount = 6;
inline constexpr std::array<Stage, kStageCount> kStages = {Stage::kCompute,    Stage::kCopy,
                                                           Stage::kIndirect,   Stage::kGraphics,
                                                           Stage::kTransition, Stage::kHost};

// One sort of access in one stage: visibility is kept per sort.
enum class StageAccess : uint8_t {
  kComputeRead,
  kComputeWrite,
  kComputeUniform,  // A read that `compute.read` does not cover.
  kCopyRead,
  kCopyWrite,
  kIndirectRead,
  kGraphicsRead,
  kGraphicsWrite,
  kGraphicsUniform,
  kHostRead,
  kHostWrite,
  // No scope has these two: a transition sees what is available, and what it writes is available at
  // once (7.1.1).
  kTransitionRead,
  kTransitionWrite,
};
inline constexpr size_t kStageAccessCount = 13;

// Those of scopes come first, and of these, those of devices.
inline constexpr size_t kScopeSortCount = 11;
static_assert(static_cast<size_t>(StageAccess::kTransitionRead) == kScopeSortCount);
inline constexpr size_t kDeviceSortCount = 9;
static_assert(static_cast<size_t>(StageAccess::kHostRead) == kDeviceSortCount);

using StageMask = uint8_t;    // One bit per Stage.
using AccessMask = uint16_t;  // One bit per StageAccess.

constexpr StageMask bit_of(Stage stage) {
  return static_cast<StageMask>(1u << static_cast<unsigned>(stage));
}
constexpr AccessMask bit_of(StageAccess access) {
  return static_cast<AccessMask>(1u << static_cast<unsigned>(access));
}

inline constexpr StageMask kAllStages = 0x3f;
inline constexpr StageMask kDeviceStages = 0x1f;    // All but the host.
inline constexpr AccessMask kAllAccesses = 0x07ff;  // Those of scopes.
static_assert(kAllStages == (kDeviceStages | bit_of(Stage::kHost)));
static_assert(kAllAccesses == (1u << kScopeSortCount) - 1);

Stage stage_of(StageAccess access);

constexpr bool is_of_transition(StageAccess access) {
  return access == StageAccess::kTransitionRead || access == StageAccess::kTransitionWrite;
}

// The sort of the writes of a stage. Requires: the stage has writes.
constexpr StageAccess write_sort_of(Stage stage) {
  switch (stage) {
    case Stage::kCopy:
      return StageAccess::kCopyWrite;
    case Stage::kGraphics:
      return StageAccess::kGraphicsWrite;
    case Stage::kTransition:
      return StageAccess::kTransitionWrite;
    case Stage::kHost:
      return StageAccess::kHostWrite;
    default:
      return StageAccess::kComputeWrite;
  }
}

constexpr bool is_write(StageAccess sort) {
  return sort == StageAccess::kComputeWrite || sort == StageAccess::kCopyWrite ||
         sort == StageAccess::kGraphicsWrite || sort == StageAccess::kHostWrite ||
         sort == StageAccess::kTransitionWrite;
}

// A union of stages and of (stage, access) pairs. Every access is in a stage of `stages`; a stage
// without an access is there for execution only. None at all is `none`: an empty first scope orders
// nothing before (TOP_OF_PIPE), an empty second one nothing after (BOTTOM_OF_PIPE).
struct Scope {
  StageMask stages = 0;
  AccessMask accesses = 0;

  bool operator==(const Scope&) const = default;
};

inline constexpr Scope kEverything = {kAllStages, kAllAccesses};

// The scope that one word names: "compute.write", "copy", "all.read", "none". None if it is no
// scope: an unknown stage or access, or an access that the stage does not have.
// `all.read` has every read, uniform and indirect ones too; `device` is `all` but the host
// (ALL_COMMANDS).
std::optional<Scope> scope_of(std::string_view word);

// The stage that `dispatch K in WORD` names: compute, copy or graphics. None if it is no such
// stage.
std::optional<Stage> stage_of_dispatches(std::string_view word);

// True iff the word starts like a scope: its part before a '.' is a stage.
bool names_a_stage(std::string_view word);

// The canonical text: "compute.read|copy", "none". scope_of() of its words, joined, gives `scope`
// back. Requires: kTransition with all other stages of devices only.
std::string text_of(Scope scope);

// "compute", "compute.read".
std::string text_of(Stage stage);
std::string text_of(StageAccess access);

}  // namespace interlock
