// Elementwise kernels on the CPU backend, each beside a plain loop over typed arrays that leaves
// the same bits: both by turns in one run, compiled alike.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "backends/cpu/execute.h"
#include "backends/kernels/dialect.h"
#include "backends/kernels/elementary.h"
#include "encoder/program/check.h"
#include "encoder/text/parser.h"
#include "tests/bench/targets.h"

namespace interlock {
namespace {

// In one block, each at a cache line, and at its own place in a page: how fast bytes are filled and
// copied depends on that, so that allocations as they come would favour the kernel or the loop.
class Arrays {
 public:
  // From 0 to 2: adamw takes roots of the last.
  explicit Arrays(size_t count)
      : count_(count), floats_(kFloatsOfAPage + 4 * (count + kFloatsApart)) {
    uint32_t state = 1;
    for (size_t k = 0; k < 4; ++k) {
      for (size_t i = 0; i < count; ++i) {
        state = state * 1664525u + 1013904223u;
        array(k)[i] = static_cast<float>(state >> 8) * 0x1p-23f;
      }
    }
  }

  float* a() { return array(0); }
  float* b() { return array(1); }
  float* c() { return array(2); }
  float* d() { return array(3); }
  bool has_bits_of(Arrays& other) {
    bool is_same = true;
    for (size_t k = 0; k < 4; ++k) {
      is_same &= std::memcmp(array(k), other.array(k), 4 * count_) == 0;
    }
    return is_same;
  }

 private:
  static constexpr size_t kFloatsOfAPage = 1024;
  static constexpr size_t kFloatsApart = 80;  // Five lines more than the array has.

  float* array(size_t k) {
    const auto begin = reinterpret_cast<uintptr_t>(floats_.data()) / sizeof(float);
    const size_t skipped = (kFloatsOfAPage - begin % kFloatsOfAPage) % kFloatsOfAPage;
    return floats_.data() + skipped + k * (count_ + kFloatsApart);
  }

  size_t count_;
  std::vector<float> floats_;
};

using PlainLoop = void (*)(Arrays& arrays, size_t count);

constexpr float kFactor = -1.75f;

void plain_fill(Arrays& arrays, size_t count) {
  auto* const y = reinterpret_cast<uint8_t*>(arrays.a());
  for (size_t i = 0; i < 4 * count; ++i) y[i] = 171;
}

void plain_copy(Arrays& arrays, size_t count) {
  const auto* const x = reinterpret_cast<const uint8_t*>(arrays.a());
  auto* const y = reinterpret_cast<uint8_t*>(arrays.b());
  for (size_t i = 0; i < 4 * count; ++i) y[i] = x[i];
}

void plain_add(Arrays& arrays, size_t count) {
  const float* const a = arrays.a();
  const float* const b = arrays.b();
  float* const y = arrays.c();
  for (size_t i = 0; i < count; ++i) y[i] = canonical(a[i] + b[i]);
}

void plain_mul(Arrays& arrays, size_t count) {
  const float* const a = arrays.a();
  const float* const b = arrays.b();
  float* const y = arrays.c();
  for (size_t i = 0; i < count; ++i) y[i] = canonical(a[i] * b[i]);
}

void plain_scale(Arrays& arrays, size_t count) {
  const float* const x = arrays.a();
  float* const y = arrays.b();
  for (size_t i = 0; i < count; ++i) y[i] = canonical(kFactor * x[i]);
}

void plain_silu(Arrays& arrays, size_t count) {
  const float* const x = arrays.a();
  float* const y = arrays.b();
  for (size_t i = 0; i < count; ++i) y[i] = canonical(x[i] / (1.0f + exp_f32(-x[i])));
}

void plain_silu_vjp(Arrays& arrays, size_t count) {
  const float* const x = arrays.a();
  const float* const g = arrays.b();
  float* const gx = arrays.c();
  for (size_t i = 0; i < count; ++i) {
    const float s = 1.0f / (1.0f + exp_f32(-x[i]));
    gx[i] = canonical(g[i] * (s * (1.0f + x[i] * (1.0f - s))));
  }
}

void plain_accumulate(Arrays& arrays, size_t count) {
  const float* const g = arrays.a();
  float* const sum = arrays.b();
  for (size_t i = 0; i < count; ++i) sum[i] = canonical(sum[i] + g[i]);
}

void plain_sgd(Arrays& arrays, size_t count) {
  const float* const g = arrays.a();
  float* const p = arrays.b();
  for (size_t i = 0; i < count; ++i) p[i] = canonical(p[i] - kFactor * g[i]);
}

void plain_adamw(Arrays& arrays, size_t count) {
  const float* const gradients = arrays.a();
  float* const values = arrays.b();
  float* const means = arrays.c();
  float* const squares = arrays.d();
  const float m_divisor = 1.0f - power_f32(0.75f, 3);
  const float v_divisor = 1.0f - power_f32(0.875f, 3);
  for (size_t i = 0; i < count; ++i) {
    const float g = gradients[i];
    const float m = 0.75f * means[i] + 0.25f * g;
    const float v = 0.875f * squares[i] + 0.125f * (g * g);
    const float direction = m / m_divisor / (sqrtf(v / v_divisor) + 0.25f);
    values[i] = canonical(values[i] * (1.0f - 0.5f * 0.125f) - 0.5f * direction);
    means[i] = canonical(m);
    squares[i] = canonical(v);
  }
}

// The counters are nanoseconds per 1000 elements, and their ratio.
// `operands`: of the dispatch, over the tensors a to d.
void Elementwise(benchmark::State& state, const char* kernel, const char* operands_text,
                 PlainLoop plain_loop) {
  const auto size_bytes = static_cast<size_t>(state.range(0));
  const size_t count = size_bytes / sizeof(float);
  const auto program = parse(fmt::format(
      "interlock 1\nmemory ma {0}\nmemory mb {0}\nmemory mc {0}\nmemory md {0}\n"
      "tensor a f32[{1}] at ma+0\ntensor b f32[{1}] at mb+0\ntensor c f32[{1}] at mc+0\ntensor d f32[{1}] at md+0\n"
      "dispatch {2} {3}\n",
      size_bytes, count, kernel, operands_text));
  INTERLOCK_CHECK(program.has_value());
  Arrays ours(count);
  Arrays plain(count);
  uint8_t* const memories[] = {
      reinterpret_cast<uint8_t*>(ours.a()), reinterpret_cast<uint8_t*>(ours.b()),
      reinterpret_cast<uint8_t*>(ours.c()), reinterpret_cast<uint8_t*>(ours.d())};
  const std::vector<CpuOperand> operands = bind_operands(*program, DispatchId(0), memories);
  const DispatchPiece piece = whole_piece_of(*program, DispatchId(0));
  const auto run_ours = [&] { execute_piece(*program, piece, operands); };
  const auto run_plain = [&] { plain_loop(plain, count); };
  run_ours();
  run_plain();
  INTERLOCK_CHECK(ours.has_bits_of(plain));
  // What one leaves in the caches, the other finds, so that one time each would measure that.
  const size_t times = std::max<size_t>(4, (size_t{1} << 18) / size_bytes);
  const auto pass_of = [times](const auto& work) {
    return [times, &work] {
      for (size_t i = 0; i < times; ++i) {
        work();
        benchmark::ClobberMemory();
      }
    };
  };
  const std::vector<Timing> timings =
      measure_rounds(state, {{"ours", {}, pass_of(run_ours)}, {"plain", {}, pass_of(run_plain)}});
  const double thousands = static_cast<double>(count * times) / 1000;
  note_time(state, "ours_ns", timings[0], thousands);
  note_time(state, "plain_ns", timings[1], thousands);
  hold_ratio(state, ratio_by_round(timings[0], timings[1]), 1.2);
}

void with_sizes(benchmark::internal::Benchmark* bench) {
  bench->Arg(4 << 10)->Arg(64 << 10)->Arg(4 << 20);
  bench->UseManualTime()->MinTime(0.1)->Unit(benchmark::kMicrosecond);
}

BENCHMARK_CAPTURE(Elementwise, fill, "fill", "writes a value=171", plain_fill)->Apply(with_sizes);
BENCHMARK_CAPTURE(Elementwise, copy, "copy", "reads a writes b", plain_copy)->Apply(with_sizes);
BENCHMARK_CAPTURE(Elementwise, add, "add", "reads a b writes c", plain_add)->Apply(with_sizes);
BENCHMARK_CAPTURE(Elementwise, mul, "mul", "reads a b writes c", plain_mul)->Apply(with_sizes);
BENCHMARK_CAPTURE(Elementwise, scale, "scale", "reads a writes b factor=-1.75", plain_scale)
    ->Apply(with_sizes);
BENCHMARK_CAPTURE(Elementwise, silu, "silu", "reads a writes b", plain_silu)->Apply(with_sizes);
BENCHMARK_CAPTURE(Elementwise, silu_vjp, "silu_vjp", "reads a b writes c", plain_silu_vjp)
    ->Apply(with_sizes);
BENCHMARK_CAPTURE(Elementwise, accumulate, "accumulate", "reads a updates b", plain_accumulate)
    ->Apply(with_sizes);
BENCHMARK_CAPTURE(Elementwise, sgd, "sgd", "reads a updates b lr=-1.75", plain_sgd)
    ->Apply(with_sizes);
BENCHMARK_CAPTURE(
    Elementwise, adamw, "adamw",
    "reads a updates b c d lr=0.5 step=3 beta1=0.75 beta2=0.875 eps=0.25 weight_decay=0.125",
    plain_adamw)
    ->Apply(with_sizes);

}  // namespace
}  // namespace interlock
