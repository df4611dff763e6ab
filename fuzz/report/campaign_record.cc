// The basic idea is that which findings a cause has is known twice: the file of a cause lists
// signatures, and a cause that is named like a kind of hazard has all of that kind.
#include "fuzz/report/campaign_record.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

#include "encoder/program/error_of.h"
#include "encoder/program/limits.h"
#include "encoder/program/names.h"
#include "encoder/program/stop.h"
#include "encoder/text/files.h"
#include "fuzz/campaign/journal.h"
#include "fuzz/judge/signature_parts.h"

namespace interlock {
namespace {

void sort_by_frequency(std::vector<SignatureCount>& signatures) {
  std::ranges::sort(signatures, {}, &SignatureCount::signature);
  std::ranges::stable_sort(signatures, std::greater<>(), &SignatureCount::run_count);
}

class RecordReader {
 public:
  RecordReader(std::string_view path, CampaignRecord& record) : path_(path), record_(record) {}

  Result<Success> take(const JournalRecord& entry) {
    if (const auto* header = std::get_if<JournalHeader>(&entry)) record_.build = header->build;
    if (const auto* campaign = std::get_if<JournalCampaign>(&entry)) return begin(*campaign);
    if (const auto* block = std::get_if<JournalBlock>(&entry)) take_block(*block);
    if (std::holds_alternative<JournalEnd>(entry)) part().is_ended = true;
    return Success{};
  }

  void finish() {
    for (size_t i = 0; i < record_.subjects.size(); ++i) {
      std::vector<SignatureCount>& signatures = record_.subjects[i].signatures;
      for (const auto& [name, count] : counts_[i]) signatures.push_back({name, count});
      sort_by_frequency(signatures);
    }
  }

 private:
  SubjectRecord& subject() { return record_.subjects[subject_]; }
  CampaignPart& part() { return subject().campaigns[part_]; }

  Result<Success> begin(const JournalCampaign& campaign) {
    const std::string words = subject_words(campaign.subject);
    const auto known = std::ranges::find(record_.subjects, words, &SubjectRecord::subject);
    subject_ = static_cast<size_t>(known - record_.subjects.begin());
    if (known == record_.subjects.end()) {
      if (subject_ == kSubjectsMax) return too_many("subjects", kSubjectsMax);
      record_.subjects.emplace_back().subject = words;
      counts_.emplace_back();
    }
    std::vector<CampaignPart>& parts = subject().campaigns;
    const auto [known_part, is_new] = parts_.try_emplace(key_of(campaign), parts.size());
    part_ = known_part->second;
    if (!is_new) return Success{};
    if (parts_.size() > kCampaignsMax) return too_many("campaigns", kCampaignsMax);
    parts.push_back({.campaign = campaign});
    if (journal_words_.insert(campaign.subject).second) {
      subject().journal_words.push_back(campaign.subject);
    }
    return Success{};
  }

  // Equal for equal campaigns: a journal may name thousands in turn.
  using CampaignKey = std::tuple<std::string, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t>;
  static CampaignKey key_of(const JournalCampaign& campaign) {
    return {campaign.subject,   campaign.seed,         campaign.first_run,
            campaign.run_count, campaign.milliseconds, campaign.find_limit};
  }

  Error too_many(std::string_view what, uint64_t limit) const {
    return error_of("{} tells of more {} than the limit of {}.", in_quotes(path_), what, limit);
  }

  void take_block(const JournalBlock& block) {
    std::map<std::string, uint64_t>& counts = counts_[subject_];
    const size_t known_count = counts.size();
    for (const RunOutcome& run : block.outcomes) {
      subject().cpu_run_count += run.ran_on_cpu;
      subject().device_failure_count += !run.device.failure.empty();
      subject().failing_run_count += !run.signatures.empty();
      part().failing_run_count += !run.signatures.empty();
      for (const std::string& signature : run.signatures) ++counts[signature];
    }
    subject().run_count += block.outcomes.size();
    part().run_count += block.outcomes.size();
    part().milliseconds = std::max(part().milliseconds, block.milliseconds);
    if (counts.size() > known_count) {
      subject().growth.push_back({subject().run_count, counts.size()});
    }
  }

  const std::string_view path_;
  CampaignRecord& record_;
  std::vector<std::map<std::string, uint64_t>> counts_;  // Of each subject, by signature.
  std::map<CampaignKey, size_t> parts_;  // Where each is among those of its subject.
  std::set<std::string> journal_words_;  // Of all subjects: each is of one.
  size_t subject_ = 0;
  size_t part_ = 0;
};

// Causes by what leads to them: a name, or a signature that is listed. The first one stays.
using CauseIndex = std::map<std::string, size_t>;

// The cause of a signature that no file lists: of its kind, or of all kinds of its sort.
std::optional<size_t> cause_of_kind(const CauseIndex& names, const std::string& signature) {
  const std::string kind = kind_of_signature(signature);
  const size_t dash = kind.find('-');
  const std::string sort = dash == std::string::npos ? kind : kind.substr(dash + 1);
  for (const std::string& name : {kind, sort}) {
    const auto cause = names.find(name);
    if (cause != names.end()) return cause->second;
  }
  return std::nullopt;
}

// Of a file that has a number as its cause has another subject's file in the folder, too:
// "WAR.2.ilk".
std::string cause_name_of(const KeptFile& file) {
  const std::string stem = file.stem();
  const size_t dot = stem.rfind('.');
  if (dot == std::string::npos || dot + 1 == stem.size()) return stem;
  const bool is_number = stem.find_first_not_of("0123456789", dot + 1) == std::string::npos;
  return is_number ? stem.substr(0, dot) : stem;
}

// After a stop a part of them.
void set_causes(SubjectRecord& subject, const KeptFiles& kept) {
  CauseIndex listed;
  CauseIndex names;  // Of causes with a file.
  for (const KeptFile& file : kept.files) {
    if (file.subject != subject.subject) continue;
    if (file.signature.empty()) {
      subject.others.push_back(&file);
      continue;
    }
    for (const std::string& signature : file.signatures) {
      listed.emplace(signature, subject.causes.size());
    }
    names.emplace(cause_name_of(file), subject.causes.size());
    subject.causes.push_back({.name = file.stem(), .file = &file});
  }
  for (const SignatureCount& count : subject.signatures) {
    if (is_stopped()) return;
    const auto known = listed.find(count.signature);
    const std::optional<size_t> index = known != listed.end()
                                            ? std::optional(known->second)
                                            : cause_of_kind(names, count.signature);
    CauseRecord& cause = index ? subject.causes[*index] : subject.causes.emplace_back();
    if (!index) cause.name = count.signature;
    cause.signatures.push_back(count);
    cause.finding_count += count.run_count;
  }
  std::ranges::stable_sort(subject.causes, std::greater<>(), &CauseRecord::finding_count);
}

}  // namespace

bool SubjectRecord::is_ended() const {
  return std::ranges::all_of(campaigns, &CampaignPart::is_ended);
}

Result<CampaignRecord> campaign_record_of(std::string_view journal, std::string_view path,
                                          KeptFiles kept) {
  CampaignRecord record;
  record.kept = std::move(kept);
  const Error interrupted = error_of("reading {} was interrupted.", in_quotes(path));
  JournalReader reader(journal, path);
  RecordReader taker(path, record);
  for (;;) {
    if (is_stopped()) return interrupted;
    auto entry = reader.next();
    if (!entry) return entry.error();
    if (!*entry) break;
    auto taken = taker.take(**entry);
    if (!taken) return taken.error();
  }
  taker.finish();
  for (SubjectRecord& subject : record.subjects) set_causes(subject, record.kept);
  if (is_stopped()) return interrupted;
  for (const KeptFile& file : record.kept.files) {
    record.foreign_file_count +=
        std::ranges::find(record.subjects, file.subject, &SubjectRecord::subject) ==
        record.subjects.end();
  }
  return record;
}

// The files are read after the journal: what it tells of a campaign that runs is in them, or comes.
Result<CampaignRecord> read_campaign_record(const std::string& folder) {
  const std::string path = journal_path(folder);
  Limits limits;
  limits.input_bytes = kJournalBytesMax;
  const Result<std::string> journal = read_file(path, limits);
  if (!journal) return journal.error();
  auto kept = kept_files_in(folder);
  if (!kept) return kept.error();
  return campaign_record_of(*journal, path, std::move(*kept));
}

}  // namespace interlock
