#include "fuzz/lifetime_evidence.h"

#include <algorithm>

#include "encoder/text.h"
#include "simulator/byte_history.h"

namespace interlock {
namespace {

std::string kernel_word(const Program& program, DispatchId id) {
  if (!id.is_some()) return "end";
  const Dispatch& dispatch = program.dispatch(id);
  return is_opaque(program, dispatch) ? "Opaque" : std::string(program.name(dispatch.kernel_name));
}

// What ended the value that is read; of a clobber, before it was overwritten.
LifetimeId end_of(const Program& program, const LifetimeFinding& finding) {
  if (finding.kind != FindingKind::kClobber) return finding.ended_by;
  uint64_t work_left = 1'000'000;
  const ByteHistory history =
      history_of(program, finding.memory, finding.bytes, finding.reader.dispatch, work_left);
  LifetimeId end;
  for (const HistoryEvent& event : history.events) {
    if (event.value.owner == finding.tensor) end = event.value.ended_by;
  }
  return end;
}

ExpectDraft expect_of(const Program& program, const LifetimeFinding& finding) {
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

}  // namespace

std::string signature_of(const Program& program, const LifetimeFinding& finding,
                         SignatureDetail detail) {
  std::string text(word_of(finding.kind));
  if (const LifetimeId end = end_of(program, finding); end.is_some()) {
    text += '-';
    text += word_of(program.lifetimes[end.index].kind);
  }
  if (detail == SignatureDetail::kShape) return text;
  if (finding.kind == FindingKind::kClobber) {
    text += '-' + kernel_word(program, finding.overwriter.dispatch);
  }
  return text + '-' + kernel_word(program, finding.reader.dispatch);
}

std::vector<ExpectDraft> lifetime_expectations(const Program& program) {
  std::vector<ExpectDraft> expectations;
  std::vector<std::string> lines;
  for (const LifetimeFinding& finding : check_lifetimes(program).findings) {
    ExpectDraft expect = expect_of(program, finding);
    std::string line = print(ItemDraft(expect));
    if (std::find(lines.begin(), lines.end(), line) != lines.end()) continue;
    lines.push_back(std::move(line));
    expectations.push_back(std::move(expect));
  }
  return expectations;
}

}  // namespace interlock
