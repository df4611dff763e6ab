// Conformance: which named properties an encoder for one queue has, and of each that it lacks a
// program that shows it, made small. docs/conformance.md says what each of them is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/program/stop.h"
#include "encoder/sync/encoder.h"

namespace interlock {

enum class ConformVerdict : uint8_t {
  kHolds,
  kFails,      // Synchronization is missing, or there is no answer that could be judged.
  kAdvice,     // It is safe, and could do with less sync or memory.
  kNotJudged,  // Cannot be measured here, or rests on a property that fails.
};

// "holds", "FAILS", "advice", "not judged".
std::string_view word_of(ConformVerdict verdict);

struct ConformProperty {
  std::string_view name;  // "orders-hazards"; its counterexample is NAME.ilk.
  ConformVerdict verdict = ConformVerdict::kHolds;
  std::string detail;  // What was tried, or what was found, or why it is not judged: clauses.
  // What shows it, as the encoder encoded it, with evidence; where it gave no answer, what it was
  // given. Its text is `text`, which is in the file `path` if one was written.
  std::optional<Program> counterexample;
  std::string text;
  std::string path;
  bool replays = false;  // Its witness makes an output differ on the CPU.
};

struct ConformOptions {
  uint64_t seed = 1;
  uint64_t run_count = 4000;        // Of generated programs.
  uint64_t distance_max = 4096;     // Dispatches between the two of a hazard.
  uint64_t operand_count_max = 64;  // Of one dispatch.
  uint64_t stream_dispatches = 1'000'000;
  uint32_t job_count = 1;
  std::string out_dir;        // Created if missing. Empty: nothing is written.
  std::string encoder_flags;  // As in CampaignOptions.
  Stop* stop = nullptr;       // Ends early; what is not judged by then says so.
};

struct ConformReport {
  std::vector<ConformProperty> properties;  // In the order of the document.
  uint64_t program_count = 0;               // That the encoder was given, but for minimizing.
  std::vector<std::string> disagreements;   // Bugs of Interlock itself, as in CampaignReport.

  // Whether a property fails; advice is none.
  bool has_failure() const;
};

// Deterministic but for clocks and memory: of the same encoder and options the same report.
// Errors: the folder or a file cannot be written.
// Cost: some 5,000 programs, seconds for an encoder of this build; minutes for a slow process.
Result<ConformReport> conform(const EncoderEntry& encoder, const ConformOptions& options);

}  // namespace interlock
