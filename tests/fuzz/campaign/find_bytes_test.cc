// That a seed finds today what it found before, byte for byte: whoever makes a campaign faster
// changes none of these numbers. Whoever changes what is drawn, judged or minimized renews them,
// and says so in the change log.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

#include "encoder/program/hash.h"
#include "encoder/sync/encoder.h"
#include "encoder/text/printer.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/generate/generator.h"
#include "simulator/schedules/choice.h"

namespace interlock::find_bytes_test {
namespace {

// Of what is found, where, and of the minimized program; not of sentences for people.
uint64_t digest_of_finds(std::string_view encoder, uint64_t run_count) {
  CampaignOptions options;
  options.encoder = encoder.empty() ? nullptr : find_encoder(encoder);
  options.run_count = run_count;
  const auto report = run_campaign(options);
  if (!report.has_value()) return 0;
  EXPECT_TRUE(report->disagreements.empty());
  uint64_t digest = fnv1a(fmt::format("{} of {}", report->failing_run_count, report->run_count));
  for (const CampaignFind& find : report->finds) {
    digest = fnv1a(digest, fmt::format("\n{} {}\n", find.run_index, find.signature));
    digest = fnv1a(digest, print(find.program));
  }
  return digest;
}

TEST(Campaign, FindsTheSameBytesAsBefore) {
  EXPECT_EQ(digest_of_finds("", 100), 18066055592504810235u);
  EXPECT_EQ(digest_of_finds("interlock", 100), 16445155761544635851u);
  EXPECT_EQ(digest_of_finds("mlx-2024", 30), 14145905376744357232u);
  EXPECT_EQ(digest_of_finds("ggml-vulkan-27805", 20), 10811769683308996930u);
  EXPECT_EQ(digest_of_finds("none", 10), 11820208542889943415u);
}

TEST(Generator, DrawsTheSameProgramsAsBefore) {
  uint64_t digest = fnv1a("");
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SeededChoice choice(seed);
    digest = fnv1a(digest, print(generate_program(choice).value()));
  }
  EXPECT_EQ(digest, 14560701973934228476u);
}

}  // namespace
}  // namespace interlock::find_bytes_test
