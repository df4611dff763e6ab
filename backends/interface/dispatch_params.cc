// The identity hashes the label, so that a labelled dispatch keeps its bytes when others are
// dropped.
#include "backends/interface/dispatch_params.h"

#include "encoder/kernel/kernel_binding.h"
#include "encoder/program/check.h"
#include "encoder/program/hash.h"

namespace interlock {

KernelParams dispatch_params_of(const Program& program, DispatchId id) {
  const Dispatch& dispatch = program.dispatch(id);
  KernelParams params = params_of(program, dispatch);
  if (dispatch.kernel == mix_kernel()) {
    params.identity = fnv1a_32(program.reference_of(id));
    params.operand_count = dispatch.access_count;
    params.atomic_op = dispatch.atomic_op;
    params.is_partial = dispatch.is_partial;
  }
  return params;
}

DispatchPiece piece_of(const Program& program, const Step& step) {
  INTERLOCK_CHECK(uint64_t{step.first_slice} + step.slice_count <=
                  slice_count_of(program, program.dispatch(step.dispatch)));
  return {step.dispatch, dispatch_params_of(program, step.dispatch), step.first_slice,
          step.slice_count};
}

DispatchPiece whole_piece_of(const Program& program, DispatchId id) {
  return {id, dispatch_params_of(program, id), 0, slice_count_of(program, program.dispatch(id))};
}

}  // namespace interlock
