// Oracles: everything that one program is judged by, from cheap to costly: print and parse,
// encode, exact checks, cross-checks of our own methods, shadow runs, CPU runs.
// A finding concerns the encoder under test (or the program as it stands); a disagreement concerns
// Interlock itself: two of our methods give different answers, so one of them is wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder/program/draft.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/sync/encoder.h"
#include "encoder/sync/external_encoder.h"
#include "fuzz/judge/device_oracle.h"
#include "fuzz/judge/findings.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/bytes/conflict_scan.h"
#include "simulator/facts/fact.h"
#include "simulator/order/happens_before.h"

namespace interlock {

enum class OracleStage : uint8_t {
  kBuild,            // The draft builds; printed, it parses.
  kPrintParse,       // parse(print(p)) equals p, whether p is a draft; printing is a fixed point.
  kEncode,           // The encoder under test encodes it.
  kExactCheck,       // Hazards, reordering, alias contracts.
  kCrossCheck,       // `interlock` leaves no hazard and places exactly the fewest barriers.
  kThreeRuns,        // Exact verdict iff strict runs differ; observable only if strict.
  kRandomSchedules,  // No random legal schedule differs on a clean program.
  kCpu,              // The CPU agrees with the shadow machine, and with the reference if clean.
  kDevice,           // So does the device (device_oracle.h).
  // With several queues, or with the host (queue_judges.h):
  kReferenceRun,  // The reference run is that of semaphores that count.
  kChains,        // The exact check finds the bytes that a search of chains finds.
  kMachine,       // The machine of counters can reverse what is in no order, and nothing else.
  kAdvice,        // Sync that can go is what orders nothing that the search of chains misses.
  kJson,          // The report as JSON is that of the check.
};
std::string_view word_of(OracleStage stage);

struct InternalDisagreement {
  OracleStage stage = OracleStage::kBuild;
  std::string message;  // A complete sentence.
};

// What the stages compare with each other. Tests replace one of them by a faulty one: then the
// others must contradict it.
struct OracleMethods {
  std::vector<Fact> (*find)(const Program& program, const HappensBefore& order,
                            const ByteSegments& segments,
                            std::span<ConflictObserver* const> observers) = find_exactly;
  const EncoderEntry* cross_check = nullptr;  // Null: `interlock`.
  Backend* cpu = nullptr;                     // Null: `cpu`.
};

struct OracleOptions {
  const EncoderEntry* encoder = nullptr;  // Null: programs as they stand.
  bool judges_excess = false;             // More barriers than needed is a finding.
  uint32_t random_schedule_count = 1;
  uint64_t cpu_period = 64;    // CPU runs on 1 in so many programs; 0: never.
  DeviceOracleOptions device;  // Likewise on a device, if there is one.
  uint64_t text_period = 16;   // Texts are printed and parsed of 1 in so many programs; 0: never.
  OracleMethods methods;
  ConflictObserver* observer = nullptr;  // If some, sees the conflicts of OracleReport::program.
};

struct OracleReport {
  Program program;  // As judged: encoded by the encoder under test.
  // Why the encoder under test made nothing of it; then nothing below is judged.
  std::optional<EncodeFailure> failure;
  std::vector<Fact> facts;
  std::vector<InternalDisagreement> disagreements;
  uint64_t barrier_count = 0;
  uint64_t fewest_barriers = 0;
  bool is_observable = false;  // A shadow run changes an output.
  bool ran_on_cpu = false;
  bool diverges_on_cpu = false;    // A legal schedule changes an output of reference order.
  DeviceReport device;             // Its disagreements are among those above.
  std::vector<uint64_t> branches;  // Of the encoder under test, as Encoding has them.
};

// Judges one program. `number` selects the CPU runs and seeds the random schedules, so the report
// depends on the arguments only.
// Cost: some 20 to 100 microseconds for a program of 16 dispatches; CPU runs apart.
OracleReport judge(const Program& program, const OracleOptions& options, uint64_t number);

// The program of a draft, by way of its text, which tests the parser too; if that does not parse,
// none, and a disagreement of stage kBuild.
std::optional<Program> parsed_draft(const ProgramDraft& draft,
                                    std::vector<InternalDisagreement>& disagreements);

// Whether texts of the program are printed and parsed.
inline bool has_text_turn(const OracleOptions& options, uint64_t number) {
  return options.text_period > 0 && number % options.text_period == 0;
}

// As above, of what a draft builds, where nothing of the draft is needed any more: texts have no
// turn. If it does not build, a disagreement of stage kBuild.
OracleReport judge_built(Result<Program> built, const OracleOptions& options, uint64_t number);

// As above. Where texts have their turn, the text of the draft must be the same program.
OracleReport judge(const ProgramDraft& draft, const OracleOptions& options, uint64_t number);

// The program as `encoder` encodes it; itself without an encoder. Where the encoder fails, a
// program without dispatches, of which nothing is found: whoever looks for a finding goes on
// elsewhere.
Program encode_with(const Program& program, const EncoderEntry* encoder);
Program encode_with(Program&& program, const EncoderEntry* encoder);

}  // namespace interlock
