#include "fuzz/judge/lifetime_evidence.h"

#include <algorithm>
#include <string>

#include "simulator/report/byte_history.h"

namespace interlock {
namespace {

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

}  // namespace

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

ExpectDraft lifetime_expectation_of(const Program& program, const LifetimeFinding& finding) {
  const DispatchId reader_id = finding.reader.dispatch;
  const std::string reader = reader_id.is_some() ? program.reference_of(reader_id) : "";
  ExpectDraft expect;
  expect.kind = finding.kind;
  if (finding.kind == FindingKind::kUninitialized) {
    expect.first = reader;
    return expect;
  }
  expect.first = finding.kind == FindingKind::kClobber
                     ? program.reference_of(finding.overwriter.dispatch)
                     : program.reference_of(finding.ended_by);
  expect.second = reader;
  return expect;
}

}  // namespace interlock
