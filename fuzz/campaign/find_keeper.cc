// The basic idea is to minimize a few finds of each signature, to ask for the cause of each, and to
// keep the best one per cause. Once a kind of hazard is known to be missed on any range, the
// findings of this kind need no look of their own.
#include "fuzz/campaign/find_keeper.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "encoder/program/error_of.h"
#include "encoder/program/names.h"
#include "encoder/text/files.h"
#include "fuzz/campaign/campaign_files.h"
#include "fuzz/judge/signature_parts.h"
#include "fuzz/minimize/minimizer.h"

namespace interlock {
namespace {

// An instance of a bug that no output shows is tried again with later ones, so many times; and so
// is a signature that two bugs may have in common.
constexpr uint64_t kTriesPerSignature = 4;
// Later ones of how many runs; from then on the limit of finds counts what waits for them, too.
constexpr uint64_t kRunsWaited = 1024;
// As long as nothing says that a kind of hazard is missed altogether: how many times as many finds
// of one shape are minimized as are kept with all signatures.
constexpr uint64_t kLooksPerFindOfShape = 2;

bool has_damage_to_show(const Subject& subject, const CampaignFind& find) {
  if (find.signature == "excess" || find.program.expectations.empty()) return false;
  return subject.can_show(find.program.expectations[0].kind);
}

bool gives_signature(const RunOutcome& outcome, const std::string& signature) {
  return std::ranges::find(outcome.signatures, signature) != outcome.signatures.end();
}

// Whether `find` stands for the cause better than `other`, which came before it.
bool is_better(const CampaignFind& find, const CampaignFind& other) {
  const auto shown = [](const CampaignFind& f) {
    return std::tuple(f.differs_on_cpu, f.is_observable);
  };
  if (shown(find) != shown(other)) return shown(find) > shown(other);
  const auto cost = [](const CampaignFind& f) {
    return cost_of(without_evidence(draft_of(f.program)));
  };
  return cost(find) < cost(other);
}

}  // namespace

FindKeeper::FindKeeper(const CampaignOptions& options, Subject& subject,
                       std::vector<CampaignFind>& finds, FileSink sink)
    : options_(options),
      subject_(subject),
      finds_(finds),
      sink_(std::move(sink)),
      keeps_all_signatures_(options.keeps_all_signatures || !subject.has_causes()) {}

uint64_t FindKeeper::find_count() const {
  return static_cast<uint64_t>(std::ranges::count(campaigns_of_finds_, campaign_));
}

bool FindKeeper::has_enough() const {
  return options_.find_limit > 0 && find_count() >= options_.find_limit;
}

bool FindKeeper::has_enough_with_pending(uint64_t next_run) const {
  uint64_t count = find_count();
  for (const auto& [shape, find] : pending_) {
    const auto saved = finds_of_shape_.find(shape);
    const bool is_saved = saved != finds_of_shape_.end() && saved->second > 0;
    count += !is_saved && next_run >= find.run_index + kRunsWaited;
  }
  for (const auto& [name, group] : groups_) {
    count += !group.is_saved && next_run >= group.first_run + kRunsWaited;
  }
  return options_.find_limit > 0 && count >= options_.find_limit;
}

FindKeeper::Group* FindKeeper::group_of_kind(const std::string& signature) {
  const std::string kind = kind_of_signature(signature);
  const size_t dash = kind.find('-');
  auto group = groups_.find(kind);
  // "ordered" stands for all kinds of its sort.
  if (group == groups_.end() && dash != std::string::npos)
    group = groups_.find(kind.substr(dash + 1));
  return group != groups_.end() && group->second.cause.is_of_kind ? &group->second : nullptr;
}

bool FindKeeper::wants_look(const std::string& signature) {
  const std::string shape = shape_of_signature(signature);
  if (tries_[signature] >= kTriesPerSignature) return false;
  if (keeps_all_signatures_) {
    return saved_.count(signature) == 0 && finds_of_shape_[shape] < options_.finds_per_shape;
  }
  const bool is_of_kind = group_of_kind(signature) != nullptr;
  const auto known = cause_of_.find(signature);
  if (known != cause_of_.end() && groups_.at(known->second).is_saved) {
    const bool is_settled =
        is_of_kind || known->second == signature || subject_.has_one_cause_per_signature();
    if (is_settled) return false;
  }
  const uint64_t limit = options_.finds_per_shape * (is_of_kind ? 1 : kLooksPerFindOfShape);
  return looks_at_shape_[shape] < limit;
}

// A kind that is missed on any range is missed on the range of this finding, too.
void FindKeeper::attribute(const std::string& signature) {
  if (Group* const group = group_of_kind(signature)) group->signatures.insert(signature);
}

Result<Success> FindKeeper::take(uint64_t run_index, const std::string& signature) {
  ++run_counts_[signature];
  attribute(signature);
  if (!wants_look(signature)) return Success{};
  ++tries_[signature];
  ++looks_at_shape_[shape_of_signature(signature)];
  // A journal may have been made up.
  const bool is_told = is_recalling_ || options_.next_block;
  if (is_told && !gives_signature(subject_.judge(run_index), signature)) {
    return error_of("run {} of seed {} does not give {}, which a journal says that it gave.",
                    run_index, options_.seed, in_quotes(signature));
  }
  CampaignFind find = subject_.minimized_find(run_index, signature);
  find.seed = options_.seed;
  if (!keeps_all_signatures_) return take_into_group(std::move(find));
  if (find.is_observable || !has_damage_to_show(subject_, find)) return save(std::move(find));
  pending_.emplace(shape_of_signature(signature), std::move(find));
  return Success{};
}

Result<Success> FindKeeper::take_into_group(CampaignFind find) {
  find.cause = subject_.cause_of(find);
  Group& group = groups_[find.cause.name];
  const bool is_first = group.signatures.empty();
  if (is_first) group.first_run = find.run_index;
  group.cause = find.cause;
  group.signatures.insert(find.signature);
  cause_of_.emplace(find.signature, find.cause.name);
  if (group.is_saved) {
    if (!is_better(find, finds_[group.index])) return Success{};
    return save_into_group(group, std::move(find));
  }
  if (find.is_observable || !has_damage_to_show(subject_, find)) {
    return save_into_group(group, std::move(find));
  }
  if (is_first || is_better(find, group.pending)) group.pending = std::move(find);
  return Success{};
}

Result<Success> FindKeeper::save_into_group(Group& group, CampaignFind find) {
  list_signatures(group, find);
  if (!group.is_saved) {
    group.is_saved = true;
    group.index = finds_.size();
    return save(std::move(find));
  }
  find.is_better_one = true;
  auto written = write(find);
  if (!written) return written;
  finds_[group.index] = std::move(find);
  show(finds_[group.index]);
  return Success{};
}

void FindKeeper::list_signatures(const Group& group, CampaignFind& find) const {
  find.signatures.clear();
  for (const std::string& signature : group.signatures) {
    find.signatures.push_back({signature, run_counts_.at(signature)});
  }
  // The most frequent first.
  std::ranges::stable_sort(find.signatures, std::greater<>(), &SignatureCount::run_count);
}

std::vector<SignatureCount> FindKeeper::findings() const {
  std::map<std::string, uint64_t> counts = run_counts_;
  for (const auto& [name, group] : groups_) {
    uint64_t count = 0;
    for (const std::string& signature : group.signatures) {
      count += run_counts_.at(signature);
      counts.erase(signature);
    }
    counts[name] += count;
  }
  std::vector<SignatureCount> findings;
  for (const auto& [name, count] : counts) findings.push_back({name, count});
  std::ranges::stable_sort(findings, std::greater<>(), &SignatureCount::run_count);
  return findings;
}

Result<Success> FindKeeper::write(CampaignFind& find) const {
  if (!options_.out_dir.empty()) {
    find.path = path_of_file(options_, keeps_all_signatures_ ? find.signature : find.cause.name);
  }
  find.text = file_text_of(options_, find);
  if (find.path.empty() || is_recalling_) return Success{};
  return sink_(find.path, find.text);
}

void FindKeeper::show(const CampaignFind& find) const {
  if (options_.on_find && !is_recalling_) options_.on_find(find);
}

Result<Success> FindKeeper::save(CampaignFind find) {
  auto written = write(find);
  if (!written) return written;
  saved_.insert(find.signature);
  ++finds_of_shape_[shape_of_signature(find.signature)];
  finds_.push_back(std::move(find));
  campaigns_of_finds_.push_back(campaign_);
  show(finds_.back());
  return Success{};
}

Result<Success> FindKeeper::end_recall() {
  is_recalling_ = false;
  for (const CampaignFind& find : finds_) {
    if (find.path.empty()) continue;
    const auto written = read_file(find.path);
    if (written && *written == find.text) continue;
    auto saved = sink_(find.path, find.text);
    if (!saved) return saved;
    show(find);
  }
  return Success{};
}

Result<Success> FindKeeper::finish() {
  for (auto& [shape, find] : pending_) {
    if (finds_of_shape_[shape] > 0 || has_enough()) continue;
    auto saved = save(std::move(find));
    if (!saved) return saved;
  }
  for (auto& [name, group] : groups_) {
    if (group.is_saved || has_enough()) continue;
    auto saved = save_into_group(group, std::move(group.pending));
    if (!saved) return saved;
  }
  for (const auto& [name, group] : groups_) {
    if (!group.is_saved) continue;
    CampaignFind& find = finds_[group.index];
    const std::string text = find.text;
    list_signatures(group, find);
    find.text = file_text_of(options_, find);
    if (find.path.empty() || find.text == text || is_recalling_) continue;
    auto written = sink_(find.path, find.text);
    if (!written) return written;
  }
  return Success{};
}

}  // namespace interlock
