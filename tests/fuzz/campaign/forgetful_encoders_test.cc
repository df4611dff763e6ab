// A campaign of 20,000 programs finds an encoder that keeps the latest accesses in a table of fixed
// size and forgets the rest. Short programs never fill such a table; one in kLongPeriod is long.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "fuzz/campaign/campaign.h"
#include "fuzz/generate/program_lengths.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "tests/fuzz/conform/ring_encoder.h"
#include "tests/program_count.h"

namespace interlock::forgetful_encoders_test {
namespace {

constexpr uint64_t kRunCount = 20'000;

// What the first find of a campaign is, and in which run. It ends there, so that a test costs the
// runs before it.
CampaignFind first_find(std::unique_ptr<Encoder> (*create)(), uint64_t seed) {
  const EncoderEntry entry{"ring", "", true, create};
  CampaignOptions options;
  options.encoder = &entry;
  options.seed = seed;
  options.run_count = kRunCount;
  options.find_limit = 1;
  const Result<CampaignReport> report = run_campaign(options);
  EXPECT_TRUE(report.has_value());
  EXPECT_FALSE(report->finds.empty()) << "seed " << seed;
  EXPECT_TRUE(report->disagreements.empty());
  return report->finds.empty() ? CampaignFind{} : report->finds.front();
}

// Its conflict is farther apart than the table is long, and it has a hazard: the encoder left it.
void expect_forgotten(const CampaignFind& find, size_t accesses_min) {
  EXPECT_FALSE(
      find_hazards(find.program, HappensBefore(find.program), {.limit = 1}).hazards.empty());
  EXPECT_GT(find.program.accesses.size(), accesses_min) << find.text;
}

template <size_t kAccessesMax>
void expect_found(int seed_count) {
  for (int seed = 1; seed <= seed_count && !testing::Test::HasFailure(); ++seed) {
    expect_forgotten(first_find(&make_ring_encoder<kAccessesMax>, static_cast<uint64_t>(seed)),
                     kAccessesMax);
  }
}

// A few seeds, and fifty under ./dev prove.
TEST(Campaign, FindsAnEncoderThatForgetsAfter16Accesses) { expect_found<16>(proof_count(50, 3)); }
TEST(Campaign, FindsAnEncoderThatForgetsAfter128Accesses) { expect_found<128>(proof_count(50, 1)); }

// Without long programs nobody would be found: a table that all of them fill is as good as none.
TEST(Campaign, HasNothingAgainstATableThatNoProgramFills) {
  const EncoderEntry entry{"ring", "", false, &make_ring_encoder<100'000>};
  CampaignOptions options;
  options.encoder = &entry;
  options.run_count = static_cast<uint64_t>(program_count(2 * static_cast<int>(kLongPeriod)));
  const Result<CampaignReport> report = run_campaign(options);
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->finds.empty());
}

}  // namespace
}  // namespace interlock::forgetful_encoders_test
