// Fuzz target over the whole way of a program: text, program, every oracle as it stands, and every
// correct encoder; programs of several queues by their own oracles, as they stand. Bytes are text
// in the .ilk format, read leniently; mutation works on the structure.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "encoder/program/hash.h"
#include "encoder/sync/encoder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/judge/findings.h"
#include "fuzz/judge/oracles.h"
#include "fuzz/judge/queue_judges.h"
#include "fuzz/targets/spine_mutation.h"
#include "simulator/order/queue_order.h"
#include "simulator/order/signal_order.h"

namespace interlock {
namespace {

std::string_view view_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Selects what is done to one input in so many: the low bits of FNV-1a spread the least.
uint64_t number_of(const uint8_t* data, size_t size) { return fnv1a(view_of(data, size)) >> 8; }

[[noreturn]] void fail(std::string_view who, std::string_view what, const Program& program) {
  std::fprintf(stderr, "%.*s: %.*s\n%s", static_cast<int>(who.size()), who.data(),
               static_cast<int>(what.size()), what.data(), print(program).c_str());
  std::abort();
}

// No encoder can order an access that a dispatch does not declare.
bool declares_all(const Program& program) {
  return std::ranges::none_of(program.accesses, &Access::is_undeclared);
}

void require_clean(const Program& program, const EncoderEntry& entry) {
  for (const Fact& fact : find_exactly(encode_with(program, &entry))) {
    // Encoders decide neither about operands of one dispatch nor about an order that was there.
    const bool is_encoder_business =
        !std::holds_alternative<AliasViolation>(fact) &&
        (!std::holds_alternative<ReorderedRead>(fact) || !program.has_program_order);
    if (is_encoder_business) {
      fail(entry.name, "The encoder leaves a finding in this program:", program);
    }
  }
}

// The broken encoder that is judged beside the correct ones, to see how soon an engine finds what
// is known to be there; none unless INTERLOCK_ENCODER names one.
const EncoderEntry* planted_bug() {
  const char* const name = std::getenv("INTERLOCK_ENCODER");
  if (name == nullptr) return nullptr;
  const EncoderEntry* const entry = find_encoder(name);
  if (entry == nullptr) {
    std::fprintf(stderr, "INTERLOCK_ENCODER: there is no encoder '%s'.\n", name);
    std::exit(2);
  }
  return entry;
}

void fail_at(const InternalDisagreement& disagreement, const Program& program) {
  fail(word_of(disagreement.stage), disagreement.message, program);
}

// Queues, sync beside barriers, the host, rows of bytes, and what is declared for them: what
// encoders and their oracles do not take.
bool is_beyond_one_queue(const Program& program) {
  const bool has_memory_of_the_host = std::ranges::any_of(
      program.memories,
      [](const Memory& memory) { return memory.is_unified || memory.atom_bytes != 0; });
  return !program.queues.empty() || !program.semaphores.empty() || !program.syncs.empty() ||
         !program.strides.empty() || has_memory_of_the_host || needs_queue_order(program);
}

// A text whose signals have no order is an error to whoever reads all of it.
void judge_several_queues(const Program& program, uint64_t number) {
  if (find_unordered_signals(program)) return;
  const QueueJudgeOptions options{.text_period = 1, .statement_count_max = 40};
  for (const InternalDisagreement& disagreement :
       judge_queues(program, options, number).disagreements) {
    fail_at(disagreement, program);
  }
}

void run_one(const uint8_t* data, size_t size) {
  static const EncoderEntry* const planted = planted_bug();
  const auto program = parse(view_of(data, size), "<input>", spine_parse_options());
  if (!program) return;
  if (is_beyond_one_queue(*program)) {
    return judge_several_queues(*program, number_of(data, size));
  }
  const OracleReport report =
      judge(*program, {.cpu_period = 64, .text_period = 1}, number_of(data, size));
  for (const InternalDisagreement& disagreement : report.disagreements) {
    fail_at(disagreement, *program);
  }
  if (!declares_all(*program)) return;
  for (const EncoderEntry& entry : encoder_registry()) {
    if (!entry.is_broken || &entry == planted) require_clean(*program, entry);
  }
}

// Returns the new size; the input stays as it was if the text is empty.
size_t write_text(const std::string& text, uint8_t* data, size_t size) {
  if (text.empty()) return size;
  std::memcpy(data, text.data(), text.size());
  return text.size();
}

}  // namespace
}  // namespace interlock

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  interlock::run_one(data, size);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  return interlock::write_text(
      interlock::mutate_text(interlock::view_of(data, size), seed, max_size), data, size);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* first, size_t first_size,
                                            const uint8_t* second, size_t second_size, uint8_t* out,
                                            size_t max_out_size, unsigned int seed) {
  return interlock::write_text(
      interlock::cross_over_texts(interlock::view_of(first, first_size),
                                  interlock::view_of(second, second_size), seed, max_out_size),
      out, 0);
}
