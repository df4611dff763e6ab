#include "capture/spirv/access_plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "capture/spirv/instrument.h"
#include "capture/spirv/storage_class.h"
#include "capture/spirv/value_layout.h"

namespace interlock {
namespace {

enum ImageDim : uint32_t { kDim1D = 0, kDim2D = 1, kDim3D = 2 };

// What comes after the operands of an image instruction, as bits.
constexpr uint32_t kOffsetOperands = 0x8 | 0x10 | 0x20;  // ConstOffset, Offset, ConstOffsets.

// A pointer into a buffer.
struct PointerPath {
  size_t variable = 0;
  uint32_t element = 0;
  bool is_at_element = false;  // Its index into an array of bindings is behind it.
  uint64_t offset = 0;
  std::vector<std::pair<uint32_t, uint32_t>> terms;
  LayoutPlace place;
};

// An image, or a pointer to one of its texels.
struct ImageHandle {
  size_t variable = 0;
  uint32_t element = 0;
  bool has_other_sampler = false;
  uint32_t coordinate = 0;  // Of a texel.
};

class AccessPlanner {
 public:
  explicit AccessPlanner(const SpirvWords& module) : module_(module) {}

  AccessPlan plan() {
    bool is_in_function = false;
    const std::vector<SpirvInstruction>& all = module_.instructions();
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].opcode == Opcode::kFunction) is_in_function = true;
      if (all[i].opcode == Opcode::kFunctionEnd) is_in_function = false;
      if (is_in_function) {
        at_ = i;
        visit(all[i]);
      } else if (all[i].opcode == Opcode::kVariable) {
        add_variable(all[i]);
      }
    }
    return std::move(plan_);
  }

 private:
  void add_variable(const SpirvInstruction& variable) {
    const uint32_t storage_class = module_.word(variable.result, 3);
    const auto set = module_.decoration(variable.result, kSetDecoration);
    const auto binding = module_.decoration(variable.result, kBindingDecoration);
    if (!set || !binding) return;
    PlannedVariable planned;
    planned.id = variable.result;
    planned.set = *set;
    planned.binding = *binding;
    uint32_t type = module_.word(variable.type, 3);
    PointerPath path;
    path.variable = plan_.variables.size();
    path.place.type = type;
    path.is_at_element = true;
    if (module_.is(type, Opcode::kTypeArray)) {
      planned.element_count = module_.literal(module_.word(type, 3)).value_or(0);
      if (planned.element_count == 0) planned.reason = "an array of bindings of any length";
      path.is_at_element = false;
      type = module_.word(type, 2);
    } else if (module_.is(type, Opcode::kTypeRuntimeArray)) {
      planned.reason = "an array of bindings of any length";
      path.is_at_element = false;
      type = module_.word(type, 2);
    }
    if (module_.is(type, Opcode::kTypeSampler)) return;
    if (!module_.is(type, Opcode::kTypeStruct)) {
      describe_image(type, planned);
    } else if (storage_class != kUniformClass && storage_class != kStorageBufferClass) {
      planned.reason = "a variable that is no buffer and no image";
    }
    plan_.variables.push_back(std::move(planned));
    pointers_[variable.result] = std::move(path);
  }

  void describe_image(uint32_t type, PlannedVariable& planned) const {
    planned.is_image = true;
    planned.is_sampled = module_.is(type, Opcode::kTypeSampledImage);
    if (planned.is_sampled) type = module_.word(type, 2);
    const uint32_t dim = module_.word(type, 3);
    const bool is_multisampled = module_.word(type, 6) != 0;
    planned.is_arrayed = module_.word(type, 5) != 0;
    if (!module_.is(type, Opcode::kTypeImage)) {
      planned.reason = "a variable that is no buffer and no image";
    } else if (dim > kDim3D || is_multisampled) {
      planned.reason = "an image that is a cube, a texel buffer, or of several samples";
    }
    planned.axis_count = dim == kDim1D ? 1 : dim == kDim2D ? 2 : 3;
  }

  void refuse(size_t variable, std::string_view why) {
    std::string& reason = plan_.variables[variable].reason;
    if (reason.empty()) reason = why;
  }

  void visit(const SpirvInstruction& instruction) {
    const std::span<const uint32_t> ids = module_.ids_of(instruction);
    const auto is_atomic =
        instruction.opcode >= Opcode::kAtomicLoad && instruction.opcode <= Opcode::kAtomicXor;
    if (is_atomic) {
      note(ids, 0, instruction.opcode != Opcode::kAtomicStore,
           instruction.opcode != Opcode::kAtomicLoad);
      return refuse_rest(ids, 1);
    }
    switch (instruction.opcode) {
      case Opcode::kAccessChain:
      case Opcode::kInBoundsAccessChain:
        return add_chain(instruction, ids);
      case Opcode::kCopyObject:
        return copy(instruction.result, ids);
      case Opcode::kLoad:
        return load(instruction, ids);
      case Opcode::kStore:
        note(ids, 0, false, true);
        return refuse_rest(ids, 1);
      case Opcode::kCopyMemory:
        note(ids, 0, false, true);
        return note(ids, 1, true, false);
      case Opcode::kImageTexelPointer:
        return add_texel_pointer(instruction, ids);
      case Opcode::kSampledImage:
      case Opcode::kImage:
        copy(instruction.result, ids);
        if (const auto found = images_.find(instruction.result);
            found != images_.end() && instruction.opcode == Opcode::kSampledImage) {
          found->second.has_other_sampler = true;
        }
        return;
      case Opcode::kImageSampleImplicitLod:
      case Opcode::kImageSampleExplicitLod:
        return note_image(instruction, ids, PlannedKind::kSample, true);
      case Opcode::kImageFetch:
      case Opcode::kImageRead:
        return note_image(instruction, ids, PlannedKind::kTexel, true);
      case Opcode::kImageWrite:
        return note_image(instruction, ids, PlannedKind::kTexel, false);
      case Opcode::kArrayLength:
        return;
      default:
        if (instruction.opcode >= Opcode::kImageQueryFormat &&
            instruction.opcode <= Opcode::kImageQuerySamples) {
          return;
        }
        return refuse_rest(ids, 0);
    }
  }

  // What is done with these is not followed.
  void refuse_rest(std::span<const uint32_t> ids, size_t first) {
    for (size_t i = first; i < ids.size(); ++i) {
      if (const auto pointer = pointers_.find(ids[i]); pointer != pointers_.end()) {
        refuse(pointer->second.variable, "a pointer that is more than loaded and stored through");
      }
      if (const auto image = images_.find(ids[i]); image != images_.end()) {
        refuse(image->second.variable, "an image that is more than read, written and sampled");
      }
    }
  }

  void copy(uint32_t result, std::span<const uint32_t> ids) {
    if (ids.empty()) return;
    if (const auto found = pointers_.find(ids[0]); found != pointers_.end()) {
      pointers_[result] = PointerPath(found->second);
    }
    if (const auto found = images_.find(ids[0]); found != images_.end()) {
      images_[result] = ImageHandle(found->second);
    }
  }

  void add_chain(const SpirvInstruction& instruction, std::span<const uint32_t> ids) {
    const auto base = ids.empty() ? pointers_.end() : pointers_.find(ids[0]);
    if (base == pointers_.end()) return;
    PointerPath path = base->second;
    for (const uint32_t index : ids.subspan(1)) {
      if (!step(path, index)) {
        refuse(path.variable, "an access chain that is not understood");
        break;
      }
    }
    pointers_[instruction.result] = std::move(path);
  }

  bool step(PointerPath& path, uint32_t index) {
    LayoutPlace& place = path.place;
    const SpirvInstruction* const type = module_.find(place.type);
    if (type == nullptr) return false;
    if (!path.is_at_element) {
      path.is_at_element = true;
      path.element = index;
      place = {module_.word(place.type, 2), {}, 0};
      return true;
    }
    switch (type->opcode) {
      case Opcode::kTypeStruct: {
        const auto member = module_.literal(index);
        if (!member || *member + 2 >= type->word_count) return false;
        const auto offset = module_.member_decoration(place.type, *member, kOffsetDecoration);
        const MatrixLayout matrix = matrix_layout_of(module_, place.type, *member);
        path.offset += offset.value_or(0);
        place = {module_.word(place.type, *member + 2), matrix, 0};
        return offset.has_value();
      }
      case Opcode::kTypeArray:
      case Opcode::kTypeRuntimeArray: {
        const auto stride = module_.decoration(place.type, kArrayStrideDecoration);
        place = {module_.word(place.type, 2), place.matrix, 0};
        return stride && add_term(path, index, *stride);
      }
      case Opcode::kTypeMatrix: {
        const uint32_t column = module_.word(place.type, 2);
        const uint32_t size = scalar_bytes(module_, module_.word(column, 2));
        const MatrixLayout matrix = place.matrix;
        place = {column, {}, matrix.is_row_major ? matrix.stride : size};
        return add_term(path, index, matrix.is_row_major ? size : matrix.stride);
      }
      case Opcode::kTypeVector: {
        const uint32_t scalar = module_.word(place.type, 2);
        const uint32_t stride =
            place.component_stride == 0 ? scalar_bytes(module_, scalar) : place.component_stride;
        place = {scalar, {}, 0};
        return add_term(path, index, stride);
      }
      default:
        return false;
    }
  }

  bool add_term(PointerPath& path, uint32_t index, uint32_t stride) {
    if (stride == 0) return false;
    if (const auto known = module_.literal(index)) {
      path.offset += uint64_t{*known} * stride;
      return true;
    }
    if (!module_.is(module_.type_of(index), Opcode::kTypeInt)) return false;
    path.terms.emplace_back(index, stride);
    return true;
  }

  void load(const SpirvInstruction& instruction, std::span<const uint32_t> ids) {
    const auto found = ids.empty() ? pointers_.end() : pointers_.find(ids[0]);
    if (found == pointers_.end()) return;
    const PointerPath& path = found->second;
    if (!plan_.variables[path.variable].is_image) return note(ids, 0, true, false);
    if (!path.is_at_element) return refuse(path.variable, "a load of all images of an array");
    images_[instruction.result] = {path.variable, path.element, false, 0};
  }

  void add_texel_pointer(const SpirvInstruction& instruction, std::span<const uint32_t> ids) {
    const auto found = ids.size() < 2 ? pointers_.end() : pointers_.find(ids[0]);
    if (found == pointers_.end()) return;
    images_[instruction.result] = {found->second.variable, found->second.element, false, ids[1]};
  }

  // Something is done through the pointer `ids[position]`, if it leads anywhere known.
  void note(std::span<const uint32_t> ids, size_t position, bool is_load, bool is_store) {
    if (position >= ids.size()) return;
    if (const auto image = images_.find(ids[position]); image != images_.end()) {
      return add_texel(image->second, PlannedKind::kTexel, image->second.coordinate, is_load,
                       is_store);
    }
    const auto found = pointers_.find(ids[position]);
    if (found == pointers_.end()) return;
    const PointerPath& path = found->second;
    PlannedAccess access;
    access.instruction = at_;
    access.variable = path.variable;
    access.is_load = is_load;
    access.is_store = is_store;
    access.element = path.element;
    access.offset = path.offset;
    access.terms = path.terms;
    if (!path.is_at_element || !add_pieces(module_, path.place, 0, access.pieces)) {
      return refuse(path.variable, "a value of which it is not known which bytes it has");
    }
    // Bits stand for as many bytes as every offset and every size is a multiple of.
    uint64_t all = path.offset;
    for (const auto& [index, stride] : path.terms) all |= stride;
    for (const BytePiece& piece : access.pieces) all |= piece.offset | piece.size;
    uint32_t& shift = plan_.variables[path.variable].granule_shift;
    while (shift > 0 && all % (uint64_t{1} << shift) != 0) --shift;
    plan_.accesses.push_back(std::move(access));
  }

  void note_image(const SpirvInstruction& instruction, std::span<const uint32_t> ids,
                  PlannedKind kind, bool is_load) {
    const auto found = ids.size() < 2 ? images_.end() : images_.find(ids[0]);
    if (found == images_.end()) return;
    const ImageHandle& image = found->second;
    // Without operands it has five words, or, with no result, four.
    const uint32_t mask_word = is_load ? 5 : 4;
    const std::span<const uint32_t> words = module_.words_of(instruction);
    if (words.size() > mask_word && (words[mask_word] & kOffsetOperands) != 0) {
      return refuse(image.variable, "an image that is read at an offset");
    }
    if (kind == PlannedKind::kSample && image.has_other_sampler) {
      return refuse(image.variable, "an image with a sampler of another binding");
    }
    add_texel(image, kind, ids[1], is_load, !is_load);
  }

  void add_texel(const ImageHandle& image, PlannedKind kind, uint32_t coordinate, bool is_load,
                 bool is_store) {
    const PlannedVariable& variable = plan_.variables[image.variable];
    const uint32_t needed = variable.axis_count + (variable.is_arrayed ? 1 : 0);
    const uint32_t type = module_.type_of(coordinate);
    const bool is_vector = module_.is(type, Opcode::kTypeVector);
    const uint32_t scalar = is_vector ? module_.word(type, 2) : type;
    const Opcode wanted = kind == PlannedKind::kSample ? Opcode::kTypeFloat : Opcode::kTypeInt;
    const bool fits = module_.is(scalar, wanted) && scalar_bytes(module_, scalar) == 4 &&
                      (is_vector ? module_.word(type, 3) : 1) >= needed;
    if (!fits) return refuse(image.variable, "a coordinate that is not understood");
    PlannedAccess access;
    access.instruction = at_;
    access.variable = image.variable;
    access.kind = kind;
    access.is_load = is_load;
    access.is_store = is_store;
    access.element = image.element;
    access.coordinate = coordinate;
    plan_.accesses.push_back(std::move(access));
  }

  const SpirvWords& module_;
  AccessPlan plan_;
  size_t at_ = 0;
  std::map<uint32_t, PointerPath> pointers_;  // By id.
  std::map<uint32_t, ImageHandle> images_;    // Likewise.
};

}  // namespace

AccessPlan plan_accesses(const SpirvWords& module) { return AccessPlanner(module).plan(); }

}  // namespace interlock
