// Passes of interlock.h, and the search for a program that an encoder gets wrong.
//
// What a pass makes is printed and read again: so every program of a handle is that of its source,
// with the lines of its statements.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bindings/c/handles.h"
#include "bindings/c/interlock.h"
#include "encoder/plan/planner.h"
#include "encoder/program/program.h"
#include "encoder/program/registry.h"
#include "encoder/program/result.h"
#include "encoder/queues/queue_encoder.h"
#include "encoder/sync/encoder.h"
#include "encoder/sync/external_encoder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/external/opened_encoder.h"
#include "fuzz/judge/signature.h"
#include "fuzz/minimize/minimizer.h"
#include "simulator/order/text_in_run_order.h"
#include "simulator/report/text_repair.h"

namespace interlock {
namespace {

// One of them, or none with why.
struct NamedEncoder {
  const EncoderEntry* encoder = nullptr;
  const QueueEncoderEntry* queue_encoder = nullptr;
  std::unique_ptr<OpenedEncoder> opened;
  std::optional<ilk_error> error;
};

ilk_error unknown_name(std::string message) {
  return {ILK_BAD_ARGUMENT, "there is " + std::move(message), 0, 0};
}

NamedEncoder named_encoder(const char* name, const ilk_options* options) {
  NamedEncoder named;
  if (name == nullptr) {
    named.error = null_argument("the name of the encoder");
  } else if (is_external_name(name)) {
    ExternalOptions external;
    if (options != nullptr) external.stop = &options->stop;
    auto opened = open_encoder(name, external);
    if (opened) {
      named.opened = std::move(*opened);
      named.encoder = &named.opened->entry;
    } else {
      named.error = ilk_error{ILK_FAILED, opened.error().message, 0, 0};
    }
  } else {
    named.encoder = find_encoder(name);
    if (named.encoder == nullptr) named.queue_encoder = find_queue_encoder(name);
    if (named.encoder == nullptr && named.queue_encoder == nullptr) {
      named.error = unknown_name(no_entry_text(encoder_registry(), "encoder", std::string(name),
                                               queue_encoder_registry()));
    }
  }
  return named;
}

// As it is read by a pass that knows one queue.
Result<Program> with_one_queue(const SourcedProgram& sourced, const ilk_options* options) {
  ParseOptions parse_options;
  parse_options.limits = options_or_default(options).limits;
  parse_options.reads_one_queue = true;
  return parse(sourced.source, sourced.name, parse_options);
}

Made<ilk_program> printed(const Result<Program>& program, const SourcedProgram& of,
                          const ilk_options* options) {
  if (!program) return input_error(program.error().message, of.name);
  return program_of(print(*program), of.name, options);
}

Made<ilk_program> encoded_by(const SourcedProgram& sourced, const char* name,
                             const ilk_options* options) {
  const NamedEncoder named = named_encoder(name, options);
  if (named.error) return *named.error;
  if (named.queue_encoder != nullptr) {
    const uint32_t queue_count =
        named.queue_encoder->takes_queue_count ? options_or_default(options).queue_count : 0;
    const Result<Program> in_order = text_in_run_order(sourced.program);
    return printed(in_order ? named.queue_encoder->encode(*in_order, queue_count) : in_order,
                   sourced, options);
  }
  const Result<Program> program = with_one_queue(sourced, options);
  if (!program) return input_error(program.error().message, sourced.name);
  const Encoding encoding = encode_by(*program, *named.encoder);
  if (encoding.failure) return ilk_error{ILK_FAILED, encoding.failure->message, 0, 0};
  return printed(encoding.program, sourced, options);
}

Made<ilk_program> planned_by(const SourcedProgram& sourced, const char* name,
                             const ilk_options* options) {
  if (name == nullptr) return null_argument("the name of the planner");
  const PlannerEntry* const planner = find_planner(name);
  if (planner == nullptr) {
    return unknown_name(no_entry_text(planner_registry(), "planner", std::string(name)));
  }
  if (planner->takes_queues) return printed(planner->plan(sourced.program, {}), sourced, options);
  const Result<Program> program = with_one_queue(sourced, options);
  return printed(program ? planner->plan(*program, {}) : program, sourced, options);
}

Made<ilk_program> repaired(const SourcedProgram& sourced, const ilk_options* options) {
  Result<TextRepair> repair = repair_text(sourced.source, sourced.name, parse_options_of(options));
  if (!repair) return input_error(repair.error().message, sourced.name);
  return program_of(std::move(repair->text), sourced.name, options);
}

Made<ilk_program> minimized(const SourcedProgram& sourced, const ilk_options* options) {
  const ilk_options& given = options_or_default(options);
  MinimizeOptions minimize_options;
  if (given.has_any_kernels) minimize_options.detail = SignatureDetail::kShape;
  minimize_options.lists_possible = given.check.counts_possible;
  minimize_options.evaluation_limit = given.evaluation_count;
  const Result<MinimizeReport> report = minimize_program(sourced.program, minimize_options);
  if (!report) return ilk_error{ILK_NOTHING, report.error().message, 0, 0};
  return printed(report->program, sourced, options);
}

// The first that `name` gets wrong; no program where it gets all right.
Made<ilk_program> first_wrong(const char* name, const ilk_options* options) {
  const NamedEncoder named = named_encoder(name, options);
  if (named.error) return *named.error;
  const ilk_options& given = options_or_default(options);
  CampaignOptions campaign;
  campaign.encoder = named.encoder;
  campaign.queue_encoder = named.queue_encoder;
  campaign.generator.has_barriers = named.encoder == nullptr;
  campaign.seed = given.seed;
  campaign.run_count = given.run_count;
  campaign.find_limit = 1;
  if (named.opened != nullptr) campaign.encoder_digest = digest_of_external(name);
  if (options != nullptr) campaign.stop = &options->stop;
  const Result<CampaignReport> report = run_campaign(campaign);
  if (!report) return ilk_error{ILK_FAILED, report.error().message, 0, 0};
  if (!report->disagreements.empty()) {
    return ilk_error{ILK_FAILED, report->disagreements.front(), 0, 0};
  }
  if (report->finds.empty()) return std::unique_ptr<ilk_program>();
  return program_of(report->finds.front().text, "<found>", options);
}

// As make(), of a pass over `program`.
template <typename Pass>
ilk_status pass(const ilk_program* program, const ilk_options* options, ilk_program** made,
                ilk_error** error, const Pass& work) noexcept {
  return make(made, options, error, [&]() -> Made<ilk_program> {
    if (program == nullptr) return null_argument("the program");
    return work(*program->sourced);
  });
}

}  // namespace
}  // namespace interlock

extern "C" {

ilk_status ilk_encode(const ilk_program* program, const char* encoder, const ilk_options* options,
                      ilk_program** encoded, ilk_error** error) {
  return interlock::pass(program, options, encoded, error, [&](const auto& sourced) {
    return interlock::encoded_by(sourced, encoder, options);
  });
}

ilk_status ilk_plan(const ilk_program* program, const char* planner, const ilk_options* options,
                    ilk_program** planned, ilk_error** error) {
  return interlock::pass(program, options, planned, error, [&](const auto& sourced) {
    return interlock::planned_by(sourced, planner, options);
  });
}

ilk_status ilk_fix(const ilk_program* program, const ilk_options* options, ilk_program** fixed,
                   ilk_error** error) {
  return interlock::pass(program, options, fixed, error, [&](const auto& sourced) {
    return interlock::repaired(sourced, options);
  });
}

ilk_status ilk_minimize(const ilk_program* program, const ilk_options* options,
                        ilk_program** minimized, ilk_error** error) {
  return interlock::pass(program, options, minimized, error, [&](const auto& sourced) {
    return interlock::minimized(sourced, options);
  });
}

ilk_status ilk_find(const char* encoder, const ilk_options* options, ilk_program** found,
                    ilk_error** error) {
  return interlock::make(found, options, error, [&]() -> interlock::Made<ilk_program> {
    return interlock::first_wrong(encoder, options);
  });
}

}  // extern "C"
