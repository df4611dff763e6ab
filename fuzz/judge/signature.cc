#include "fuzz/judge/signature.h"

#include <array>

#include "encoder/kernel/kernel_table.h"
#include "simulator/report/byte_history.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 5> kShapeWords = {"same_range", "overlap", "donation",
                                                         "view", "slot_reuse"};

constexpr std::string_view kGradientWord = "gradient";

// The values whose bytes `tensor` took over, directly or not, itself included.
bool descends_from(const Program& program, TensorId tensor, TensorId ancestor) {
  while (tensor.is_some()) {
    const TensorId root = program.tensor(tensor).root;
    if (root == ancestor) return true;
    tensor = program.tensor(root).source;  // None unless the root is a donation.
  }
  return false;
}

// The kernel of the dispatch as signatures name it: "Opaque" for all opaque ones, "end" for none;
// "host_reads".
std::string kernel_word(const Program& program, DispatchId id) {
  if (!id.is_some()) return "end";
  const Dispatch& dispatch = program.dispatch(id);
  if (dispatch.host != HostAccess::kNone) {
    return dispatch.host == HostAccess::kReads ? "host_reads" : "host_writes";
  }
  return is_opaque(program, dispatch) ? "Opaque" : std::string(program.name(dispatch.kernel_name));
}

ByteHistory history_of(const Program& program, const LifetimeFinding& finding) {
  uint64_t work_left = 1'000'000;
  return history_of(program, finding.memory, finding.bytes, finding.reader.dispatch, work_left);
}

// What ended the value that is read; of a clobber, before it was overwritten.
LifetimeId end_of(const Program& program, const LifetimeFinding& finding) {
  if (finding.kind != FindingKind::kClobber) return finding.ended_by;
  LifetimeId end;
  for (const HistoryEvent& event : history_of(program, finding).events) {
    if (event.value.owner == finding.tensor) end = event.value.ended_by;
  }
  return end;
}

// None: the dispatch is of no replay.
CaptureId capture_of(const Program& program, DispatchId id) {
  if (!id.is_some()) return {};
  const uint32_t statement = program.dispatch(id).statement.index;
  for (const Replay& replay : program.replays) {
    const bool is_there =
        statement >= replay.first.index && statement - replay.first.index < replay.statement_count;
    if (is_there) return replay.capture;
  }
  return {};
}

// True iff the value that is read came from a replay, and a later replay of the same capture
// overwrites it.
bool is_lost_to_a_replay(const Program& program, const LifetimeFinding& finding) {
  if (program.replays.empty() || finding.kind != FindingKind::kClobber) return false;
  DispatchId writer;  // Of what the bytes hold.
  DispatchId lost;    // The writer of what is read.
  for (const HistoryEvent& event : history_of(program, finding).events) {
    if (event.kind == HistoryKind::kWritten) writer = event.dispatch;
    if (event.value.owner == finding.tensor) lost = writer;
  }
  const CaptureId capture = capture_of(program, lost);
  return capture.is_some() && capture == capture_of(program, finding.overwriter.dispatch);
}

// "clobber-reset-scale-silu", "use-after-free-free-silu", "clobber-Opaque-end": kind, what ends the
// value that is read, overwriter, reader. Without kernels: kind and end alone.
std::string lifetime_signature_of(const Program& program, const LifetimeFinding& finding,
                                  SignatureDetail detail) {
  std::string text(word_of(finding.kind));
  if (const LifetimeId end = end_of(program, finding); end.is_some()) {
    text += '-';
    text += word_of(program.lifetimes[end.index].kind);
  }
  if (is_lost_to_a_replay(program, finding)) text += "-replay";
  if (detail == SignatureDetail::kShape) return text;
  if (finding.kind == FindingKind::kClobber) {
    text += '-' + kernel_word(program, finding.overwriter.dispatch);
  }
  return text + '-' + kernel_word(program, finding.reader.dispatch);
}

// "gradient-matmul_nn": with the kernel of the first reader that counts wrongly.
std::string gradient_signature_of(const Program& program, const GradientFinding& finding) {
  std::string text(kGradientWord);
  if (finding.counts.empty() || finding.counts[0].dispatches.empty()) return text;
  const Dispatch& reader = program.dispatch(finding.counts[0].dispatches[0]);
  return text + '-' + std::string(program.name(reader.kernel_name));
}

}  // namespace

std::string_view word_of(AliasShape shape) { return kShapeWords[static_cast<size_t>(shape)]; }

AliasShape alias_shape_of(const Program& program, const Fact& fact) {
  const bool is_of_two =
      std::holds_alternative<Hazard>(fact) || std::holds_alternative<AliasViolation>(fact);
  if (!is_of_two) return AliasShape::kSameRange;
  const FactPlace place = place_of(program, fact);
  return alias_shape_of(program, access_of(program, place.first),
                        access_of(program, *place.second));
}

AliasShape alias_shape_of(const Program& program, const Access& first, const Access& second) {
  if (first.tensor.is_some() && second.tensor.is_some()) {
    const TensorId a = program.tensor(first.tensor).root;
    const TensorId b = program.tensor(second.tensor).root;
    if (a != b) {
      const bool donates = descends_from(program, a, b) || descends_from(program, b, a);
      return donates ? AliasShape::kDonation : AliasShape::kSlotReuse;
    }
    if (first.tensor != second.tensor) return AliasShape::kView;
  }
  return first.range == second.range ? AliasShape::kSameRange : AliasShape::kOverlap;
}

bool is_of_gradient(std::string_view signature) { return signature.starts_with(kGradientWord); }

std::string signature_of(const Program& program, const Fact& fact, SignatureDetail detail) {
  if (std::holds_alternative<ExcessBarriers>(fact)) return "excess";
  if (const auto* finding = std::get_if<LifetimeFinding>(&fact)) {
    return lifetime_signature_of(program, *finding, detail);
  }
  if (const auto* finding = std::get_if<GradientFinding>(&fact)) {
    return gradient_signature_of(program, *finding);
  }
  const auto* const hazard = std::get_if<Hazard>(&fact);
  std::string text(hazard != nullptr && hazard->is_possible ? "possible-" : "");
  text += word_of(kind_of(fact));
  if (hazard != nullptr && hazard->is_ordered) text += "-ordered";
  text += '-';
  text += word_of(alias_shape_of(program, fact));
  if (detail == SignatureDetail::kShape) return text;
  text += '-';
  // A read that goes wrong speaks for itself: who wrote what it sees varies.
  const auto* const read = std::get_if<ReorderedRead>(&fact);
  if (read != nullptr) return text + kernel_word(program, read->reader);
  const FactPlace place = place_of(program, fact);
  text += kernel_word(program, place.first.dispatch);
  const bool has_other = place.second && place.second->dispatch != place.first.dispatch;
  if (has_other) {
    text += '-';
    text += kernel_word(program, place.second->dispatch);
  }
  return text;
}

}  // namespace interlock
