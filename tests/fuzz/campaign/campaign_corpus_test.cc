// Programs of one's own that a guided campaign begins with: how they are read, what is refused, and
// that they are gone on from.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "encoder/text/files.h"
#include "encoder/text/printer.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/corpus.h"
#include "fuzz/campaign/guide.h"
#include "tests/fuzz/campaign/campaign_folders.h"

namespace interlock::campaign_corpus_test {
namespace {

using campaign_folders::campaign_of;
using campaign_folders::fresh_folder;
using campaign_folders::reported;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class CorpusFiles : public testing::Test {
 protected:
  CorpusFiles() { std::filesystem::create_directories(folder_); }
  ~CorpusFiles() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    const std::string path = folder_ + "/" + name;
    EXPECT_TRUE(write_file(path, text));
    return path;
  }
  std::string error_of_corpus() {
    const auto corpus = read_corpus(folder_);
    return corpus ? "" : corpus.error().message;
  }

  const std::string folder_ = fresh_folder("corpus");
};

TEST_F(CorpusFiles, AreReadAsAnEncoderIsGivenThem) {
  write("b.ilk.gz",
        "interlock 1\nmemory a 4\ndispatch X order=1 reads a\nbarrier\n"
        "dispatch X order=0 writes a\nexpect clean\n");
  write("a.ilk", "interlock 1\nmemory a 4\ndispatch Y reads a actual writes a\n");
  write("notes.txt", "no program");
  const auto corpus = read_corpus(folder_);
  ASSERT_TRUE(corpus) << corpus.error().message;
  ASSERT_EQ(corpus->programs.size(), 2u);
  EXPECT_EQ(print(corpus->programs[0]), "interlock 1\nmemory a 4\ndispatch Y reads a\n");
  EXPECT_EQ(print(corpus->programs[1]),
            "interlock 1\nmemory a 4\ndispatch X reads a\ndispatch X writes a\n");
  const uint64_t digest = corpus->digest;
  write("a.ilk", "interlock 1\nmemory a 4\ndispatch Y writes a\n");
  EXPECT_NE(read_corpus(folder_).value().digest, digest);
}

TEST_F(CorpusFiles, AreRefusedWithTheirPlace) {
  EXPECT_THAT(error_of_corpus(), HasSubstr(folder_));
  const std::string path = write("a.ilk", "interlock 1\nmemory a 4\ndispatch X reads b\n");
  EXPECT_THAT(error_of_corpus(), StartsWith(path + ":3:18: error: "));
  write("a.ilk", "interlock 1\nqueue q\nmemory a 4\ndispatch X reads a on q\n");
  EXPECT_THAT(error_of_corpus(), StartsWith(path + ":2:1: error: "));
  write("a.ilk",
        "interlock 1\nmemory a 64\ndispatch X reads a\n"
        "dispatch X reads a[0:64 rows 2 pitch 32 width 4]\n");
  EXPECT_THAT(error_of_corpus(), StartsWith(path + ":4:1: error: "));
  // It writes over what it reads, a byte further.
  write("a.ilk",
        "interlock 1\nmemory a 64\ntensor x f32[4] at a+0\ntensor y f32[4] at a+4\n"
        "dispatch silu reads x writes y\n");
  EXPECT_THAT(error_of_corpus(), AllOf(StartsWith(path + ": error: "), HasSubstr("own fault")));
}

// Whatever makes a mutant slow: statements, memories, tensors that nothing uses, long lines.
TEST_F(CorpusFiles, AreBoundInAllThatCosts) {
  const std::string start = "interlock 1\nmemory a 4096\ndispatch X reads a\n";
  const auto repeated = [](uint64_t count, const auto& line_of) {
    std::string text;
    for (uint64_t i = 0; i < count; ++i) text += line_of(i);
    return text;
  };
  const uint64_t count = kCorpusStatementsMax + 1;
  std::string path;
  for (const std::string& lines :
       {repeated(count, [](uint64_t) { return "dispatch X reads a\n"; }),
        repeated(count, [](uint64_t i) { return fmt::format("memory m{} 4\n", i); }),
        repeated(count, [](uint64_t i) { return fmt::format("tensor t{} f32[1] at a+0\n", i); })}) {
    path = write("a.ilk", start + lines);
    EXPECT_THAT(error_of_corpus(),
                AllOf(StartsWith(path + ":"), HasSubstr(std::to_string(kCorpusStatementsMax))));
  }
  std::string operands;
  for (int i = 0; i < 200; ++i) operands += fmt::format(" a[{}:{}]", i, i + 1);
  const uint64_t line_count = kCorpusBytesMax / operands.size() + 1;
  write("a.ilk", start + repeated(line_count,
                                  [&](uint64_t) { return "dispatch X reads" + operands + "\n"; }));
  EXPECT_THAT(error_of_corpus(),
              AllOf(StartsWith(path + ": error: "), HasSubstr(std::to_string(kCorpusBytesMax))));
  const uint64_t most = kCorpusStatementsMax - 1;
  const std::string items =
      start + repeated(most, [](uint64_t i) { return fmt::format("memory m{} 4\n", i); }) +
      repeated(most, [](uint64_t i) { return fmt::format("tensor t{} f32[1] at a+0\n", i); });
  for (uint64_t i = 0; i <= kCorpusAllItemsMax / (2 * most); ++i) {
    write(fmt::format("{}.ilk", i), items);
  }
  std::filesystem::remove(path);
  EXPECT_THAT(error_of_corpus(), HasSubstr(std::to_string(kCorpusAllItemsMax)));
}

// Its programs come first, and have mutants from then on.
TEST_F(CorpusFiles, BeginACampaign) {
  write("a.ilk",
        "interlock 1\nmemory rare 64\ndispatch Rare reads rare[0:8] writes rare[8:16]\n"
        "dispatch Rare reads rare[8:16] writes rare[16:24]\n");
  auto corpus = read_corpus(folder_);
  ASSERT_TRUE(corpus);
  CampaignOptions options = campaign_of("none", 200, "");
  options.is_guided = true;
  options.corpus = corpus->programs;
  Guide guide(options);
  EXPECT_EQ(print(guide.program_of_run(0).value()), print(corpus->programs[0]));
  uint64_t mutant_count = 0;
  for (uint64_t run = 1; run < 200; ++run) {
    const auto program = guide.program_of_run(run);
    mutant_count += program && print(*program).find(" rare") != std::string::npos;
  }
  EXPECT_GT(mutant_count, 50u);
  const CampaignReport report = reported(options);
  ASSERT_THAT(report.finds, Not(IsEmpty()));
  EXPECT_EQ(report.finds[0].run_index, 0u);
}

}  // namespace
}  // namespace interlock::campaign_corpus_test
