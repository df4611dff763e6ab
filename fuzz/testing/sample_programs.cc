// Each program has one trap. Those that need a barrier show what trackers miss; those that need
// none, or none more, show what they overdo.
#include "fuzz/testing/sample_programs.h"

#include <iterator>
#include <string>
#include <vector>

namespace interlock {
namespace {

constexpr SampleProgram kPrograms[] = {
    {"layer-norm-vjp", "a write on donated bytes that were read (MLX #3630)", kLayerNormVjp},
    {"read-after-two-barriers", "a barrier orders all that stands before it",
     R"(
memory a 64
memory b 64
memory c 64
produce: dispatch Produce writes a
consume: dispatch Consume reads a writes b
again: dispatch Consume reads a b writes c
)"},
    {"first-after-a-barrier", "the dispatch after a barrier can be in a hazard too",
     R"(
memory a 64
memory b 64
memory c 64
produce: dispatch Produce writes a
first: dispatch Consume reads a writes b
second: dispatch Consume reads b writes c
)"},
    {"overwrite-from-afar", "a write conflicts with a read many dispatches before",
     R"(
memory a 64
memory b 64
read: dispatch Read reads a writes b[0:4]
dispatch Other writes b[4:8]
dispatch Other writes b[8:12]
dispatch Other writes b[12:16]
dispatch Other writes b[16:20]
dispatch Other writes b[20:24]
overwrite: dispatch Overwrite reads b[40:44] b[44:48] writes a
)"},
    {"write-twice", "two writes conflict",
     R"(
memory a 64
first: dispatch Produce writes a[0:32]
second: dispatch Produce writes a[16:48]
)"},
    {"one-byte", "ranges that share one byte conflict, at either end",
     R"(
memory a 64
memory b 64
left: dispatch Left writes a[0:17]
right: dispatch Right reads a[16:32] writes b[0:4]
dispatch Left writes b[8:16]
dispatch Right reads b[15:16]
)"},
    {"touching-ranges", "ranges that touch do not conflict",
     R"(
memory a 64
left: dispatch Left writes a[0:16]
right: dispatch Right reads a[16:32] writes a[32:48]
further: dispatch Left writes a[48:64]
)"},
    {"readers-only", "reads do not conflict",
     R"(
memory a 64
memory b 64
dispatch Read reads a writes b[0:16]
dispatch Read reads a writes b[16:32]
dispatch Read reads a[8:24] writes b[32:48]
)"},
    {"many-operands", "the last operand counts too (llama.cpp#16412)",
     R"(
memory a 64
memory b 64
produce: dispatch Produce writes a[40:48]
gather: dispatch Gather reads b[0:4] b[8:12] b[16:20] b[24:28] b[32:36] a[40:48] writes b[48:52]
)"},
    {"many-outputs", "more outputs in an epoch than a small table has rows",
     R"(
memory a 256
memory b 64
dispatch Split writes a[0:4] a[8:12] a[16:20] a[24:28] a[32:36] a[40:44] a[48:52]
dispatch Split writes a[64:68] a[72:76] a[80:84] a[88:92] a[96:100] a[104:108] a[112:116]
dispatch Split writes a[128:132] a[136:140] a[144:148] a[152:156] a[160:164] a[168:172] a[176:180]
last: dispatch Join reads a[168:172] a[176:180] writes b
)"},
    {"in-place-chain", "an in-place operand is read and written",
     R"(
memory a 64
memory b 64
dispatch Scale updates a
dispatch Scale updates a
dispatch Read reads a writes b
)"},
    {"atomics-of-one-operation", "equal atomics do not conflict, and a read of them does",
     R"(
memory a 64
memory b 64
dispatch Count atomics a atomic=add
dispatch Count atomics a atomic=add
total: dispatch Read reads a writes b
)"},
    {"atomics-of-two-operations", "atomics of two operations conflict",
     R"(
memory a 64
dispatch Count atomics a[0:4] atomic=add
dispatch Count atomics a[0:4] atomic=max
)"},
    {"two-ranges-of-one-memory", "a memory has more than one access to remember",
     R"(
memory pool 128
memory b 64
dispatch Produce writes pool[0:16]
dispatch Produce writes pool[64:80]
consume: dispatch Consume reads pool[0:16] writes b
)"},
    {"range-inside", "a range within another conflicts with it",
     R"(
memory a 64
memory b 64
inner: dispatch Produce writes a[16:32]
outer: dispatch Consume reads a[0:64] writes b
)"},
    {"many-memories", "memories do not conflict with each other",
     R"(
memory a 64
memory b 64
memory c 64
memory d 64
memory e 64
memory f 64
memory g 64
memory h 64
dispatch Produce writes a
dispatch Produce writes b
dispatch Produce writes c
dispatch Produce writes d
dispatch Produce writes e
dispatch Produce writes f
dispatch Produce writes g
dispatch Produce writes h
)"},
    {"slot-reuse", "a planner's slot is overwritten while it is read",
     R"(
memory pool 128
memory b 64
dispatch Produce writes pool[0:64]
dispatch Consume reads pool[0:64] writes b
reuse: dispatch Produce writes pool[32:128]
)"},
};

// Between its two dispatches so many others access bytes of their own, in two ranges each.
constexpr int kDispatchesBetween = 200;

std::string far_apart(const std::string& first, const std::string& last) {
  std::string text = "\nmemory a 64\nmemory b 64\nmemory far 3200\n";
  text += "first: dispatch Make " + first + "\n";
  for (int i = 0; i < kDispatchesBetween; ++i) {
    const auto range = [&](int begin) {
      return " far[" + std::to_string(begin) + ":" + std::to_string(begin + 8) + "]";
    };
    text += "dispatch Other reads" + range(16 * i) + " writes" + range(16 * i + 8) + "\n";
  }
  return text + "last: dispatch Use " + last + "\n";
}

std::vector<SampleProgram> with_long_ones() {
  static const std::string kRead = far_apart("writes a", "reads a writes b");
  static const std::string kOverwritten = far_apart("reads a writes b", "writes a");
  std::vector<SampleProgram> programs(std::begin(kPrograms), std::end(kPrograms));
  programs.push_back({"read-from-far", "400 accesses lie between a write and its read", kRead});
  programs.push_back(
      {"overwrite-from-far", "400 accesses lie between a read and a write over it", kOverwritten});
  return programs;
}

}  // namespace

std::span<const SampleProgram> sample_programs() {
  static const std::vector<SampleProgram> programs = with_long_ones();
  return programs;
}

}  // namespace interlock
