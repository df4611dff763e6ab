// Shards: parts of one campaign, which run on machines of their own, each in its own folder; and
// how they become that campaign again. Their journals have what every run came to, so whoever takes
// their blocks in the order of runs decides as the one campaign would have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "encoder/program/result.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/journal_text.h"

namespace interlock {

// Makes `options` those of part `shard` of `shard_count`, from 1: whole blocks of runs. Errors: a
// campaign that ends by time or at a number of finds, which no part of it can know; a part without
// a block. Requires: the numbers of the runs and of the one after them fit 64 bits.
Result<Success> take_shard(CampaignOptions& options, uint64_t shard, uint64_t shard_count);

// The blocks of ended campaigns of one subject and seed, whose runs follow each other: all shards
// of a campaign, if they are shards.
class MergedBlocks {
 public:
  // Errors: a folder without a journal, or with one of another build, or damaged; a campaign that
  // has not ended; two that are of different subjects or seeds; runs that are missing or there
  // twice. Cost: reads each journal.
  static Result<std::unique_ptr<MergedBlocks>> of(const std::vector<std::string>& folders);

  // The campaign that they are parts of.
  const JournalCampaign& campaign() const { return campaign_; }

  // The next block, in the order of runs; none after the last. Reads each journal once more.
  // Errors: as of().
  Result<std::optional<JournalBlock>> next();

 private:
  struct Part {
    std::string path;  // Of the journal.
    JournalCampaign campaign;
    bool is_ended = false;
  };

  static Result<std::vector<Part>> parts_of(const std::string& folder);
  Result<Success> become_whole();
  Result<Success> open_part();
  Error missing_run() const;

  std::vector<Part> parts_;  // By first run.
  JournalCampaign campaign_;
  size_t part_index_ = 0;
  std::string text_;  // Of the journal of the part that is read, if there is a reader.
  std::optional<JournalReader> reader_;
  bool is_in_campaign_ = false;
  uint64_t next_run_ = 0;  // Of the part.
};

}  // namespace interlock
