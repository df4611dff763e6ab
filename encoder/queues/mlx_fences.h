// A model of the fences between MLX's Metal encoders (ml-explore/mlx, CommandEncoder in
// mlx/backend/metal/device.cpp, as of 846d17622). MLX tells Metal to track no resources, so nothing
// orders two Metal encoders of a queue but fences: each has one, which it updates at its end. As it
// ends it looks its buffers up in a map from each buffer to the fence of the encoder that wrote it
// last, and waits for those; then its own outputs go into the map. Readers are in no map: an
// encoder that writes what an earlier one reads waits for nobody. Buffers of temporaries are struck
// from what it looks up and from its outputs, as they never leave an encoder. Until 7e8b4ccc2
// (#4099) compute_dynamic_offset() in mlx/backend/metal/slicing.cpp named a temporary that can
// share the buffer of a donated index: the encoder then no longer waits for who wrote the index.
//
// A Metal encoder is what stands between two `split`s, and has a queue of its own: barriers on it
// cover no other, a fence is a semaphore. Within it barriers are those of `mlx-2026`
// (encoder/sync/mlx.h). Which tensors an operation names as temporaries, declared accesses do not
// say: taken are all that one Metal encoder uses and writes first; of those on bytes of others
// only donations, as in #4099, of a memory that only its donors use beside. Where an encoder is
// split, the program says.
//
// Before the host accesses anything the Metal encoder ends and the host waits for all that there
// are, as eval() does for the command buffers; completion handlers have then taken their outputs
// out of the map. So it does before a `destroy`, as these handlers keep a buffer until it is no
// longer in use. A `free` stands where it stood. MLX's memory is unified; where the program's is
// not, a barrier at the end of each Metal encoder hands on to the host.
//
// Not modelled: completion handlers that come while the host does not wait; set_buffer, events
// between streams, what limits an encoder's operations and bytes.
#pragma once

#include <cstdint>

#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

// As it was before #4099; since then; and with fences of readers, too. Errors: as check_count()
// (dispatch_conflicts.h) and check_host_work_of_no_queue() (host_work.h); more Metal encoders than
// there may be queues. Cost: O(a log a) in accesses, and the waits.
Result<Program> encode_mlx_fences_4099(const Program& program, uint32_t queue_count);
Result<Program> encode_mlx_fences_2026(const Program& program, uint32_t queue_count);
Result<Program> encode_mlx_fences(const Program& program, uint32_t queue_count);

}  // namespace interlock
