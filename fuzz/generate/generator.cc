// The basic idea is swarm testing: a program likes a few features and ignores the rest, so that
// rare conjunctions become common in some programs. What a dispatch may touch is ProgramSketch's
// matter; this file knows the families of kernels and their shapes.
#include "fuzz/generate/generator.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "encoder/assemble/build.h"
#include "fuzz/generate/program_order.h"
#include "fuzz/generate/program_scopes.h"
#include "fuzz/generate/program_sketch.h"
#include "fuzz/generate/swarm.h"
#include "fuzz/generate/table_dispatches.h"

namespace interlock {
namespace {

using FeatureWords = std::array<std::string_view, kFeatureCount>;
constexpr FeatureWords kFeatureWords = {
    "elementwise",    "reduction",    "matmul",         "normalization", "vjp-group",
    "backward-group", "bytewise",     "opaque-tensors", "opaque-ranges", "tiny-overlap",
    "empty-range",    "update",       "atomic",         "partial",       "in-place",
    "donation",       "view",         "slot-reuse",     "scratch",       "outputs",
    "initial-values", "many-readers", "many-outputs",   "program-order", "scopes"};

Extents draw_extents(Choice& choice) {
  constexpr uint64_t kExtents[] = {1, 2, 3, 4, 4, 8, 16, 20};
  return {kExtents[choice.below(6)], kExtents[choice.below(8)], kExtents[choice.below(5)]};
}

class Generator {
 public:
  Generator(Choice& choice, const GeneratorOptions& options, FeatureCounts* counts)
      : choice_(choice),
        options_(options),
        swarm_(choice),
        extents_(draw_extents(choice)),
        sketch_(choice, swarm_, options, counts) {}

  ProgramDraft draft() {
    grow();
    ProgramDraft draft = sketch_.finish();
    // Drawn last, and only for programs as they stand, so that a seed gives encoders the same ones.
    if (options_.has_barriers && choice_.below(4) == 3) {
      sketch_.note(Feature::kScopes);
      give_scopes(draft, choice_);
    }
    if (options_.has_barriers && choice_.below(8) == 7) {
      sketch_.note(Feature::kProgramOrder);
      give_program_order(draft, choice_);
    }
    return draft;
  }

  // Requires: no barriers. Drafts alone are given scopes and program order.
  Result<Program> program() {
    grow();
    return sketch_.build();
  }

 private:
  using Kind = void (Generator::*)();

  void grow() {
    // Short programs are as likely as long ones: the logarithm is drawn, then the number.
    uint64_t longest = 4;
    while (longest < options_.max_dispatches && choice_.chance(3, 4)) longest *= 2;
    longest = std::min<uint64_t>(longest, options_.max_dispatches);
    const uint64_t target = 1 + choice_.below(longest);
    const uint64_t quiet_end = swarm_.has(Feature::kManyOutputs) ? choice_.below(target + 1) : 0;
    // A kind may give up; the bound ends the loop for bytes that always make it do so.
    for (uint64_t i = 0; i < 2 * target && sketch_.dispatch_count() < target; ++i) {
      sketch_.set_quiet(sketch_.dispatch_count() < quiet_end);
      (this->*draw_kind())();
      add_barriers();
    }
  }

  void add_elementwise() {
    sketch_.note(Feature::kElementwise);
    if (choice_.chance(1, 8)) return emit_rope(sketch_, extents_);
    const SketchShape shape = choice_.chance(3, 4) ? matrix() : columns();
    std::vector<SketchOperand> operands;
    sketch_.read(operands, shape);
    switch (choice_.below(6)) {
      case 0:
        sketch_.write(operands, shape, {0});
        return sketch_.emit("scale", operands, {{"factor", choice_.chance(1, 2) ? "0.5" : "-1.5"}});
      case 1:
        sketch_.write(operands, shape, {0});
        return sketch_.emit("silu", operands);
      case 2:
      case 3:
        return emit_update(sketch_, shape, std::move(operands));
      default:
        sketch_.read(operands, shape);
        sketch_.write(operands, shape, {0, 1});
        return sketch_.emit(choice_.chance(1, 2) ? "add" : "mul", operands);
    }
  }

  void add_reduction() {
    sketch_.note(Feature::kReduction);
    if (choice_.chance(1, 5)) return emit_cross_entropy(sketch_, extents_);
    std::vector<SketchOperand> operands;
    sketch_.read(operands, matrix());
    const bool over_rows = choice_.chance(1, 2);
    sketch_.write(operands, over_rows ? columns() : SketchShape{0, extents_.rows}, {});
    sketch_.emit(over_rows ? "col_sum" : "row_sum", operands);
  }

  void add_matmul() {
    sketch_.note(Feature::kMatmul);
    const auto [rows, cols, inner] = extents_;
    const uint64_t form = choice_.below(4);
    // As the product with rows of the identity matrix.
    if (form == 0) return emit_embedding(sketch_, extents_);
    // A product, and the gradients of its factors.
    const struct {
      const char* kernel;
      SketchShape left, right, product;
    } forms[] = {{"matmul_nn", {rows, inner}, {inner, cols}, {rows, cols}},
                 {"matmul_nt", {rows, cols}, {inner, cols}, {rows, inner}},
                 {"matmul_tn", {rows, inner}, {rows, cols}, {inner, cols}}};
    const auto& [kernel, left, right, product] = forms[form - 1];
    std::vector<SketchOperand> operands;
    sketch_.read(operands, left);
    sketch_.read(operands, right);
    sketch_.write(operands, product);
    sketch_.emit(kernel, operands);
  }

  void add_normalization() {
    sketch_.note(Feature::kNormalization);
    std::vector<SketchOperand> operands;
    sketch_.read(operands, matrix());
    if (choice_.chance(1, 3)) {
      sketch_.write(operands, matrix(), {0});
      return sketch_.emit("softmax", operands);
    }
    sketch_.read(operands, columns());
    const bool has_bias = choice_.chance(1, 2);
    if (has_bias) sketch_.read(operands, columns());
    sketch_.write(operands, matrix(), {0});
    sketch_.emit(has_bias ? "layer_norm" : "rms_norm", operands);
  }

  // As MLX dispatches it: gb = col_sum(g); gx, gw_rows = vjp(x, w, g), one of them on g's bytes;
  // gw = col_sum(gw_rows). The first and the second are MLX #3630.
  void add_vjp_group() {
    constexpr uint32_t kDispatchCount = 3;
    if (sketch_.dispatch_count() + kDispatchCount > options_.max_dispatches) return;
    sketch_.note(Feature::kVjpGroup);
    const bool is_layer_norm = choice_.chance(2, 3);
    const SketchTensorIndex x = sketch_.pick_input(matrix());
    const SketchTensorIndex w = sketch_.pick_input(columns());
    const SketchTensorIndex g = sketch_.pick_input(matrix());
    if (is_layer_norm) {
      std::vector<SketchOperand> reduce{sketch_.operand(AccessMode::kRead, g)};
      sketch_.write(reduce, columns());
      sketch_.emit("col_sum", reduce);
      add_barriers();
      // The sum may have taken the bytes of x or w.
      if (!sketch_.tensor(x).is_alive || !sketch_.tensor(w).is_alive) return;
    }
    std::vector<SketchOperand> vjp;
    for (const SketchTensorIndex input : {x, w, g}) {
      vjp.push_back(sketch_.operand(AccessMode::kRead, input));
    }
    const SketchOperand& cotangent = vjp[2];
    const bool can_donate =
        sketch_.tensor(g).is_alive && !sketch_.tensor(g).is_view &&
        swarm_.has(Feature::kDonation) &&
        ProgramSketch::can_write(vjp, {0, 2}, cotangent.memory, cotangent.range);
    OperandPositions in_place = {0, 2};
    SketchTensorIndex gx = can_donate ? sketch_.donate(g, matrix(), DType::kF32)
                                      : sketch_.pick_output(matrix(), DType::kF32, vjp, in_place);
    if (can_donate) in_place.clear();
    vjp.push_back(sketch_.operand(AccessMode::kWrite, gx));
    SketchTensorIndex gw_rows = sketch_.pick_output(matrix(), DType::kF32, vjp, in_place);
    vjp.pop_back();
    if (can_donate && !choice_.chance(2, 3)) std::swap(gx, gw_rows);
    vjp.push_back(sketch_.operand(AccessMode::kWrite, gx));
    vjp.push_back(sketch_.operand(AccessMode::kWrite, gw_rows));
    sketch_.emit(is_layer_norm ? "layer_norm_vjp" : "rms_norm_vjp", vjp);
    if (!sketch_.tensor(gw_rows).is_alive) return;
    add_barriers();
    std::vector<SketchOperand> sum{sketch_.operand(AccessMode::kRead, gw_rows)};
    sketch_.write(sum, columns(), {});
    sketch_.emit("col_sum", sum);
  }

  void add_backward_group() {
    sketch_.note(Feature::kBackwardGroup);
    emit_backward_group(sketch_, extents_, options_.max_dispatches - sketch_.dispatch_count(),
                        [this] { add_barriers(); });
  }

  void add_bytewise() {
    sketch_.note(Feature::kBytewise);
    std::vector<SketchOperand> operands;
    const bool is_copy = choice_.chance(2, 3);
    const bool on_ranges = swarm_.has(Feature::kOpaqueRanges) && choice_.chance(1, 2);
    if (!on_ranges) {
      const SketchShape shape = choice_.chance(1, 2) ? matrix() : columns();
      if (is_copy) sketch_.read(operands, shape);
      sketch_.write(operands, shape, {});
    } else {
      SketchOperand target = sketch_.pick_range(AccessMode::kWrite, 1);
      if (is_copy) {
        SketchOperand source = sketch_.pick_range(AccessMode::kRead, 1);
        const uint64_t size_bytes = std::min(source.range.size_bytes(), target.range.size_bytes());
        for (SketchOperand* o : {&source, &target}) o->range.end = o->range.begin + size_bytes;
        operands.push_back(source);
      }
      if (!ProgramSketch::can_write(operands, {}, target.memory, target.range)) return;
      operands.push_back(target);
    }
    if (is_copy) return sketch_.emit("copy", operands);
    sketch_.emit("fill", operands, {{"value", fmt::format("{}", choice_.below(256))}});
  }

  void add_opaque(bool on_ranges) {
    sketch_.note(on_ranges ? Feature::kOpaqueRanges : Feature::kOpaqueTensors);
    std::vector<SketchOperand> operands;
    uint64_t count = choice_.below(4);
    if (swarm_.draws(Feature::kManyReaders, choice_)) {
      sketch_.note(Feature::kManyReaders);
      count += choice_.below(9);
    }
    constexpr size_t kWritesMax = 6;
    operands.reserve(count + kWritesMax);
    for (uint64_t i = 0; i < count; ++i) {
      operands.push_back(on_ranges ? sketch_.pick_range(AccessMode::kRead, 1)
                                   : sketch_.operand(AccessMode::kRead, sketch_.pick_any_input()));
    }
    add_opaque_writes(operands, on_ranges);
    emit_opaque(std::move(operands));
  }

  void add_opaque_tensors() { add_opaque(false); }
  void add_opaque_ranges() { add_opaque(true); }

  void add_barriers() {
    if (!options_.has_barriers || !choice_.chance(1, 2)) return;
    sketch_.emit_barrier(choice_.chance(1, 3) ? BarrierKind::kExecution : BarrierKind::kFull);
  }

  Kind draw_kind() {
    constexpr std::pair<Feature, Kind> kKinds[] = {
        {Feature::kElementwise, &Generator::add_elementwise},
        {Feature::kReduction, &Generator::add_reduction},
        {Feature::kMatmul, &Generator::add_matmul},
        {Feature::kNormalization, &Generator::add_normalization},
        {Feature::kVjpGroup, &Generator::add_vjp_group},
        {Feature::kBackwardGroup, &Generator::add_backward_group},
        {Feature::kBytewise, &Generator::add_bytewise},
        {Feature::kOpaqueTensors, &Generator::add_opaque_tensors},
        {Feature::kOpaqueRanges, &Generator::add_opaque_ranges},
    };
    uint64_t total = 0;
    for (const auto& [feature, kind] : kKinds) total += swarm_.weight(feature);
    if (total == 0) return &Generator::add_opaque_ranges;
    uint64_t drawn = choice_.below(total);
    for (const auto& [feature, kind] : kKinds) {
      if (drawn < swarm_.weight(feature)) return kind;
      drawn -= swarm_.weight(feature);
    }
    return &Generator::add_opaque_ranges;
  }

  SketchShape matrix() const { return {extents_.rows, extents_.cols}; }
  SketchShape columns() const { return {0, extents_.cols}; }

  void add_opaque_writes(std::vector<SketchOperand>& operands, bool on_ranges) {
    const uint64_t count =
        swarm_.has(Feature::kManyOutputs) ? 1 + choice_.below(4) : choice_.below(3);
    const size_t read_count = operands.size();
    OperandPositions in_place;
    for (size_t i = 0; i < read_count; ++i) in_place.push_back(i);
    for (uint64_t i = 0; i < count; ++i) {
      if (on_ranges) {
        SketchOperand target = sketch_.pick_range(AccessMode::kWrite, 1);
        const bool in_place_drawn = read_count > 0 && swarm_.draws(Feature::kInPlace, choice_);
        if (in_place_drawn) {
          target = operands[choice_.below(read_count)];
          target.mode = AccessMode::kWrite;
        }
        if (!ProgramSketch::can_write(operands, in_place, target.memory, target.range)) continue;
        if (in_place_drawn) sketch_.note(Feature::kInPlace);
        operands.push_back(std::move(target));
        continue;
      }
      const bool is_f32 = choice_.chance(2, 3);
      const SketchShape shape = is_f32 ? matrix() : SketchShape{0, 1 + choice_.below(24)};
      const SketchTensorIndex output =
          sketch_.pick_output(shape, is_f32 ? DType::kF32 : DType::kU8, operands, in_place);
      operands.push_back(sketch_.operand(AccessMode::kWrite, output));
    }
  }

  // Modes follow each other in the order of the clauses: reads, writes, updates, atomics.
  void emit_opaque(std::vector<SketchOperand> operands) {
    bool writes = false;
    for (const SketchOperand& o : operands) writes |= o.mode == AccessMode::kWrite;
    if (swarm_.draws(Feature::kUpdate, choice_)) {
      const SketchOperand target =
          choice_.chance(1, 2) ? sketch_.operand(AccessMode::kUpdate, sketch_.pick_any_input())
                               : sketch_.pick_range(AccessMode::kUpdate, 1);
      if (ProgramSketch::can_write(operands, {}, target.memory, target.range)) {
        sketch_.note(Feature::kUpdate);
        operands.push_back(target);
        writes = true;
      }
    }
    std::vector<std::pair<std::string, std::string>> attributes;
    if (swarm_.draws(Feature::kAtomic, choice_)) {
      // Atomics meet each other: on the range of the last one, as often as not.
      const bool again = last_atomic_ && choice_.chance(1, 2);
      const SketchOperand target =
          again ? *last_atomic_ : sketch_.pick_range(AccessMode::kAtomic, 4);
      if (ProgramSketch::can_write(operands, {}, target.memory, target.range)) {
        sketch_.note(Feature::kAtomic);
        operands.push_back(target);
        last_atomic_ = target;
        constexpr std::string_view kWords[] = {"add", "min", "max", "and", "or", "xor"};
        attributes.emplace_back("atomic", kWords[choice_.chance(2, 3) ? 0 : choice_.below(6)]);
      }
    }
    const bool is_partial = writes && swarm_.draws(Feature::kPartial, choice_);
    if (is_partial) sketch_.note(Feature::kPartial);
    constexpr std::string_view kKernels[] = {"Opaque0", "Opaque1", "Opaque2", "Opaque3"};
    sketch_.emit(kKernels[choice_.below(4)], operands, std::move(attributes), is_partial);
  }

  Choice& choice_;
  GeneratorOptions options_;
  Swarm swarm_;
  Extents extents_;
  ProgramSketch sketch_;
  std::optional<SketchOperand> last_atomic_;
};

}  // namespace

std::string_view word_of(Feature feature) { return kFeatureWords[static_cast<size_t>(feature)]; }

ProgramDraft generate(Choice& choice, const GeneratorOptions& options, FeatureCounts* counts) {
  return Generator(choice, options, counts).draft();
}

Result<Program> generate_program(Choice& choice, const GeneratorOptions& options) {
  if (options.has_barriers) return build(generate(choice, options));
  return Generator(choice, options, nullptr).program();
}

}  // namespace interlock
