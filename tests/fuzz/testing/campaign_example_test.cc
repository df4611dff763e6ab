// A campaign against an encoder of one's own, as docs/testing.md shows it.
#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "encoder/sync/encoder.h"
#include "encoder/sync/interlock_encoder.h"
#include "encoder/text/files.h"
#include "fuzz/campaign/campaign.h"
#include "tests/fuzz/conform/ring_encoder.h"

namespace interlock::campaign_example_test {
namespace {

using testing::HasSubstr;

// Tries the encoder on so many generated programs. A find is written to `folder`, one for each
// cause.
template <typename MyEncoder>
void expect_no_finds(uint64_t run_count, const std::string& folder) {
  const EncoderEntry entry{"mine", "", false, []() -> std::unique_ptr<Encoder> {
                             return std::make_unique<MyEncoder>();
                           }};
  CampaignOptions options;
  options.encoder = &entry;
  options.run_count = run_count;
  options.out_dir = folder;
  const Result<CampaignReport> report = run_campaign(options);
  ASSERT_TRUE(report) << report.error().message;
  for (const CampaignFind& find : report->finds) ADD_FAILURE() << find.path << "\n" << find.text;
}

TEST(MyCampaign, FindsNothingInARightEncoder) { expect_no_finds<InterlockEncoder>(2000, ""); }

TEST(MyCampaign, FindsWhatARingForgets) {
  EXPECT_NONFATAL_FAILURE(expect_no_finds<RingEncoder<1>>(1, ""), "by encoder mine");
}

TEST(TestingDocument, ShowsTheCampaignThatIsCompiled) {
  const std::string source =
      read_file(INTERLOCK_SOURCE_DIR "/tests/fuzz/testing/campaign_example_test.cc").value();
  const size_t begin = source.find("template <typename MyEncoder>");
  const size_t end = source.find("\n}\n", begin) + 3;
  const std::string document = read_file(INTERLOCK_SOURCE_DIR "/docs/testing.md").value();
  EXPECT_THAT(document, HasSubstr(source.substr(begin, end - begin)));
  const std::string target =
      read_file(INTERLOCK_SOURCE_DIR "/fuzz/targets/encoder_fuzzer.cc").value();
  EXPECT_THAT(document, HasSubstr(target.substr(target.find("using MyEncoder"))));
}

}  // namespace
}  // namespace interlock::campaign_example_test
