#include "fuzz/campaign/corpus.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "encoder/program/error_of.h"
#include "encoder/program/hash.h"
#include "encoder/program/names.h"
#include "encoder/sync/encoder.h"
#include "encoder/text/files.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/judge/findings.h"
#include "fuzz/judge/signature.h"

namespace interlock {
namespace {

ParseOptions corpus_parse_options() {
  ParseOptions options;
  options.reads_one_queue = true;
  options.limits.statement_count = kCorpusStatementsMax;
  options.limits.expansion_count = kCorpusStatementsMax;
  options.limits.memory_count = kCorpusStatementsMax;
  options.limits.tensor_count = kCorpusStatementsMax;
  return options;
}

bool is_left_out(const ItemDraft& item) {
  const auto* const lifetime = std::get_if<LifetimeDraft>(&item);
  // What waits for an unpin costs a right encoder a barrier that nothing needs.
  const bool is_pin = lifetime != nullptr && (lifetime->kind == LifetimeKind::kPin ||
                                              lifetime->kind == LifetimeKind::kUnpin);
  return is_pin || std::holds_alternative<BarrierDraft>(item) ||
         std::holds_alternative<SyncDraft>(item);
}

ProgramDraft as_an_encoder_is_given(const Program& program) {
  ProgramDraft draft = without_evidence(draft_of(program));
  std::erase_if(draft.items, is_left_out);
  for (ItemDraft& item : draft.items) {
    auto* const dispatch = std::get_if<DispatchDraft>(&item);
    if (dispatch == nullptr) continue;
    dispatch->order.reset();
    std::erase_if(dispatch->operands, [](const OperandDraft& o) { return o.is_undeclared; });
  }
  return draft;
}

// What the judges of programs of one queue do not know; none if there is no such thing.
std::optional<StatementId> statement_with_rows(const Program& program) {
  for (const Dispatch& dispatch : program.dispatches) {
    const auto accesses = program.accesses_of(dispatch);
    const auto is_strided = [](const Access& a) { return a.stride != Access::kNotStrided; };
    if (std::ranges::any_of(accesses, is_strided)) return dispatch.statement;
  }
  return std::nullopt;
}

// Of all programs of a corpus so far: what makes each of their mutants slow.
class CorpusCosts {
 public:
  explicit CorpusCosts(const std::string& path) : path_(path) {}

  Result<Success> add(const std::string& file, const Program& program, uint64_t text_bytes) {
    if (text_bytes > kCorpusBytesMax) {
      return error_of(
          "{}: error: its text, without sync, has {} bytes; the limit of a corpus is {}.", file,
          text_bytes, kCorpusBytesMax);
    }
    item_count_ += program.statements.size() + program.memories.size() + program.tensors.size();
    byte_count_ += text_bytes;
    const bool has_many_items = item_count_ > kCorpusAllItemsMax;
    if (!has_many_items && byte_count_ <= kCorpusAllBytesMax) return Success{};
    return error_of("the programs in {} up to {} have more than {} {}, the limit of a corpus.",
                    in_quotes(path_), in_quotes(file),
                    has_many_items ? kCorpusAllItemsMax : kCorpusAllBytesMax,
                    has_many_items ? "statements, memories and tensors" : "bytes of text");
  }

 private:
  const std::string& path_;
  uint64_t item_count_ = 0;
  uint64_t byte_count_ = 0;
};

Result<Success> check_fault(const std::string& text, const std::string& path,
                            Result<Success> (*check)(const Program&)) {
  const Result<Program> program = parse(text, "it");
  if (!program) {
    return error_of("{}: error: campaigns of encoders do not judge it, for without its sync {}",
                    path, program.error().message);
  }
  const Result<Success> taken = check != nullptr ? check(*program) : Success{};
  if (!taken) return error_of("{}: error: {}", path, taken.error().message);
  const Program encoded = encode(*program, *find_encoder("interlock")->create());
  const std::vector<Fact> facts = find_exactly(encoded);
  if (facts.empty()) return Success{};
  return error_of(
      "{}: error: the encoder `interlock` leaves {} in it: that is the program's own fault, and "
      "every encoder would be blamed for it.",
      path, signature_of(encoded, facts.front()));
}

}  // namespace

Result<Corpus> read_corpus(const std::string& path, Result<Success> (*check)(const Program&)) {
  auto paths = programs_at({path});
  if (!paths) return paths.error();
  if (paths->size() > kCorpusProgramsMax) {
    return error_of("{} has {} programs, and a corpus has {} at most.", in_quotes(path),
                    paths->size(), kCorpusProgramsMax);
  }
  Corpus corpus;
  corpus.digest = kFnv1aBasis;
  CorpusCosts costs(path);
  for (const std::string& file : *paths) {
    std::vector<uint64_t> lines;
    ParseOptions options = corpus_parse_options();
    options.statement_lines = &lines;
    const auto program = parse_file(file, options);
    if (!program) return program.error();
    if (const auto statement = statement_with_rows(*program)) {
      return error_of("{}:{}:1: error: campaigns of encoders do not judge operands of rows.", file,
                      lines[statement->index]);
    }
    ProgramDraft draft = as_an_encoder_is_given(*program);
    const std::string text = print(draft);
    auto checked = costs.add(file, *program, text.size());
    if (checked) checked = check_fault(text, file, check);
    if (!checked) return checked.error();
    corpus.digest = fnv1a(corpus.digest, text);
    corpus.programs.push_back(std::move(draft));
  }
  return corpus;
}

}  // namespace interlock
