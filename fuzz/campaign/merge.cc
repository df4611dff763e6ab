#include "fuzz/campaign/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "encoder/program/error_of.h"
#include "encoder/program/limits.h"
#include "encoder/program/names.h"
#include "encoder/text/files.h"
#include "fuzz/campaign/journal.h"

namespace interlock {
namespace {

Result<std::string> journal_text(const std::string& path) {
  Limits limits;
  limits.input_bytes = kJournalBytesMax;
  return read_file(path, limits);
}

// As messages name it.
std::string command_text(const JournalCampaign& campaign) {
  std::string text = fmt::format("{} --seed={} --first-run={}", campaign.subject, campaign.seed,
                                 campaign.first_run);
  text += campaign.milliseconds > 0
              ? fmt::format(" --seconds={}", static_cast<double>(campaign.milliseconds) / 1e3)
              : fmt::format(" --runs={}", campaign.run_count);
  if (campaign.find_limit > 0) text += fmt::format(" --max-finds={}", campaign.find_limit);
  if (campaign.is_shard()) {
    text += fmt::format(" (of the runs {} to {})", campaign.whole_begin, campaign.whole_end - 1);
  }
  return text;
}

bool have_one_whole(const JournalCampaign& a, const JournalCampaign& b) {
  return a.subject == b.subject && a.seed == b.seed && a.whole_begin == b.whole_begin &&
         a.whole_end == b.whole_end;
}

}  // namespace

Result<Success> take_shard(CampaignOptions& options, uint64_t shard, uint64_t shard_count) {
  if (options.seconds > 0 || options.find_limit > 0) {
    return Error{
        "a shard is a part of the runs of a campaign: it takes --runs, and no --seconds or "
        "--max-finds."};
  }
  const uint64_t block_count =
      options.run_count / kJournalBlockRunsMax + (options.run_count % kJournalBlockRunsMax != 0);
  if (shard < 1 || shard > shard_count || shard_count > block_count) {
    return error_of(
        "there is no shard {} of {}: {} programs are {} blocks of {}, and each shard has one at "
        "least.",
        shard, shard_count, options.run_count, block_count, kJournalBlockRunsMax);
  }
  // The first of them have one more.
  const auto end_of = [&](uint64_t count) {
    const uint64_t blocks =
        count * (block_count / shard_count) + std::min(count, block_count % shard_count);
    return std::min(options.run_count, blocks * kJournalBlockRunsMax);
  };
  const uint64_t begin = end_of(shard - 1);
  const uint64_t end = end_of(shard);
  options.shard = fmt::format("{}/{}", shard, shard_count);
  options.whole_begin = options.first_run;
  options.whole_end = options.first_run + options.run_count;
  options.first_run += begin;
  options.run_count = end - begin;
  return Success{};
}

Result<std::vector<MergedBlocks::Part>> MergedBlocks::parts_of(const std::string& folder) {
  const std::string path = journal_path(folder);
  auto text = journal_text(path);
  if (!text) return text.error();
  JournalReader reader(*text, path);
  std::vector<Part> parts;
  size_t current = 0;
  for (;;) {
    auto record = reader.next();
    if (!record) return record.error();
    if (!*record) break;
    if (const auto* header = std::get_if<JournalHeader>(&**record)) {
      if (header->build != build_id()) {
        return error_of(
            "{} was written by another build of this program, which may judge otherwise.",
            in_quotes(path));
      }
    } else if (const auto* campaign = std::get_if<JournalCampaign>(&**record)) {
      const auto known = std::ranges::find(parts, *campaign, &Part::campaign);
      current = static_cast<size_t>(known - parts.begin());
      if (known == parts.end()) parts.push_back({path, *campaign, false});
    } else if (std::holds_alternative<JournalEnd>(**record)) {
      parts[current].is_ended = true;
    }
  }
  return parts;
}

Result<std::unique_ptr<MergedBlocks>> MergedBlocks::of(const std::vector<std::string>& folders) {
  auto merged = std::make_unique<MergedBlocks>();
  for (const std::string& folder : folders) {
    auto parts = parts_of(folder);
    if (!parts) return parts.error();
    if (parts->empty())
      return error_of("{} tells of no campaign.", in_quotes(journal_path(folder)));
    for (Part& part : *parts) merged->parts_.push_back(std::move(part));
  }
  if (merged->parts_.empty()) return Error{"there is no folder to merge."};
  std::ranges::stable_sort(merged->parts_, {},
                           [](const Part& part) { return part.campaign.first_run; });
  merged->campaign_ = merged->parts_.front().campaign;
  merged->campaign_.run_count = 0;
  for (const Part& part : merged->parts_) {
    const JournalCampaign& campaign = part.campaign;
    if (!part.is_ended || campaign.milliseconds > 0 || campaign.find_limit > 0) {
      return error_of(
          "in {}: {} {}. Shards are campaigns by --runs, without --max-finds, that have ended.",
          in_quotes(part.path), command_text(campaign),
          part.is_ended ? "has no fixed number of runs" : "has not ended");
    }
    if (!have_one_whole(campaign, merged->campaign_)) {
      return error_of("these are no shards of one campaign: {} in {}, and {} in {}.",
                      command_text(merged->parts_.front().campaign),
                      in_quotes(merged->parts_.front().path), command_text(campaign),
                      in_quotes(part.path));
    }
    const uint64_t next = merged->campaign_.first_run + merged->campaign_.run_count;
    if (campaign.first_run != next) {
      return error_of("run {} is {}: {} in {} begins at run {}.",
                      std::min(next, campaign.first_run),
                      campaign.first_run > next ? "in no shard" : "in two shards",
                      command_text(campaign), in_quotes(part.path), campaign.first_run);
    }
    merged->campaign_.run_count += campaign.run_count;
  }
  auto whole = merged->become_whole();
  if (!whole) return whole.error();
  return merged;
}

// The first and the last shard can be missing without a gap between the others.
Result<Success> MergedBlocks::become_whole() {
  JournalCampaign& whole = campaign_;
  if (!whole.is_shard()) return Success{};
  const uint64_t end = whole.first_run + whole.run_count;
  if (whole.first_run != whole.whole_begin || end != whole.whole_end) {
    return error_of("run {} is in no shard: the campaign has the runs {} to {}.",
                    whole.first_run != whole.whole_begin ? whole.whole_begin : end,
                    whole.whole_begin, whole.whole_end - 1);
  }
  whole.whole_begin = 0;
  whole.whole_end = 0;
  return Success{};
}

Result<Success> MergedBlocks::open_part() {
  auto text = journal_text(parts_[part_index_].path);
  if (!text) return text.error();
  text_ = std::move(*text);
  reader_.emplace(text_, parts_[part_index_].path);
  is_in_campaign_ = false;
  next_run_ = parts_[part_index_].campaign.first_run;
  return Success{};
}

// Another campaign of its folder may have made it.
Error MergedBlocks::missing_run() const {
  return error_of("run {} is in no shard: {} does not tell of it in {}.", next_run_,
                  in_quotes(parts_[part_index_].path), command_text(parts_[part_index_].campaign));
}

Result<std::optional<JournalBlock>> MergedBlocks::next() {
  while (part_index_ < parts_.size()) {
    if (!reader_) {
      auto opened = open_part();
      if (!opened) return opened.error();
    }
    auto record = reader_->next();
    if (!record) return record.error();
    const JournalCampaign& part = parts_[part_index_].campaign;
    if (!*record) {
      if (next_run_ != part.first_run + part.run_count) return missing_run();
      reader_.reset();
      ++part_index_;
    } else if (const auto* campaign = std::get_if<JournalCampaign>(&**record)) {
      is_in_campaign_ = *campaign == part;
    } else if (auto* block = std::get_if<JournalBlock>(&**record); block && is_in_campaign_) {
      if (block->first_run != next_run_) return missing_run();
      next_run_ += block->outcomes.size();
      return std::optional<JournalBlock>(std::move(*block));
    }
  }
  return std::optional<JournalBlock>();
}

}  // namespace interlock
