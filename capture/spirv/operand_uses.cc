#include "capture/spirv/operand_uses.h"

namespace interlock {
namespace {

constexpr OperandUse kNeither = {};
constexpr OperandUse kLoads = {true, false};
constexpr OperandUse kStores = {false, true};
constexpr OperandUse kBoth = {true, true};

bool is_between(Opcode opcode, Opcode first, Opcode last) {
  return opcode >= first && opcode <= last;
}

}  // namespace

OperandUse operand_use_of(Opcode opcode, size_t position) {
  if (is_between(opcode, Opcode::kImageSampleImplicitLod, Opcode::kImageRead) ||
      is_between(opcode, Opcode::kImageSparseSampleImplicitLod, Opcode::kImageSparseDrefGather) ||
      opcode == Opcode::kImageSparseRead) {
    return position == 0 ? kLoads : kNeither;
  }
  if (is_between(opcode, Opcode::kImageQueryFormat, Opcode::kImageQuerySamples) ||
      is_between(opcode, Opcode::kPtrEqual, Opcode::kPtrDiff)) {
    return kNeither;
  }
  if (is_between(opcode, Opcode::kAtomicExchange, Opcode::kAtomicXor)) {
    return position == 0 ? kBoth : kNeither;
  }
  switch (opcode) {
    case Opcode::kLoad:
    case Opcode::kAtomicLoad:
      return position == 0 ? kLoads : kNeither;
    case Opcode::kStore:
    case Opcode::kAtomicStore:
    case Opcode::kImageWrite:
      return position == 0 ? kStores : kNeither;
    case Opcode::kCopyMemory:
    case Opcode::kCopyMemorySized:
      return position == 0 ? kStores : position == 1 ? kLoads : kNeither;
    case Opcode::kAccessChain:
    case Opcode::kInBoundsAccessChain:
    case Opcode::kPtrAccessChain:
    case Opcode::kInBoundsPtrAccessChain:
    case Opcode::kImageTexelPointer:
    case Opcode::kArrayLength:
    case Opcode::kCopyObject:
    case Opcode::kBitcast:
    case Opcode::kConvertPtrToU:
    case Opcode::kConvertUToPtr:
    case Opcode::kCompositeConstruct:
    case Opcode::kCompositeInsert:
    case Opcode::kSampledImage:
    case Opcode::kImage:
    case Opcode::kSelect:
    case Opcode::kPhi:
    case Opcode::kFunctionCall:  // What the function does is found in it.
    case Opcode::kReturnValue:
    case Opcode::kVariable:
      return kNeither;
    default:
      return kBoth;
  }
}

}  // namespace interlock
