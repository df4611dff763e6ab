#include "fuzz/external/library_encoder.h"

#include <dlfcn.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "encoder/program/error_of.h"
#include "fuzz/external/branch_counters.h"
#include "fuzz/external/resident_bytes.h"

namespace interlock {
namespace {

uint32_t mode_of(AccessMode mode) {
  switch (mode) {
    case AccessMode::kWrite:
      return INTERLOCK_ENCODER_WRITE;
    case AccessMode::kUpdate:
      return INTERLOCK_ENCODER_UPDATE;
    case AccessMode::kAtomic:
      return INTERLOCK_ENCODER_ATOMIC;
    default:
      return INTERLOCK_ENCODER_READ;
  }
}

// Where the barriers of a library go.
struct LibrarySink {
  CommandSink& sink;
  bool has_wrong_barrier = false;

  static void place(void* context, uint32_t barrier) {
    auto& self = *static_cast<LibrarySink*>(context);
    self.has_wrong_barrier |= barrier > INTERLOCK_ENCODER_EXECUTION;
    const bool is_execution = barrier == INTERLOCK_ENCODER_EXECUTION;
    self.sink.issue_barrier(is_execution ? BarrierKind::kExecution : BarrierKind::kFull);
  }
};

// One encoder of a library, as one of ours. Requires: `functions` outlives this.
class EncoderOfLibrary final : public Encoder {
 public:
  explicit EncoderOfLibrary(const LibraryFunctions& functions)
      : functions_(functions), encoder_(functions.create()) {}
  ~EncoderOfLibrary() override {
    if (encoder_ != nullptr) functions_.destroy(encoder_);
  }
  EncoderOfLibrary(const EncoderOfLibrary&) = delete;
  EncoderOfLibrary& operator=(const EncoderOfLibrary&) = delete;

  bool is_there() const { return encoder_ != nullptr; }
  bool has_wrong_barrier() const { return has_wrong_barrier_; }

  void encode(const EncoderDispatch& dispatch, CommandSink& sink) override {
    accesses_.clear();
    for (const Access& access : dispatch.accesses) {
      accesses_.push_back(
          {access.range.begin, access.range.end, access.memory.index, mode_of(access.mode)});
    }
    const interlock_encoder_launch given = {accesses_.data(), accesses_.size(), dispatch.id.index,
                                            static_cast<uint32_t>(dispatch.atomic_op)};
    LibrarySink library_sink{sink};
    functions_.dispatch(encoder_, &given, &LibrarySink::place, &library_sink);
    has_wrong_barrier_ |= library_sink.has_wrong_barrier;
    sink.issue_dispatch(dispatch.id);
  }

  void wait_for_all(CommandSink& sink) override {
    if (functions_.wait == nullptr) return Encoder::wait_for_all(sink);
    LibrarySink library_sink{sink};
    functions_.wait(encoder_, &LibrarySink::place, &library_sink);
    has_wrong_barrier_ |= library_sink.has_wrong_barrier;
  }

 private:
  const LibraryFunctions& functions_;
  void* encoder_;
  std::vector<interlock_encoder_access> accesses_;
  bool has_wrong_barrier_ = false;
};

std::string last_error() {
  const char* const error = dlerror();
  return error != nullptr ? error : "the system does not say why";
}

// Null if there is none of this name.
template <typename Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

Result<std::unique_ptr<LibraryEncoder>> LibraryEncoder::open(const std::string& path) {
  // A name without a slash would be looked up elsewhere.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  BranchCounters& counters = BranchCounters::of_process();
  counters.begin_loading();
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  counters.end_loading();
  if (library == nullptr) {
    return error_of("the library of the encoder cannot be loaded: {}.", last_error());
  }
  std::unique_ptr<LibraryEncoder> encoder(new LibraryEncoder(library));
  decltype(&interlock_encoder_version) version = nullptr;
  LibraryFunctions& functions = encoder->functions_;
  find(library, "interlock_encoder_version", version);
  find(library, "interlock_encoder_create", functions.create);
  find(library, "interlock_encoder_dispatch", functions.dispatch);
  find(library, "interlock_encoder_wait", functions.wait);
  find(library, "interlock_encoder_destroy", functions.destroy);
  for (const auto& [name, is_there] :
       {std::pair("version", version != nullptr), std::pair("create", functions.create != nullptr),
        std::pair("dispatch", functions.dispatch != nullptr),
        std::pair("destroy", functions.destroy != nullptr)}) {
    if (!is_there) {
      return error_of("the library '{}' has no function interlock_encoder_{}().", path, name);
    }
  }
  if (version() != INTERLOCK_ENCODER_VERSION) {
    return error_of("the library '{}' has version {} of interlock_encoder.h; version {} is read.",
                    path, version(), INTERLOCK_ENCODER_VERSION);
  }
  return encoder;
}

LibraryEncoder::~LibraryEncoder() {
  if (collects_branches_) BranchCounters::of_process().begin_loading();
  BranchCounters::of_process().end_loading();
  dlclose(library_);
}

bool LibraryEncoder::collect_branches() {
  Dl_info place = {};
  if (dladdr(reinterpret_cast<const void*>(functions_.create), &place) == 0) return false;
  BranchCounters& counters = BranchCounters::of_process();
  counters.begin_counting(reinterpret_cast<uintptr_t>(place.dli_fbase));
  // Whether it calls back shows as soon as it is asked for anything.
  encode_now({});
  collects_branches_ = counters.has_some();
  if (!collects_branches_) counters.end_counting();
  return collects_branches_;
}

std::optional<uint64_t> LibraryEncoder::resident_bytes() {
  return resident_bytes_of("/proc/self/statm");
}

Encoding LibraryEncoder::encode(const Program& program) {
  if (!collects_branches_) return encode_now(program);
  const std::lock_guard lock(counted_);
  BranchCounters& counters = BranchCounters::of_process();
  counters.clear();
  Encoding encoding = encode_now(program);
  encoding.branches = counters.taken();
  return encoding;
}

Encoding LibraryEncoder::encode_now(const Program& program) {
  EncoderOfLibrary encoder(functions_);
  const auto fail = [](std::string message) {
    return Encoding{{}, EncodeFailure{EncodeFailureKind::kIllegal, std::move(message)}};
  };
  if (!encoder.is_there()) return fail("The library creates no encoder.");
  Result<Program> encoded = try_encode(program, encoder);
  if (!encoded) return fail(encoded.error().message);
  if (encoder.has_wrong_barrier()) return fail("The library places a barrier of no known kind.");
  return {std::move(*encoded), std::nullopt};
}

}  // namespace interlock
