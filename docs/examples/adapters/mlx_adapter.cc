// Records what MLX's CommandEncoder issues: each line marked "+" is one to add to
// mlx/backend/metal/device.{h,cpp}; the rest stands for what is there. Usage: mlx_adapter FILE [forget]
// where `forget` leaves out what PR #3630 of MLX added: an output that was an input before waits, too.
#include <cstdlib>
#include <string>
#include <unordered_set>
#include <utility>

#include "docs/examples/adapters/mlx_stub.h"
#include "encoder/recorder.h"

namespace mlx::core::metal {

struct StreamRecorder {  // + All of it, once.
  explicit StreamRecorder(const char* path)
      : file(path != nullptr ? interlock_recorder_open(path) : nullptr) {}
  ~StreamRecorder() { interlock_recorder_close(file); }
  StreamRecorder(const StreamRecorder&) = delete;
  StreamRecorder& operator=(const StreamRecorder&) = delete;

  // Where MetalAllocator gets a buffer from the device, and gives it back; not where it takes one from
  // its cache: two users of the same bytes are what hazards are between.
  void allocated(const MTL::Buffer* buffer) {
    interlock_recorder_memory(file, nullptr, key_of(buffer), buffer->length(), INTERLOCK_HANDLE);
  }

  void access(interlock_access_kind kind, const array& a, int64_t offset) {
    interlock_recorder_access_at(file, kind, key_of(a.buffer()),
                                 a.offset() + static_cast<uint64_t>(offset),
                                 a.nbytes() - static_cast<uint64_t>(offset));
  }

  static uint64_t key_of(const MTL::Buffer* buffer) { return reinterpret_cast<uintptr_t>(buffer); }

  interlock_recorder* file;  // Null: nothing is recorded, and no call does anything.
};

class CommandEncoder {
 public:
  CommandEncoder(MTL::ComputeCommandEncoder* enc, StreamRecorder* recorder, bool forgets)
      : enc_(enc), recorder_(recorder), forgets_(forgets) {}

  void set_compute_pipeline_state(std::string kernel) { kernel_ = std::move(kernel); }  // +

  void set_input_array(const array& a, int idx, int64_t offset = 0) {
    begin();                                                // +
    recorder_->access(INTERLOCK_READ, a, offset);           // +
    needs_barrier_ = needs_barrier_ || prev_outputs_.count(a.buffer()) != 0;
    next_inputs_.insert(a.buffer());
    enc_->setBuffer(a.buffer(), a.offset() + static_cast<std::size_t>(offset), idx);
  }

  void set_output_array(array& a, int idx, int64_t offset = 0) {
    begin();                                                // +
    recorder_->access(INTERLOCK_WRITE, a, offset);          // +
    needs_barrier_ = needs_barrier_ || prev_outputs_.count(a.buffer()) != 0 ||
                     (!forgets_ && prev_inputs_.count(a.buffer()) != 0);
    next_outputs_.insert(a.buffer());
    enc_->setBuffer(a.buffer(), a.offset() + static_cast<std::size_t>(offset), idx);
  }

  void dispatch_threadgroups(MTL::Size grid_dims, MTL::Size group_dims) {
    maybeInsertBarrier();
    enc_->dispatchThreadgroups(grid_dims, group_dims);
    interlock_recorder_end(recorder_->file);                // +
    is_open_ = false;                                       // +
  }

  void maybeInsertBarrier() {
    if (needs_barrier_) {
      enc_->memoryBarrier(MTL::BarrierScopeBuffers);
      // Inside a dispatch that is being collected it is recorded before it.
      interlock_recorder_barrier(recorder_->file, nullptr); // +
      needs_barrier_ = false;
      prev_outputs_ = std::move(next_outputs_);
      prev_inputs_ = std::move(next_inputs_);
    } else {
      prev_outputs_.insert(next_outputs_.begin(), next_outputs_.end());
      prev_inputs_.insert(next_inputs_.begin(), next_inputs_.end());
    }
    next_outputs_.clear();
    next_inputs_.clear();
  }

 private:
  void begin() {                                            // +
    if (is_open_) return;                                   // +
    interlock_recorder_dispatch(recorder_->file, kernel_.c_str(), kernel_.c_str());  // +
    is_open_ = true;                                        // +
  }                                                         // +

  MTL::ComputeCommandEncoder* enc_;
  StreamRecorder* recorder_;                                // +
  std::string kernel_;                                      // +
  bool is_open_ = false;                                    // +
  bool forgets_;
  bool needs_barrier_ = false;
  std::unordered_set<const MTL::Buffer*> prev_inputs_, next_inputs_, prev_outputs_, next_outputs_;
};

}  // namespace mlx::core::metal

namespace {

// The end of the backward pass of a layer norm, where the cotangent g is donated to gx.
void issue_backward(mlx::core::metal::CommandEncoder& encoder, const MTL::Buffer* buffers) {
  using mlx::core::array;
  const array x(buffers[0], 0, 4096);
  const array g(buffers[1], 0, 4096);
  array gb(buffers[2], 0, 256);
  array gx(buffers[1], 0, 4096);
  encoder.set_compute_pipeline_state("col_reduce_small_float32");
  encoder.set_input_array(g, 0);
  encoder.set_output_array(gb, 1);
  encoder.dispatch_threadgroups({1, 1, 1}, {64, 1, 1});
  encoder.set_compute_pipeline_state("vjp_layer_norm_float32");
  encoder.set_input_array(x, 0);
  encoder.set_output_array(gx, 1);
  encoder.dispatch_threadgroups({16, 1, 1}, {64, 1, 1});
}

}  // namespace

int main(int argc, char** argv) {
  mlx::core::metal::StreamRecorder recorder(argc > 1 ? argv[1] : std::getenv("MLX_INTERLOCK_FILE"));
  static char bytes[3][4096];
  const MTL::Buffer buffers[] = {{bytes[0], 4096}, {bytes[1], 4096}, {bytes[2], 4096}};
  for (const MTL::Buffer& buffer : buffers) recorder.allocated(&buffer);
  MTL::ComputeCommandEncoder metal;
  mlx::core::metal::CommandEncoder encoder(&metal, &recorder, argc > 2);
  issue_backward(encoder, buffers);
  return interlock_recorder_status(recorder.file) == INTERLOCK_OK ? 0 : 1;
}
