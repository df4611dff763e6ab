#include "fuzz/targets/spine_mutation.h"

#include "encoder/program/draft.h"
#include "encoder/text/printer.h"
#include "fuzz/generate/generator.h"
#include "fuzz/generate/mutator.h"
#include "simulator/schedules/choice.h"

namespace interlock {
namespace {

constexpr size_t kInputBytesMax = 1u << 14;

ProgramDraft draft_of_input(std::string_view text) {
  if (text.size() > kInputBytesMax) return {};
  const auto program = parse(text, "<input>", spine_parse_options());
  return program ? draft_of(*program) : ProgramDraft{};
}

std::string text_within(const ProgramDraft& draft, size_t bytes_max) {
  std::string text = print(draft);
  if (text.size() > bytes_max) text.clear();
  return text;
}

}  // namespace

ParseOptions spine_parse_options() {
  ParseOptions options;
  options.skips_invalid_lines = true;
  options.reads_every_queue = true;
  options.limits.memory_bytes = 1u << 13;
  options.limits.memory_count = 32;
  options.limits.tensor_count = 128;
  options.limits.statement_count = 128;
  options.limits.access_count_per_dispatch = 32;
  options.limits.kernel_extent = 64;
  return options;
}

std::string mutate_text(std::string_view text, uint64_t seed, size_t bytes_max) {
  SeededChoice choice(seed);
  GeneratorOptions options;
  options.has_barriers = true;
  options.has_queues = true;
  return text_within(mutate(draft_of_input(text), choice, options), bytes_max);
}

std::string cross_over_texts(std::string_view first, std::string_view second, uint64_t seed,
                             size_t bytes_max) {
  SeededChoice choice(seed);
  return text_within(cross_over(draft_of_input(first), draft_of_input(second), choice), bytes_max);
}

}  // namespace interlock
