#include "fuzz/campaign/guide.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "encoder/assemble/build.h"
#include "encoder/program/error_of.h"
#include "encoder/program/hash.h"
#include "encoder/program/names.h"
#include "encoder/program/stop.h"
#include "encoder/queues/queue_encoder.h"
#include "encoder/text/files.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/campaign/campaign_files.h"
#include "fuzz/campaign/journal_text.h"
#include "fuzz/generate/mutator.h"
#include "fuzz/generate/program_lengths.h"
#include "fuzz/generate/program_queues.h"
#include "fuzz/judge/pass_chain.h"
#include "simulator/schedules/choice.h"

namespace interlock {
namespace {

// Mutants that grow cost time with every run: statements, and likewise memories and tensors, for
// each dispatch that a program may have.
constexpr uint64_t kItemsPerDispatch = 4;
constexpr uint64_t kMutantExpansionMax = 4096;
constexpr size_t kCellsNamedMax = 8;

// So that a journal can be read again: new cells of a run, of which it has 256 in a line, and of a
// seed. What is left out is reached by a later run.
constexpr size_t kNewCellsPerRun = 512;
constexpr size_t kCellsMax = kJournalSignaturesMax / 2;

constexpr uint64_t kLatestParents = 8;

// Every second time one of the latest: nobody has gone on from those yet.
size_t pick_parent(size_t count, Choice& choice) {
  if (choice.chance(1, 2)) return choice.below(count);
  return count - 1 - choice.below(std::min<uint64_t>(count, kLatestParents));
}

// As the lines that fit make it; none if they are no program with two dispatches of a queue.
std::optional<Program> leniently_built(const ProgramDraft& draft, uint64_t item_count_max,
                                       bool has_host_work) {
  ParseOptions options;
  options.skips_invalid_lines = true;
  options.reads_every_queue = has_host_work;
  options.limits.statement_count = item_count_max;
  options.limits.memory_count = item_count_max;
  options.limits.tensor_count = item_count_max;
  options.limits.expansion_count = kMutantExpansionMax;
  auto program = build(draft, options.limits);  // Most mutants fit as a whole.
  if (!program) program = parse(print(draft), "<mutant>", options);
  if (!program) return std::nullopt;
  const size_t count = program->dispatches.size() - program->host_dispatches.size();
  if (count < 2) return std::nullopt;
  return std::move(*program);
}

std::string reason_of(const RunOutcome& outcome) {
  const size_t named = std::min(outcome.cells.size(), kCellsNamedMax);
  std::string names;
  for (const Cell cell : std::span(outcome.cells).first(named)) {
    names += (names.empty() ? "" : ", ") + cell_name(cell);
  }
  return fmt::format("A parent of a guided campaign: the first to reach {}{}.", names,
                     named < outcome.cells.size()
                         ? fmt::format(" and {} more cells", outcome.cells.size() - named)
                         : "");
}

}  // namespace

Guide::Guide(const CampaignOptions& options)
    : options_(options), counts_later_(!has_external_pass(chain_of(options))) {}

const Guide::SeedState& Guide::state() const {
  static const SeedState none;
  const auto known = states_.find(options_.seed);
  return known == states_.end() ? none : known->second;
}

const CellSet& Guide::cells() const { return state().cells; }

uint64_t Guide::parent_count() const { return state().parents.size(); }

// Programs of one's own are there to be gone on from.
uint64_t Guide::first_generation_runs() const {
  return options_.corpus.empty() ? options_.unguided_run_count : kGenerationRuns;
}

uint64_t Guide::generation_begin(uint64_t run_index) const {
  const uint64_t first = first_generation_runs();
  return run_index < first ? 0 : run_index - (run_index - first) % kGenerationRuns;
}

uint64_t Guide::runs_at_once(uint64_t run_index) const {
  const uint64_t first = first_generation_runs();
  if (run_index >= first) return generation_begin(run_index) + kGenerationRuns - run_index;
  // Where each is counted, the next ones are asked what is new to those before them.
  return is_counted_later(run_index) ? first - run_index
                                     : std::min(first - run_index, kGenerationRuns);
}

size_t Guide::count_of_generation(const SeedState& state, uint64_t run_index) const {
  const uint64_t begin = generation_begin(run_index);
  const auto end = std::ranges::lower_bound(state.parents, begin, {}, &Parent::run_index);
  return options_.corpus.size() + static_cast<size_t>(end - state.parents.begin());
}

const ProgramDraft& Guide::candidate(const SeedState& state, size_t index) const {
  const size_t own_count = options_.corpus.size();
  return index < own_count ? options_.corpus[index] : state.parents[index - own_count].draft;
}

std::optional<Program> Guide::program_of_run(uint64_t run_index) const {
  if (run_index < options_.corpus.size()) return build(options_.corpus[run_index]).value();
  // Long programs are rare enough.
  if (run_index % kLongPeriod == kLongPeriod - 1) return std::nullopt;
  const SeedState& state = this->state();
  const size_t count = count_of_generation(state, run_index);
  if (count == 0) return std::nullopt;
  // Of its own stream, so that the other half has the programs of an unguided campaign.
  SeededChoice choice(seed_of_run(scrambled(options_.seed + kGolden64), run_index));
  if (choice.chance(1, 2)) return std::nullopt;
  const ProgramDraft& parent = candidate(state, pick_parent(count, choice));
  const ProgramDraft& other = candidate(state, pick_parent(count, choice));
  GeneratorOptions generator = options_.generator;
  generator.has_barriers = false;
  ProgramDraft mutant = mutate_for_encoder(parent, other, choice, generator);
  const bool has_host_work =
      options_.queue_encoder != nullptr && options_.queue_encoder->takes_host_work;
  if (has_host_work) settle_beside_host(mutant);
  const uint64_t item_count_max =
      std::max<uint64_t>({kItemsPerDispatch * options_.generator.max_dispatches,
                          parent.items.size(), other.items.size()});
  return leniently_built(mutant, item_count_max, has_host_work);
}

void Guide::keep_only_new(std::span<RunOutcome> outcomes) const {
  CellSet reached;  // By these runs.
  for (RunOutcome& outcome : outcomes) {
    const size_t left = kCellsMax - std::min(kCellsMax, cells().size() + reached.size());
    std::erase_if(outcome.cells,
                  [&](Cell cell) { return cells().contains(cell) || !reached.add(cell); });
    outcome.cells.resize(std::min({outcome.cells.size(), kNewCellsPerRun, left}));
  }
}

Result<Success> Guide::count_first_generation(const Subject& subject, bool is_told) {
  std::vector<RunOutcome> outcomes(first_generation_runs());
  {
    const StopScope scope(options_.stop);
    CellSet reached;
    for (uint64_t run = 0; run < outcomes.size(); ++run) {
      outcomes[run].cells = subject.new_cells(run, reached);
      if (options_.stop != nullptr && options_.stop->is_requested()) return Success{};
      for (const Cell cell : outcomes[run].cells) reached.add(cell);
    }
  }
  keep_only_new(outcomes);
  auto begun = begin_seed();
  if (!begun) return begun;
  states_[options_.seed].is_counted = true;
  for (uint64_t run = 0; run < outcomes.size(); ++run) {
    auto taken = take_cells(run, outcomes[run], subject, is_told);
    if (!taken) return taken;
  }
  return Success{};
}

Result<Success> Guide::take(uint64_t run_index, const RunOutcome& outcome, const Subject& subject,
                            bool is_told) {
  if (is_counted_later(run_index)) return Success{};
  return take_cells(run_index, outcome, subject, is_told);
}

Result<Success> Guide::take_cells(uint64_t run_index, const RunOutcome& outcome,
                                  const Subject& subject, bool is_told) {
  if (outcome.cells.empty()) return Success{};
  auto begun = begin_seed();
  if (!begun) return begun;
  SeedState& state = states_[options_.seed];
  for (const Cell cell : outcome.cells) {
    state.branch_cell_count += state.cells.add(cell) && is_of_branch(cell);
  }
  const bool is_after = state.parents.empty() || run_index > state.parents.back().run_index;
  if (!is_after || run_index < options_.corpus.size() || state.parents.size() == kParentsMax) {
    return Success{};
  }
  ProgramDraft draft = subject.draft(run_index);
  const auto program = build(draft);
  if (!program) return Success{};
  Parent parent{run_index, std::move(draft), "", ""};
  if (!options_.out_dir.empty()) {
    const std::string name = fmt::format("{}/{}-{}", kParentsFolder, options_.seed, run_index);
    parent.path = path_of_file(options_, name);
    // The first generation is counted by a campaign that goes beyond it.
    const uint64_t last_run = is_counted_later(run_index) ? first_generation_runs() : run_index;
    parent.text = file_text_of(options_, *program, last_run, reason_of(outcome));
  }
  state.parents.push_back(std::move(parent));
  return is_told ? Success{} : write(state.parents.back());
}

Result<Success> Guide::begin_seed() {
  if (states_.contains(options_.seed)) return Success{};
  if (states_.size() >= kGuidedSeedsMax) {
    return error_of(
        "the folder has guided campaigns of {} seeds, which is the limit: begin another.",
        kGuidedSeedsMax);
  }
  states_.emplace(options_.seed, SeedState{});
  return Success{};
}

Result<Success> Guide::write(const Parent& parent) {
  if (parent.path.empty()) return Success{};
  const std::filesystem::path folder = std::filesystem::path(parent.path).parent_path();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return error_of("the folder {} cannot be created: {}.", in_quotes(folder.string()),
                    error.message());
  }
  return write_file(parent.path, parent.text);
}

Result<Success> Guide::end_recall() {
  if (!options_.out_dir.empty()) {
    remove_abandoned_files((std::filesystem::path(options_.out_dir) / kParentsFolder).string());
  }
  for (const auto& [seed, state] : states_) {
    for (const Parent& parent : state.parents) {
      const auto written = read_file(parent.path);
      if (written && *written == parent.text) continue;
      auto done = write(parent);
      if (!done) return done;
    }
  }
  return Success{};
}

}  // namespace interlock
