// One table. A linear kernel is a list of terms, output += factor * input; two kernels with the
// same family share their factors, which are random by the operands that are keys and by the
// attributes.
#include "simulator/gradients/gradient_laws.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string_view>
#include <vector>

#include "encoder/kernel/kernel_table.h"
#include "encoder/kernel/row_parts.h"
#include "encoder/program/hash.h"

namespace interlock {
namespace {

struct Term {
  int input = -1;
  int output = -1;
  int factor = kOne;  // Number in the family; or one of these:

  static constexpr int kOne = -1;
  static constexpr int kAttribute = -2;  // The one attribute, as a number.
  static constexpr int kNegatedAttribute = -3;
};

enum class LawKind : uint8_t {
  kLinear,    // The terms.
  kProduct,   // Operand 2 is the product of 0 and 1, as matrices or entry by entry.
  kFunction,  // Random values; the terms are the derivatives.
};

struct Law {
  std::string_view kernel;
  LawKind kind = LawKind::kLinear;
  std::string_view family;
  std::array<int, 2> keys = {-1, -1};
  std::array<Term, 3> terms = {};
};

constexpr auto kLaws = std::to_array<Law>({
    {"fill", LawKind::kFunction, "", {-1, -1}, {}},
    {"copy", LawKind::kLinear, "", {-1, -1}, {{{0, 1}}}},
    {"add", LawKind::kLinear, "", {-1, -1}, {{{0, 2}, {1, 2}}}},
    {"accumulate", LawKind::kLinear, "", {-1, -1}, {{{0, 1}, {1, 1}}}},
    {"mul", LawKind::kProduct, "", {-1, -1}, {}},
    {"scale", LawKind::kLinear, "", {-1, -1}, {{{0, 1, Term::kAttribute}}}},
    {"sgd", LawKind::kLinear, "", {-1, -1}, {{{0, 1, Term::kNegatedAttribute}, {1, 1}}}},
    {"silu", LawKind::kFunction, "silu", {0, -1}, {{{0, 1, 0}}}},
    {"silu_vjp", LawKind::kLinear, "silu", {0, -1}, {{{1, 2, 0}}}},
    {"col_sum", LawKind::kLinear, "", {-1, -1}, {{{0, 1}}}},
    {"col_sum_vjp", LawKind::kLinear, "", {-1, -1}, {{{0, 1}}}},
    {"row_sum", LawKind::kLinear, "", {-1, -1}, {{{0, 1}}}},
    {"row_sum_vjp", LawKind::kLinear, "", {-1, -1}, {{{0, 1}}}},
    {"transpose", LawKind::kLinear, "", {-1, -1}, {{{0, 1}}}},
    {"concat", LawKind::kLinear, "concat", {-1, -1}, {{{0, 2, 0}, {1, 2, 1}}}},
    {"split", LawKind::kLinear, "concat", {-1, -1}, {{{0, 1, 0}, {0, 2, 1}}}},
    {"matmul_nn", LawKind::kProduct, "", {-1, -1}, {}},
    {"matmul_nt", LawKind::kProduct, "", {-1, -1}, {}},
    {"matmul_tn", LawKind::kProduct, "", {-1, -1}, {}},
    {"embedding", LawKind::kLinear, "embedding", {0, -1}, {{{1, 2, 0}}}},
    {"embedding_vjp", LawKind::kLinear, "embedding", {0, -1}, {{{1, 2, 0}}}},
    {"rope", LawKind::kLinear, "rope", {-1, -1}, {{{0, 1, 0}}}},
    {"rope_vjp", LawKind::kLinear, "rope", {-1, -1}, {{{0, 1, 0}}}},
    // By its output, as its VJP knows it.
    {"softmax", LawKind::kFunction, "softmax", {1, -1}, {{{0, 1, 0}}}},
    {"softmax_vjp", LawKind::kLinear, "softmax", {0, -1}, {{{1, 2, 0}}}},
    {"softmax_vjp_stream", LawKind::kLinear, "softmax", {0, -1}, {{{1, 2, 0}}}},
    {"cross_entropy", LawKind::kFunction, "cross_entropy", {0, 1}, {{{0, 2, 0}}}},
    {"cross_entropy_vjp", LawKind::kLinear, "cross_entropy", {0, 1}, {{{2, 3, 0}}}},
    {"rms_norm", LawKind::kFunction, "rms_norm", {0, 1}, {{{0, 2, 0}, {1, 2, 1}}}},
    {"rms_norm_vjp", LawKind::kLinear, "rms_norm", {0, 1}, {{{2, 3, 0}, {2, 4, 1}}}},
    {"rms_norm_vjp_stream", LawKind::kLinear, "rms_norm", {0, 1}, {{{2, 3, 0}, {2, 4, 1}}}},
    {"layer_norm", LawKind::kFunction, "layer_norm", {0, 1}, {{{0, 3, 0}, {1, 3, 1}, {2, 3}}}},
    {"layer_norm_vjp", LawKind::kLinear, "layer_norm", {0, 1}, {{{2, 3, 0}, {2, 4, 1}}}},
});

const Law* law_of(const Program& program, const Dispatch& dispatch) {
  static const std::vector<const Law*> laws = [] {
    std::vector<const Law*> by_kernel(kernel_table().size(), nullptr);
    for (const Law& law : kLaws) {
      if (const auto kernel = find_kernel(law.kernel)) by_kernel[kernel->index] = &law;
    }
    return by_kernel;
  }();
  const Law* const law = laws[dispatch.kernel.index];
  if (law == nullptr || has_rows(program, dispatch)) return nullptr;
  // What a part of a tensor holds is another value than the tensor.
  const auto accesses = program.accesses_of(dispatch);
  const bool is_whole = std::ranges::all_of(accesses, [&](const Access& access) {
    if (access.is_sliced || !access.tensor.is_some()) return access.only_reads();
    const Tensor& tensor = program.tensor(access.tensor);
    return access.only_reads() || tensor.range == program.tensor(tensor.root).range;
  });
  return is_whole ? law : nullptr;
}

uint64_t mixed(uint64_t digest, uint64_t number) { return scrambled(digest * 31 + number + 1); }

// The numbers of the attributes, given or by default, under their names.
uint64_t digest_of_attributes(const Program& program, const Dispatch& dispatch) {
  uint64_t digest = 0;
  for (const KernelAttribute& own : kernel_entry(dispatch.kernel).attributes) {
    double number = own.default_value.value_or(0);
    for (const Attribute& given : program.attributes_of(dispatch)) {
      if (program.name(given.key) == own.name) number = given.number;
    }
    digest = mixed(mixed(digest, fnv1a(own.name)), std::bit_cast<uint64_t>(number));
  }
  return digest;
}

// A finite number, exactly: 2 has an inverse here.
FieldElement element_of(double number) {
  int exponent = 0;
  const double fraction = std::frexp(std::abs(number), &exponent);
  constexpr int kFractionBits = 53;
  FieldElement element(static_cast<uint64_t>(std::ldexp(fraction, kFractionBits)));
  // 2^61 is 1, so powers of 2 repeat.
  const int power = ((exponent - kFractionBits) % 61 + 61) % 61;
  element = element * FieldElement(uint64_t{1} << power);
  return number < 0 ? -element : element;
}

FieldMatrix random_matrix(uint64_t digest) {
  return FieldMatrix::of_numbers([digest](uint64_t i) { return mixed(digest, i); });
}

uint64_t mixed(uint64_t digest, const FieldMatrix& matrix) {
  for (const FieldElement entry : matrix.entries) digest = mixed(digest, entry.value());
  return digest;
}

// By which a linear kernel multiplies each entry.
FieldMatrix factor_of(const Program& program, const Dispatch& dispatch, const Law& law,
                      const Term& term, OperandValues read, OperandValues written) {
  if (term.factor == Term::kOne) return FieldMatrix::filled(FieldElement(1));
  if (term.factor == Term::kAttribute || term.factor == Term::kNegatedAttribute) {
    const FieldElement factor = element_of(program.attributes_of(dispatch)[0].number);
    return FieldMatrix::filled(term.factor == Term::kAttribute ? factor : -factor);
  }
  uint64_t digest = mixed(fnv1a(law.family), static_cast<uint64_t>(term.factor));
  for (const int key : law.keys) {
    if (key < 0) continue;
    const auto operand = static_cast<size_t>(key);
    const bool is_read = program.accesses_of(dispatch)[operand].only_reads();
    digest = mixed(digest, (is_read ? read : written)[operand]);
  }
  return random_matrix(mixed(digest, digest_of_attributes(program, dispatch)));
}

FieldMatrix product_of(std::string_view kernel, const FieldMatrix& a, const FieldMatrix& b) {
  if (kernel == "mul") return a.times_each(b);
  if (kernel == "matmul_nt") return a * b.transposed();
  if (kernel == "matmul_tn") return a.transposed() * b;
  return a * b;
}

FieldMatrix pulled_back_product(std::string_view kernel, const FieldMatrix& a, const FieldMatrix& b,
                                int input, const FieldMatrix& g) {
  const bool is_first = input == 0;
  if (kernel == "mul") return g.times_each(is_first ? b : a);
  if (kernel == "matmul_nt") return is_first ? g * b : g.transposed() * a;
  if (kernel == "matmul_tn") return is_first ? b * g.transposed() : a * g;
  return is_first ? g * b.transposed() : a.transposed() * g;
}

bool is_zero_fill(const Program& program, const Dispatch& dispatch) {
  const auto attributes = program.attributes_of(dispatch);
  return attributes.empty() || attributes[0].number == 0;
}

void evaluate_randomly(const Program& program, const Dispatch& dispatch, OperandValues read,
                       std::span<FieldMatrix> written) {
  const auto accesses = program.accesses_of(dispatch);
  uint64_t digest =
      mixed(fnv1a(program.name(dispatch.kernel_name)), digest_of_attributes(program, dispatch));
  if (is_opaque(program, dispatch)) digest = mixed(digest, dispatch.statement.index);
  for (size_t i = 0; i < accesses.size(); ++i) {
    const bool is_read = accesses[i].mode != AccessMode::kWrite;
    if (is_read) digest = mixed(digest, read[i]);
  }
  const bool is_zero =
      program.name(dispatch.kernel_name) == "fill" && is_zero_fill(program, dispatch);
  for (size_t i = 0; i < accesses.size(); ++i) {
    if (accesses[i].only_reads()) continue;
    written[i] = is_zero ? FieldMatrix() : random_matrix(mixed(digest, i));
  }
}

}  // namespace

void evaluate(const Program& program, const Dispatch& dispatch, OperandValues read,
              std::span<FieldMatrix> written) {
  const Law* const law = law_of(program, dispatch);
  if (law == nullptr || law->kind == LawKind::kFunction) {
    return evaluate_randomly(program, dispatch, read, written);
  }
  if (law->kind == LawKind::kProduct) {
    written[2] = product_of(law->kernel, read[0], read[1]);
    return;
  }
  const auto accesses = program.accesses_of(dispatch);
  for (size_t i = 0; i < accesses.size(); ++i) {
    if (!accesses[i].only_reads()) written[i] = FieldMatrix();
  }
  for (const Term& term : law->terms) {
    if (term.input < 0) continue;
    FieldMatrix& output = written[static_cast<size_t>(term.output)];
    const FieldMatrix factor = factor_of(program, dispatch, *law, term, read, written);
    const FieldMatrix& input = read[static_cast<size_t>(term.input)];
    output = output + factor.times_each(law->kernel == "transpose" ? input.transposed() : input);
  }
}

std::optional<FieldMatrix> pulled_back(const Program& program, const Dispatch& dispatch,
                                       OperandValues read, OperandValues written, int input,
                                       int output, const FieldMatrix& adjoint) {
  const Law* const law = law_of(program, dispatch);
  if (law == nullptr) return std::nullopt;
  if (law->kind == LawKind::kProduct) {
    if (input > 1 || output != 2) return std::nullopt;
    return pulled_back_product(law->kernel, read[0], read[1], input, adjoint);
  }
  for (const Term& term : law->terms) {
    if (term.input != input || term.output != output) continue;
    const FieldMatrix product =
        factor_of(program, dispatch, *law, term, read, written).times_each(adjoint);
    return law->kernel == "transpose" ? product.transposed() : product;
  }
  return std::nullopt;
}

bool only_adds(const Program& program, const Dispatch& dispatch) {
  const Law* const law = law_of(program, dispatch);
  return law != nullptr && law->kind == LawKind::kLinear &&
         (law->kernel == "copy" || law->kernel == "add" || law->kernel == "accumulate");
}

}  // namespace interlock
