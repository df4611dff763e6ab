// Trials of overlap mode of programs with several queues, for tests of the devices that have it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>

#include "backends/interface/backend.h"
#include "backends/interface/transitions.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/generate/queue_generator.h"
#include "fuzz/generate/queue_launches.h"
#include "fuzz/judge/replay.h"
#include "simulator/facts/find_facts.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/queue_order.h"
#include "simulator/order/reference_order.h"
#include "simulator/report/check.h"
#include "simulator/schedules/choice.h"
#include "tests/corpus_files.h"
#include "tests/simulator/programs/random_queue_programs.h"

namespace interlock {

// Returns the number of the first trial, from 1 on, whose outputs differ from the reference; 0 if
// none of so many does. An error fails the test. Requires: `run` is in reference order.
inline int first_differing_trial(Backend& backend, const Program& run, int trial_count) {
  const Schedule order = reference_order_schedule(run);
  const auto right = backend.run(run, order, ExecutionMode::kWitness);
  if (!right) {
    ADD_FAILURE() << right.error().message << "\n" << print(as_in_text(run));
    return 0;
  }
  for (int trial = 1; trial <= trial_count; ++trial) {
    const auto image = backend.run(run, order, ExecutionMode::kOverlap);
    if (!image) {
      ADD_FAILURE() << image.error().message << "\n" << print(as_in_text(run));
      return 0;
    }
    if (outputs_differ(run, *right, *image)) return trial;
  }
  return 0;
}

// A program of the corpus that overlap mode executes: with several queues or the host, without
// transitions, and without a deadlock or an order that is meant otherwise. In reference order.
inline std::optional<Program> queue_program_of(const std::filesystem::path& path) {
  const Program program = corpus_program(path);
  if (!needs_queue_order(program) || program.has_program_order) return std::nullopt;
  if (!find_reference_order(program).cycle.empty()) return std::nullopt;
  Program run = reference_run(program);
  if (transition_refusal(run)) return std::nullopt;  // Devices execute none.
  return run;
}

// Those too that are only possible: an execution touches all that bounds allow.
inline bool finds_hazard(const Program& run) {
  const CheckReport report = check(run, {.counts_possible = true, .counts_own_reads = true});
  return std::ranges::any_of(report.findings,
                             [](const Finding& finding) { return is_hazard(finding.kind); });
}

// A random program without any finding, and without transitions; in reference order. None if the
// seed gives another one.
inline std::optional<Program> clean_queue_program(uint64_t seed) {
  SeededChoice choice(seed);
  const auto program = parse(random_queue_program(choice), "random", every_queue());
  if (!program || !needs_queue_order(*program) || program->has_program_order) return std::nullopt;
  if (!find_reference_order(*program).cycle.empty()) return std::nullopt;
  const Program run = reference_run(*program);
  if (transition_refusal(run)) return std::nullopt;
  return find_facts(run, {.lists_possible = true}).facts.empty() ? std::optional(run)
                                                                 : std::nullopt;
}

// Likewise, one of the campaigns in which a serial queue launches what was captured.
inline std::optional<Program> clean_launch_program(uint64_t seed) {
  SeededChoice choice(seed);
  ProgramDraft draft = generate_queues(choice);
  add_queue_launches(draft, choice);
  const auto program = parse(print(draft), "random", every_queue());
  if (!program || program->has_program_order) return std::nullopt;
  if (std::ranges::none_of(program->syncs, &SyncStep::is_of_launch)) return std::nullopt;
  if (!find_reference_order(*program).cycle.empty()) return std::nullopt;
  const Program run = reference_run(*program);
  if (transition_refusal(run)) return std::nullopt;
  return find_facts(run, {.lists_possible = true}).facts.empty() ? std::optional(run)
                                                                 : std::nullopt;
}

}  // namespace interlock
