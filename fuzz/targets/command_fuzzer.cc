// Any words, read as the command by which a journal names its campaign, give a campaign of what is
// part of this build, which is named by a command that gives the same, or an error: never a crash,
// nor anything that is executed or read.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "encoder/program/check.h"
#include "fuzz/campaign/campaign_files.h"
#include "fuzz/cli/journal_options.h"

namespace interlock {
namespace {

// `run_count`: 0 for one that ends by time.
void check_command(const std::string& words, uint64_t run_count) {
  const auto campaign = merged_campaign_of({.run_count = run_count, .subject = words});
  if (!campaign) {
    INTERLOCK_CHECK(!campaign.error().message.empty());
    return;
  }
  INTERLOCK_CHECK(!campaign->is_guided && campaign->corpus.empty());
  INTERLOCK_CHECK(campaign->encoder_digest == 0 && campaign->out_dir.empty());
  INTERLOCK_CHECK(campaign->oracles.device.backend == nullptr);
  const std::string named = command_of_subject(*campaign, false);
  const auto again = merged_campaign_of({.run_count = 1, .subject = named});
  INTERLOCK_CHECK(again.has_value());
  INTERLOCK_CHECK(command_of_subject(*again, false) == named);
}

}  // namespace
}  // namespace interlock

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  interlock::check_command(std::string(text), 1);
  interlock::check_command("interlock fuzz " + std::string(text), size % 2);
  return 0;
}
