#include "capture/convert/unseen_writes.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <variant>

#include "encoder/program/limits.h"
#include "encoder/program/scope.h"

namespace interlock {
namespace {

constexpr uint64_t kUnseenMax = 1u << 16;  // About 10 MB.
constexpr size_t kCarriedRangesMax = Limits().access_count_per_dispatch;

constexpr AccessMask kHostAccesses =
    bit_of(StageAccess::kHostRead) | bit_of(StageAccess::kHostWrite);

// Kernels of the table that copy and fill are told as opaque ones of that stage.
Stage stage_of_draft(const DispatchDraft& dispatch) {
  const bool is_of_copies = dispatch.kernel == "copy" || dispatch.kernel == "fill";
  return is_of_copies ? Stage::kCopy : dispatch.stage;
}

std::string kernel_of_draft(const DispatchDraft& dispatch) {
  if (dispatch.kernel == "copy") return "Copy";
  return dispatch.kernel == "fill" ? "Fill" : dispatch.kernel;
}

// Each run of bytes of the operand. Those of converted programs have slices.
template <typename Visit>
void for_each_run(const OperandDraft& operand, Visit visit) {
  if (!operand.slice) return;
  if (!operand.stride) return visit(*operand.slice);
  for (uint64_t row = 0; row < operand.stride->row_count; ++row) {
    const uint64_t begin = operand.slice->begin + row * operand.stride->pitch_bytes;
    visit(ByteRange{begin, begin + operand.stride->width_bytes});
  }
}

}  // namespace

void UnseenWrites::remove_memory(const std::string& name) {
  memories_.erase(name);
  lost_.erase(name);
  auto of_memory = pieces_.lower_bound({name, {}, Stage::kCompute, false});
  while (of_memory != pieces_.end() && of_memory->first.memory == name) {
    piece_count_ -= of_memory->second.size();
    of_memory = pieces_.erase(of_memory);
  }
}

void UnseenWrites::add(const ItemDraft& item) {
  if (const auto* const dispatch = std::get_if<DispatchDraft>(&item)) {
    add_dispatch(*dispatch);
  } else if (const auto* const barrier = std::get_if<BarrierDraft>(&item)) {
    add_dependencies(barrier->dependencies, barrier->queue, false);
  } else if (const auto* const sync = std::get_if<SyncDraft>(&item)) {
    add_dependencies(sync->dependencies, sync->queue, true);
  } else if (const auto* const access = std::get_if<HostAccessDraft>(&item)) {
    touch(*access);
  }
}

void UnseenWrites::add_dispatch(const DispatchDraft& dispatch) {
  std::shared_ptr<Writer> writer;
  for (const OperandDraft& operand : dispatch.operands) {
    if (operand.mode < AccessMode::kWrite) continue;
    if (writer == nullptr) {
      writer = std::make_shared<Writer>();
      writer->number = ++writer_count_;
      writer->window = window_;
      DispatchDraft& told = writer->dispatch;
      told.label = dispatch.label;
      told.kernel = kernel_of_draft(dispatch);
      told.stage = stage_of_draft(dispatch);
      told.queue = dispatch.queue;
      told.is_partial = dispatch.is_partial;
      told.is_approximate = dispatch.is_approximate;
    }
    const PlaceKey key{operand.name, dispatch.queue, writer->dispatch.stage,
                       dispatch.is_approximate};
    for_each_run(operand, [&](ByteRange bytes) { write(key, bytes, writer); });
  }
}

void UnseenWrites::add_dependencies(const std::vector<DependencyDraft>& dependencies,
                                    const std::string& queue, bool is_event) {
  for (const DependencyDraft& dependency : dependencies) {
    const bool shows = (dependency.destination.accesses & kHostAccesses) != 0;
    if (shows && dependency.operands.empty()) {
      for (auto& [key, pieces] : pieces_) {
        show(dependency, queue, is_event, key, pieces, {0, UINT64_MAX});
      }
    }
    for (const OperandDraft& operand : dependency.operands) {
      for_each_run(operand, [&](ByteRange bytes) {
        if (shows) {
          auto of_memory = pieces_.lower_bound({operand.name, {}, Stage::kCompute, false});
          for (; of_memory != pieces_.end() && of_memory->first.memory == operand.name;
               ++of_memory) {
            show(dependency, queue, is_event, of_memory->first, of_memory->second, bytes);
          }
        } else if (dependency.transition != TransitionKind::kNone) {
          write({operand.name, queue, Stage::kTransition, false}, bytes,
                std::make_shared<Writer>(Writer{++writer_count_, window_, {}}), Sight::kInDoubt);
        }
      });
    }
  }
}

void UnseenWrites::show(const DependencyDraft& dependency, const std::string& queue, bool is_event,
                        const PlaceKey& key, Pieces& pieces, ByteRange bytes) {
  const Scope source = dependency.source;
  if (source.stages == 0) return;
  const bool names_write = key.queue == queue && key.stage != Stage::kTransition &&
                           (source.accesses & bit_of(write_sort_of(key.stage))) != 0;
  const auto [begin, end] = cut(pieces, bytes);
  for (auto piece = begin; piece != end; ++piece) {
    ++step_count_;
    // What an earlier window wrote is available, and before everything in this one.
    const bool is_shown = !is_event && (piece->second.writer->window < window_ || names_write);
    piece->second.next = std::max(piece->second.next, is_shown ? Sight::kShown : Sight::kInDoubt);
  }
}

void UnseenWrites::begin_window() {
  ++window_;
  for (auto of_place = pieces_.begin(); of_place != pieces_.end();) {
    Pieces& pieces = of_place->second;
    for (auto piece = pieces.begin(); piece != pieces.end();) {
      const Sight sight = std::exchange(piece->second.next, Sight::kSame);
      piece->second.is_doubtful = piece->second.is_doubtful || sight == Sight::kInDoubt;
      const bool is_shown = sight == Sight::kShown;
      if (is_shown) --piece_count_;
      piece = is_shown ? pieces.erase(piece) : std::next(piece);
    }
    of_place = pieces.empty() ? pieces_.erase(of_place) : std::next(of_place);
  }
}

std::pair<UnseenWrites::Pieces::iterator, UnseenWrites::Pieces::iterator> UnseenWrites::cut(
    Pieces& pieces, ByteRange bytes) {
  for (const uint64_t at : {bytes.begin, bytes.end}) {
    auto after = pieces.upper_bound(at);
    if (after == pieces.begin()) continue;
    Piece& before = std::prev(after)->second;
    if (std::prev(after)->first == at || before.end <= at) continue;
    const Piece rest = before;
    before.end = at;
    pieces.emplace_hint(after, at, rest);
    ++piece_count_;
  }
  return {pieces.lower_bound(bytes.begin), pieces.lower_bound(bytes.end)};
}

void UnseenWrites::write(const PlaceKey& key, ByteRange bytes,
                         const std::shared_ptr<const Writer>& writer, Sight next) {
  if (bytes.is_empty() || !memories_.contains(key.memory) || lost_.contains(key.memory)) return;
  Pieces& pieces = pieces_[key];
  const auto [begin, end] = cut(pieces, bytes);
  piece_count_ -= static_cast<uint64_t>(std::distance(begin, end));
  pieces.erase(begin, end);
  pieces[bytes.begin] = {bytes.end, writer, false, next};
  if (++piece_count_ > kUnseenMax) lose_pieces();
}

void UnseenWrites::lose_pieces() {
  for (const auto& [key, pieces] : pieces_) lost_.insert(key.memory);
  pieces_.clear();
  piece_count_ = 0;
}

void UnseenWrites::touch(const HostAccessDraft& access) {
  if (window_ == 1) return;
  for (const OperandDraft& operand : access.operands) {
    has_doubt_ = has_doubt_ || lost_.contains(operand.name);
    auto of_memory = pieces_.lower_bound({operand.name, {}, Stage::kCompute, false});
    for (; of_memory != pieces_.end() && of_memory->first.memory == operand.name; ++of_memory) {
      for_each_run(operand, [&](ByteRange bytes) {
        const auto [begin, end] = cut(of_memory->second, bytes);
        for (auto piece = begin; piece != end; ++piece) {
          const Writer& writer = *piece->second.writer;
          if (writer.window == window_) continue;
          Touched& touched = touched_[writer.number];
          if (piece->second.is_doubtful || touched.ranges.size() >= kCarriedRangesMax) {
            has_doubt_ = true;
            continue;
          }
          touched.dispatch = writer.dispatch;
          uint64_t& range_end = touched.ranges[{operand.name, piece->first}];
          range_end = std::max(range_end, piece->second.end);
        }
      });
    }
  }
}

std::vector<DispatchDraft> UnseenWrites::take_touched() {
  std::vector<DispatchDraft> dispatches;
  for (auto& [number, touched] : touched_) {
    if (touched.ranges.empty()) continue;
    DispatchDraft& dispatch = dispatches.emplace_back(std::move(touched.dispatch));
    for (const auto& [place, end] : touched.ranges) {
      // Pieces were cut where the host touched them.
      const bool goes_on = !dispatch.operands.empty() &&
                           dispatch.operands.back().name == place.first &&
                           dispatch.operands.back().slice->end >= place.second;
      if (goes_on) {
        ByteRange& slice = *dispatch.operands.back().slice;
        slice.end = std::max(slice.end, end);
        continue;
      }
      OperandDraft operand;
      operand.mode = AccessMode::kWrite;
      operand.name = place.first;
      operand.slice = ByteRange{place.second, end};
      dispatch.operands.push_back(operand);
    }
  }
  touched_.clear();
  return dispatches;
}

}  // namespace interlock
