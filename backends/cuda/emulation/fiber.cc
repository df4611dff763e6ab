// The basic idea is that a function call already saves half of the registers: a switch pushes the
// others, which a callee must keep, and changes the stack pointer; the return is that of whoever
// switched away from the other stack. A new fiber gets a stack that looks as if it had switched
// away at the start of enter().
//
// Sanitizers follow the stack of a thread and have to be told when it changes.
#include "backends/cuda/emulation/fiber.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "encoder/program/check.h"
#include "encoder/program/error_of.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBER_ASAN
#endif
#if __has_feature(thread_sanitizer)
#define FIBER_TSAN
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define FIBER_ASAN
#endif
#if defined(__SANITIZE_THREAD__)
#define FIBER_TSAN
#endif

#if defined(FIBER_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(FIBER_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

#if defined(__x86_64__) && defined(__ELF__)
#define FIBER_ASSEMBLY

// Stores the stack pointer of this stack, and continues on the other.
extern "C" void interlock_switch_stack(void** from, void* to);
asm(R"(
.pushsection .text
.globl interlock_switch_stack
.hidden interlock_switch_stack
.type interlock_switch_stack, @function
interlock_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size interlock_switch_stack, . - interlock_switch_stack
.popsection
)");
#endif

namespace interlock {
namespace {

#if defined(FIBER_ASAN) || defined(FIBER_TSAN) || !defined(__OPTIMIZE__)
constexpr size_t kStackBytes = 256u << 10;
#else
constexpr size_t kStackBytes = 64u << 10;
#endif

// The fiber that enter() is about to run.
thread_local Fiber* starting_fiber = nullptr;

}  // namespace

// Where one of the two stacks goes on.
struct Fiber::Side {
#if defined(FIBER_ASSEMBLY)
  void* stack_pointer = nullptr;
#endif
  ucontext_t context;
#if defined(FIBER_ASAN)
  void* frames = nullptr;
#endif
#if defined(FIBER_TSAN)
  void* state = nullptr;
#endif
};

struct Fiber::Context {
  uint8_t* stack = nullptr;
  Side body;
  Side resumer;
#if defined(FIBER_ASAN)
  const void* resumer_stack = nullptr;
  size_t resumer_stack_bytes = 0;
#endif
};

std::vector<FiberSwitch> fiber_switches() {
#if defined(FIBER_ASSEMBLY)
  return {FiberSwitch::kAssembly, FiberSwitch::kUcontext};
#else
  return {FiberSwitch::kUcontext};
#endif
}

Result<std::unique_ptr<Fiber>> Fiber::create(FiberSwitch kind) {
  const size_t page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t mapping_bytes = page_bytes + kStackBytes;
  void* const mapping = mmap(nullptr, mapping_bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED || mprotect(mapping, page_bytes, PROT_NONE) != 0) {
    const int reason = errno;
    if (mapping != MAP_FAILED) munmap(mapping, mapping_bytes);
    return error_of("There is no memory for a stack of {} bytes: {}.", mapping_bytes,
                    std::strerror(reason));
  }
  std::unique_ptr<Fiber> fiber(new Fiber(kind, static_cast<uint8_t*>(mapping), mapping_bytes));
  fiber->context_->stack = static_cast<uint8_t*>(mapping) + page_bytes;
  return fiber;
}

Fiber::Fiber(FiberSwitch kind, uint8_t* mapping, size_t mapping_bytes)
    : kind_(kind),
      mapping_(mapping),
      mapping_bytes_(mapping_bytes),
      context_(std::make_unique<Context>()) {
#if defined(FIBER_TSAN)
  context_->body.state = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
#if defined(FIBER_TSAN)
  __tsan_destroy_fiber(context_->body.state);
#endif
#if defined(FIBER_ASAN)
  ASAN_UNPOISON_MEMORY_REGION(context_->stack, kStackBytes);  // Frames of an abandoned body.
#endif
  munmap(mapping_, mapping_bytes_);
}

void Fiber::start(Body body, void* argument) {
  INTERLOCK_CHECK(is_done_);
  is_done_ = false;
  body_ = body;
  argument_ = argument;
#if defined(FIBER_ASSEMBLY)
  if (kind_ == FiberSwitch::kAssembly) {
    // From the top: a return address that nobody uses, which aligns the stack as a call does; the
    // start of enter(); six registers.
    constexpr size_t kSavedCount = 8;
    auto* const top = reinterpret_cast<void**>(context_->stack + kStackBytes);
    std::memset(top - kSavedCount, 0, kSavedCount * sizeof(void*));
    top[-2] = reinterpret_cast<void*>(&Fiber::enter);
    context_->body.stack_pointer = top - kSavedCount;
    return;
  }
#endif
  ucontext_t& context = context_->body.context;
  INTERLOCK_CHECK(getcontext(&context) == 0);
  context.uc_stack.ss_sp = context_->stack;
  context.uc_stack.ss_size = kStackBytes;
  context.uc_link = nullptr;
  makecontext(&context, &Fiber::enter, 0);
}

void Fiber::enter() { starting_fiber->run_body(); }

void Fiber::run_body() {
#if defined(FIBER_ASAN)
  __sanitizer_finish_switch_fiber(nullptr, &context_->resumer_stack,
                                  &context_->resumer_stack_bytes);
#endif
  body_(argument_);
  is_done_ = true;
  switch_to_resumer(true);
  fail_check("nobody resumes a body that has returned", __FILE__, __LINE__);
}

void Fiber::resume() {
  INTERLOCK_CHECK(!is_done_);
  starting_fiber = this;
#if defined(FIBER_ASAN)
  __sanitizer_start_switch_fiber(&context_->resumer.frames, context_->stack, kStackBytes);
#endif
#if defined(FIBER_TSAN)
  context_->resumer.state = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(context_->body.state, 0);
#endif
  switch_stack(context_->resumer, context_->body);
#if defined(FIBER_ASAN)
  __sanitizer_finish_switch_fiber(context_->resumer.frames, nullptr, nullptr);
#endif
}

void Fiber::give_way() { switch_to_resumer(false); }

void Fiber::switch_stack(Side& from, Side& to) {
#if defined(FIBER_ASSEMBLY)
  if (kind_ == FiberSwitch::kAssembly) {
    interlock_switch_stack(&from.stack_pointer, to.stack_pointer);
    return;
  }
#endif
  INTERLOCK_CHECK(swapcontext(&from.context, &to.context) == 0);
}

void Fiber::switch_to_resumer([[maybe_unused]] bool is_last) {
#if defined(FIBER_ASAN)
  __sanitizer_start_switch_fiber(is_last ? nullptr : &context_->body.frames,
                                 context_->resumer_stack, context_->resumer_stack_bytes);
#endif
#if defined(FIBER_TSAN)
  __tsan_switch_to_fiber(context_->resumer.state, 0);
#endif
  switch_stack(context_->body, context_->resumer);
#if defined(FIBER_ASAN)
  __sanitizer_finish_switch_fiber(context_->body.frames, &context_->resumer_stack,
                                  &context_->resumer_stack_bytes);
#endif
}

}  // namespace interlock
