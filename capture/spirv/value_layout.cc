#include "capture/spirv/value_layout.h"

#include <optional>

namespace interlock {
namespace {

constexpr size_t kPiecesMax = 64;
constexpr uint32_t kAddressBytes = 8;  // Of a pointer into physical storage.

bool add_piece(uint64_t offset, uint64_t size, std::vector<BytePiece>& pieces) {
  if (!pieces.empty() && pieces.back().offset + pieces.back().size == offset) {
    pieces.back().size += size;
    return true;
  }
  pieces.push_back({offset, size});
  return pieces.size() <= kPiecesMax;
}

// What a type is made of stands before it: so no type contains itself.
bool is_part_of(const SpirvWords& module, uint32_t part, const SpirvInstruction& whole) {
  const SpirvInstruction* const found = module.find(part);
  return found != nullptr && found->first_word < whole.first_word;
}

bool add_repeated(const SpirvWords& module, const LayoutPlace& place, uint64_t offset,
                  uint64_t stride, uint64_t count, std::vector<BytePiece>& pieces) {
  // Without gaps an array is one piece, however long it is: but each of its values is visited.
  constexpr uint64_t kRepeatsMax = 4096;
  if (stride == 0 || count > kRepeatsMax) return false;
  for (uint64_t i = 0; i < count; ++i) {
    if (!add_pieces(module, place, offset + i * stride, pieces)) return false;
  }
  return true;
}

}  // namespace

uint32_t scalar_bytes(const SpirvWords& module, uint32_t type) {
  if (module.is(type, Opcode::kTypePointer)) return kAddressBytes;
  if (!module.is(type, Opcode::kTypeInt) && !module.is(type, Opcode::kTypeFloat)) return 0;
  return module.word(type, 2) / 8;
}

MatrixLayout matrix_layout_of(const SpirvWords& module, uint32_t type, uint32_t member) {
  return {module.member_decoration(type, member, kMatrixStrideDecoration).value_or(0),
          module.member_decoration(type, member, kRowMajorDecoration).has_value()};
}

bool add_pieces(const SpirvWords& module, const LayoutPlace& place, uint64_t offset,
                std::vector<BytePiece>& pieces) {
  const SpirvInstruction* const type = module.find(place.type);
  if (type == nullptr) return false;
  const bool has_one_part = type->opcode == Opcode::kTypeVector ||
                            type->opcode == Opcode::kTypeMatrix ||
                            type->opcode == Opcode::kTypeArray;
  if (has_one_part && !is_part_of(module, module.word(place.type, 2), *type)) return false;
  switch (type->opcode) {
    case Opcode::kTypeInt:
    case Opcode::kTypeFloat:
    case Opcode::kTypePointer: {
      const uint32_t size = scalar_bytes(module, place.type);
      return size > 0 && add_piece(offset, size, pieces);
    }
    case Opcode::kTypeVector: {
      const uint32_t scalar = module.word(place.type, 2);
      const uint32_t stride =
          place.component_stride == 0 ? scalar_bytes(module, scalar) : place.component_stride;
      return add_repeated(module, {scalar, {}, 0}, offset, stride, module.word(place.type, 3),
                          pieces);
    }
    case Opcode::kTypeMatrix: {
      const uint32_t column = module.word(place.type, 2);
      const uint32_t size = scalar_bytes(module, module.word(column, 2));
      const uint32_t stride = place.matrix.is_row_major ? size : place.matrix.stride;
      const uint32_t component_stride = place.matrix.is_row_major ? place.matrix.stride : size;
      return add_repeated(module, {column, {}, component_stride}, offset, stride,
                          module.word(place.type, 3), pieces);
    }
    case Opcode::kTypeArray: {
      const std::optional<uint32_t> count = module.literal(module.word(place.type, 3));
      return count &&
             add_repeated(module, {module.word(place.type, 2), place.matrix, 0}, offset,
                          module.decoration(place.type, kArrayStrideDecoration).value_or(0), *count,
                          pieces);
    }
    case Opcode::kTypeStruct:
      for (uint32_t member = 0; member + 2 < type->word_count; ++member) {
        const auto at = module.member_decoration(place.type, member, kOffsetDecoration);
        const LayoutPlace value{module.word(place.type, member + 2),
                                matrix_layout_of(module, place.type, member), 0};
        if (!is_part_of(module, value.type, *type)) return false;
        if (!at || !add_pieces(module, value, offset + *at, pieces)) return false;
      }
      return true;
    default:
      return false;
  }
}

}  // namespace interlock
