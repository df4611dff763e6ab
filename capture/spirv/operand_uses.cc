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
  const bool changes_atomically =
      is_atomic(opcode) && opcode != Opcode::kAtomicLoad && opcode != Opcode::kAtomicStore;
  if (changes_atomically) {
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

bool is_atomic(Opcode opcode) {
  return is_between(opcode, Opcode::kAtomicLoad, Opcode::kAtomicXor) ||
         opcode == Opcode::kAtomicFMin || opcode == Opcode::kAtomicFMax ||
         opcode == Opcode::kAtomicFAdd;
}

AtomicOp atomic_op_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAtomicIIncrement:
    case Opcode::kAtomicIDecrement:
    case Opcode::kAtomicIAdd:
    case Opcode::kAtomicISub:
    case Opcode::kAtomicFAdd:
      return AtomicOp::kAdd;
    case Opcode::kAtomicSMin:
    case Opcode::kAtomicUMin:
    case Opcode::kAtomicFMin:
      return AtomicOp::kMin;
    case Opcode::kAtomicSMax:
    case Opcode::kAtomicUMax:
    case Opcode::kAtomicFMax:
      return AtomicOp::kMax;
    case Opcode::kAtomicAnd:
      return AtomicOp::kAnd;
    case Opcode::kAtomicOr:
      return AtomicOp::kOr;
    case Opcode::kAtomicXor:
      return AtomicOp::kXor;
    default:
      return AtomicOp::kNone;
  }
}

}  // namespace interlock
