// Compressed texts: as gzip(1) writes and reads them, within bounds whatever they claim.
#include "encoder/text/gzip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "encoder/text/files.h"
#include "encoder/text/printer.h"

namespace interlock::gzip_test {
namespace {

using testing::HasSubstr;

const std::string kText = "interlock 1\nmemory m 16\n";

class Gzip : public testing::Test {
 protected:
  Gzip() { std::filesystem::create_directories(folder_); }
  ~Gzip() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

 private:
  const std::string folder_ = testing::TempDir() + "interlock_gzip_" + std::to_string(getpid());
};

TEST_F(Gzip, GivesTextsBack) {
  std::string text;
  for (const size_t size : {0u, 1u, 24u, 65'535u, 65'536u, 65'537u, 400'000u}) {
    while (text.size() < size) text += static_cast<char>(text.size() * text.size() >> 3);
    const std::string bytes = gzip(text).value();
    EXPECT_TRUE(is_gzip(bytes));
    EXPECT_EQ(gunzip(bytes, size).value(), text);
    EXPECT_EQ(gzip(text).value(), bytes);
    // Several members are one text.
    EXPECT_EQ(gunzip(bytes + gzip(kText).value(), size + kText.size()).value(), text + kText);
  }
}

// Another implementation on the other side.
TEST_F(Gzip, IsThatOfOtherPrograms) {
  ASSERT_TRUE(write_file(path("ours.ilk.gz"), kText));
  ASSERT_EQ(std::system(("gzip -dk " + path("ours.ilk.gz")).c_str()), 0);
  EXPECT_EQ(read_file(path("ours.ilk")).value(), kText);
  ASSERT_TRUE(write_file(path("theirs.ilk"), kText));
  ASSERT_EQ(std::system(("gzip -9 " + path("theirs.ilk")).c_str()), 0);
  EXPECT_EQ(print(parse_file(path("theirs.ilk.gz")).value()), kText);
  EXPECT_EQ(
      programs_at({path("")}).value(),
      (std::vector<std::string>{path("ours.ilk"), path("ours.ilk.gz"), path("theirs.ilk.gz")}));
}

TEST_F(Gzip, RefusesWhatIsCutOffOrDamaged) {
  const std::string bytes = gzip(kText).value();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(gunzip(bytes.substr(0, size), 1000)) << size;
  }
  EXPECT_FALSE(gunzip(bytes + "rest", 1000));
  // Behind the header, of which not every byte matters, the sum sees each change.
  for (size_t at = 10; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    const auto text = gunzip(damaged, 1000);
    EXPECT_FALSE(text) << at;
  }
  ASSERT_TRUE(write_file(path("cut.ilk.gz"), bytes.substr(0, 20)));
  EXPECT_EQ(parse_file(path("cut.ilk.gz")).error().message,
            "cannot read '" + path("cut.ilk.gz") +
                "': it is no gzip file, or one that is damaged or cut off.");
}

// 30 KB that claim 30 MB, and those compressed once more.
TEST_F(Gzip, IsBoundedByTheText) {
  const std::string bomb = gzip(std::string(30u << 20, 'a')).value();
  EXPECT_LT(bomb.size(), 40'000u);
  EXPECT_THAT(gunzip(bomb, 1u << 20).error().message,
              HasSubstr("more bytes than the limit of 1048576"));
  ASSERT_TRUE(write_file(path("bomb.ilk.gz"), bomb));
  Limits limits;
  limits.input_bytes = 1u << 20;
  EXPECT_THAT(read_file(path("bomb.ilk.gz"), limits).error().message,
              HasSubstr("more bytes than the limit of 1048576"));
  const std::string twice = gzip(bomb).value();
  EXPECT_TRUE(is_gzip(gunzip(twice, 1u << 20).value()));  // Read once, and then it is no text.
}

}  // namespace
}  // namespace interlock::gzip_test
