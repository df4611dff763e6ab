// Campaigns against encoders for several queues that are no part of this build: what they do wrong,
// hazards, deadlocks and no answers, is found, made small and kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/queues/external_queue_encoder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/external/external_queues.h"
#include "fuzz/external/opened_queue_encoder.h"
#include "fuzz/generate/generator.h"
#include "fuzz/judge/queue_oracle.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"

namespace interlock::external_queue_campaign_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

CampaignReport campaign_against(const QueueEncoderEntry& entry, uint64_t run_count,
                                uint32_t job_count = 1) {
  CampaignOptions options;
  options.queue_encoder = &entry;
  options.run_count = run_count;
  options.job_count = job_count;
  auto report = run_campaign(options);
  EXPECT_TRUE(report) << (report ? "" : report.error().message);
  if (!report) return {};
  EXPECT_THAT(report->disagreements, IsEmpty());
  return std::move(*report);
}

std::vector<std::string> signatures_of(const CampaignReport& report) {
  std::vector<std::string> signatures;
  for (const CampaignFind& find : report.finds) signatures.push_back(find.signature);
  return signatures;
}

// Answers as a process would, by way of the text.
class TextEncoder final : public ExternalQueueEncoder {
 public:
  using Answer = std::function<std::string(const std::vector<std::string>& lines)>;

  TextEncoder(QueueKind kind, Answer answer) : kind_(kind), answer_(std::move(answer)) {}

  Encoding encode(const Program& program, uint32_t queue_count) override {
    const QueuesAsked asked{kind_, queue_count};
    const Program given = without_queues(program);
    std::vector<std::string> lines;
    const std::string text = print(given);
    for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      lines.push_back(text.substr(at, text.find('\n', at) - at));
    }
    auto encoded = queue_answer_of(given, answer_(lines), asked);
    if (encoded) return {std::move(*encoded), std::nullopt, {}};
    return {{}, EncodeFailure{EncodeFailureKind::kIllegal, encoded.error().message}, {}};
  }

  QueueEncoderEntry entry() {
    return {.name = "exec:mine",
            .summary = "",
            .is_broken = false,
            .takes_queue_count = kind_ != QueueKind::kGraph,
            .encode = nullptr,
            .takes_host_work = false,
            .external = this};
  }

 private:
  QueueKind kind_;
  Answer answer_;
};

bool is_dispatch(const std::string& line) {
  return line.starts_with("dispatch ") || line.find(": dispatch ") != std::string::npos;
}

// Each dispatch on a queue of its own in turn, with what stands before and after it there. The
// first line is the header.
std::string in_turn(const std::vector<std::string>& lines, const std::string& kind,
                    uint64_t queue_count, const std::string& before, const std::string& after) {
  std::string text = lines[0] + "\n";
  for (uint64_t i = 0; i < queue_count; ++i) text += "q" + std::to_string(i) + ": " + kind + "\n";
  uint64_t number = 0;
  const auto filled = [&](std::string statement) {
    for (size_t at = 0; (at = statement.find('N')) != std::string::npos;) {
      statement.replace(at, 1, std::to_string(number));
    }
    for (size_t at = 0; (at = statement.find('P')) != std::string::npos;) {
      statement.replace(at, 1, std::to_string(number + 1));
    }
    return statement;
  };
  for (size_t i = 1; i < lines.size(); ++i) {
    if (!is_dispatch(lines[i])) {
      text += lines[i] + "\n";
      continue;
    }
    const std::string on = " on q" + std::to_string(number % queue_count) + "\n";
    if (number > 0 && !before.empty()) text += filled(before) + on;
    text += lines[i] + on;
    if (!after.empty()) text += filled(after) + on;
    ++number;
  }
  return text;
}

// A chain through all of them: right, on two queues of either kind.
TEST(ExternalQueueCampaign, FindsNothingWhereEachWaitsForTheOneBefore) {
  for (const std::string kind : {"queue serial", "queue concurrent"}) {
    TextEncoder encoder(kind == "queue serial" ? QueueKind::kSerial : QueueKind::kConcurrent,
                        [&](const std::vector<std::string>& lines) {
                          return in_turn(lines, kind, 2, "wait s=N", "signal s=P");
                        });
    const CampaignReport report = campaign_against(encoder.entry(), is_slow_build() ? 100 : 1000);
    EXPECT_THAT(signatures_of(report), IsEmpty()) << kind;
    EXPECT_GT(report.run_count, 0u);
  }
}

// The same by events of one queue, and by edges.
TEST(ExternalQueueCampaign, FindsNothingWhereEventsOrEdgesOrderAll) {
  TextEncoder events(QueueKind::kConcurrent, [](const std::vector<std::string>& lines) {
    return in_turn(lines, "queue concurrent", 1, "await eN", "set eP");
  });
  EXPECT_THAT(signatures_of(campaign_against(events.entry(), is_slow_build() ? 60 : 400)),
              IsEmpty());
  TextEncoder edges(QueueKind::kGraph, [](const std::vector<std::string>& lines) {
    std::string text = lines[0] + "\ng: queue graph\n";
    uint64_t number = 0;
    for (size_t i = 1; i < lines.size(); ++i) {
      text += lines[i];
      if (is_dispatch(lines[i]) && number++ > 0) text += " after " + std::to_string(number - 2);
      text += is_dispatch(lines[i]) ? " on g\n" : "\n";
    }
    return text;
  });
  EXPECT_THAT(signatures_of(campaign_against(edges.entry(), is_slow_build() ? 60 : 400)),
              IsEmpty());
}

// Whatever sync an answer has: the judges agree about it, or it is no answer. Most of these have
// hazards; some turn the order, and some never end.
TEST(ExternalQueueCampaign, JudgesAgreeAboutAnySync) {
  const std::vector<std::string> sync = {
      "barrier on qA",
      "barrier execution on qA",
      "barrier compute.write -> compute.read|compute.write on qA",
      "barrier compute -> all.write, copy.write -> compute.read on qA",
      "signal s=N on qA",
      "signal s=N after compute on qA",
      "wait s=N on qA",
      "wait s=P before copy on qA",
      "wait s=P on qA",
      "wait u=N on qA\nsignal u=N on qB",
      "signal v=N on qA\nwait v=N on qB",
      "set eN on qA\nawait eN on qA",
      "set eN compute.write -> compute.read on qA",
      "await eN on qA",
      "split on qA"};
  int answer_count = 0;
  int deadlock_count = 0;
  int reordered_count = 0;
  int refused_count = 0;
  const int count = is_slow_build() ? 200 : 3000;
  for (int i = 0; i < count; ++i) {
    SeededChoice choice(static_cast<uint64_t>(i));
    GeneratorOptions generator;
    generator.has_barriers = false;
    generator.max_dispatches = 6;
    const Program program = build(generate(choice, generator)).value();
    const std::string kind = choice.chance(1, 2) ? "serial" : "concurrent";
    TextEncoder encoder(kind == "serial" ? QueueKind::kSerial : QueueKind::kConcurrent,
                        [&](const std::vector<std::string>& lines) {
                          std::string text =
                              lines[0] + "\nqX: queue " + kind + "\nqY: queue " + kind + "\n";
                          // Of one in four all of one queue runs after all of the other.
                          const bool is_turned = choice.chance(1, 4);
                          if (is_turned) text += "wait w=1 on qX\n";
                          uint64_t number = 1;
                          for (size_t k = 1; k < lines.size(); ++k) {
                            if (!is_dispatch(lines[k])) {
                              text += lines[k] + "\n";
                              continue;
                            }
                            for (uint64_t left = choice.below(3); left > 0; --left) {
                              const bool turned = choice.chance(1, 2);
                              for (const char c : sync[choice.below(sync.size())] + "\n") {
                                const bool is_a = c == 'A';
                                if (c == 'N' || c == 'P') {
                                  text += std::to_string(c == 'N' ? number : number + 1);
                                } else if (is_a || c == 'B') {
                                  text += is_a == turned ? 'X' : 'Y';
                                } else {
                                  text += c;
                                }
                              }
                              ++number;
                            }
                            text += lines[k] + (choice.chance(1, 2) ? " on qX\n" : " on qY\n");
                          }
                          if (is_turned) text += "signal w=1 on qY\n";
                          return text;
                        });
    const QueueJudgeOptions judges;
    const auto at = static_cast<uint64_t>(i) * 64;
    const QueueReport report = judge_on_queues(program, encoder.entry(), at, &judges);
    for (const InternalDisagreement& disagreement : report.disagreements) {
      ADD_FAILURE() << disagreement.message << "\n" << print(report.program);
    }
    refused_count += report.failure.has_value();
    answer_count += !report.failure;
    for (const Fact& fact : report.facts) {
      deadlock_count += kind_of(fact) == FindingKind::kDeadlock;
      reordered_count += kind_of(fact) == FindingKind::kReordered;
    }
  }
  EXPECT_GT(answer_count, count / 10);
  EXPECT_GT(refused_count, count / 10);
  EXPECT_GT(deadlock_count, 0);
  EXPECT_GT(reordered_count, 0);
}

TEST(ExternalQueueCampaign, FindsAHazardAndMakesItSmall) {
  TextEncoder encoder(QueueKind::kSerial, [](const std::vector<std::string>& lines) {
    return in_turn(lines, "queue serial", 2, "", "");
  });
  const CampaignReport report = campaign_against(encoder.entry(), 60, 2);
  ASSERT_FALSE(report.finds.empty());
  for (const CampaignFind& find : report.finds) {
    EXPECT_EQ(find.dispatch_count, 2u) << find.text;
    EXPECT_THAT(find.text, AllOf(HasSubstr(" by encoder exec:mine, minimized from "),
                                 HasSubstr("interlock fuzz --encoder=exec:mine --seed=1 "
                                           "--first-run=")));
  }
}

// The second statement of the first queue waits for what comes after it.
TEST(ExternalQueueCampaign, FindsADeadlock) {
  TextEncoder encoder(QueueKind::kSerial, [](const std::vector<std::string>& lines) {
    std::string text = in_turn(lines, "queue serial", 2, "wait s=N", "signal s=P");
    size_t first = text.find("signal s=1 on q0\n");
    if (first == std::string::npos || text.find("wait s=1") == std::string::npos) return text;
    text.insert(first, "wait t=1 on q0\n");
    return text + "signal t=1 on q1\n";
  });
  const CampaignReport report = campaign_against(encoder.entry(), 30);
  ASSERT_THAT(signatures_of(report), ElementsAre("deadlock"));
  const CampaignFind& find = report.finds[0];
  EXPECT_EQ(find.dispatch_count, 2u) << find.text;
  EXPECT_THAT(find.text, HasSubstr("\nexpect deadlock "));
}

// A wait may stand before its signal. What runs first then is not what was meant to.
TEST(ExternalQueueCampaign, TellsAWaitThatStandsFirstFromOneThatTurnsTheOrder) {
  const auto text_of = [](const std::string& body) {
    return "interlock 1\nmemory a 64\np: queue serial\nq: queue serial\n" + body;
  };
  const auto judged = [&](const std::string& body) {
    TextEncoder encoder(QueueKind::kSerial,
                        [&](const std::vector<std::string>&) { return text_of(body); });
    const auto given =
        parse("interlock 1\nmemory a 64\ndispatch Make writes a\ndispatch Use reads a\n").value();
    const QueueJudgeOptions judges;
    const QueueReport report = judge_on_queues(given, encoder.entry(), 0, &judges);
    EXPECT_FALSE(report.failure) << report.failure->message;
    EXPECT_THAT(report.disagreements, IsEmpty()) << print(report.program);
    std::vector<FindingKind> kinds;
    for (const Fact& fact : report.facts) kinds.push_back(kind_of(fact));
    return kinds;
  };
  EXPECT_THAT(judged("dispatch Make order=0 writes a on p\nsignal s=1 on p\nwait s=1 on q\n"
                     "dispatch Use order=1 reads a on q\n"),
              IsEmpty());
  EXPECT_THAT(judged("wait s=1 on q\ndispatch Use order=1 reads a on q\n"
                     "dispatch Make order=0 writes a on p\nsignal s=1 on p\n"),
              IsEmpty());
  EXPECT_THAT(judged("wait s=1 on p\ndispatch Make writes a on p\n"
                     "dispatch Use reads a on q\nsignal s=1 on q\n"),
              ElementsAre(FindingKind::kReordered));
  EXPECT_THAT(judged("dispatch Make writes a on p\ndispatch Use reads a on q\n"),
              ElementsAre(FindingKind::kReadAfterWrite));
}

TEST(ExternalQueueCampaign, FindsAnAnswerThatIsAnotherProgramAndOneThatDoesNotRepeat) {
  TextEncoder dropping(QueueKind::kGraph, [](std::vector<std::string> lines) {
    const auto is_atomic = [](const std::string& line) {
      return line.find(" atomics ") != std::string::npos;
    };
    std::erase_if(lines, is_atomic);
    return in_turn(lines, "queue graph", 1, "", "");
  });
  const CampaignReport dropped = campaign_against(dropping.entry(), 60);
  const auto find = std::ranges::find(dropped.finds, "illegal-answer", &CampaignFind::signature);
  ASSERT_NE(find, dropped.finds.end());
  EXPECT_EQ(find->dispatch_count, 1u);
  EXPECT_THAT(find->text, AllOf(HasSubstr("The answer has 0 dispatches, and the program 1."),
                                HasSubstr("# Again with: interlock encode --encoder=exec:mine ")));
  std::atomic<int> count{0};
  TextEncoder moody(QueueKind::kSerial, [&](const std::vector<std::string>& lines) {
    const bool waits = ++count % 20 != 0;
    return in_turn(lines, "queue serial", 2, waits ? "wait s=N" : "", "signal s=P");
  });
  const CampaignReport unrepeatable = campaign_against(moody.entry(), 60);
  ASSERT_FALSE(unrepeatable.finds.empty());
  EXPECT_EQ(unrepeatable.finds[0].cause.name, "unrepeatable");
}

// Answers what it is not asked for, if it may use three queues at most.
class ThreeQueuesEncoder final : public ExternalQueueEncoder {
 public:
  Encoding encode(const Program& program, uint32_t queue_count) override {
    const bool is_wrong = queue_count == 3;
    TextEncoder encoder(QueueKind::kSerial, [&](const std::vector<std::string>& lines) {
      return in_turn(lines, is_wrong ? "queue graph" : "queue serial", 1, "", "");
    });
    return encoder.encode(program, queue_count);
  }
};

TEST(ExternalQueueCampaign, SaysForHowManyQueuesItWasAsked) {
  ThreeQueuesEncoder encoder;
  QueueEncoderEntry entry = TextEncoder(QueueKind::kSerial, nullptr).entry();
  entry.external = &encoder;
  const CampaignReport report = campaign_against(entry, 8);
  ASSERT_THAT(signatures_of(report), ElementsAre("illegal-answer"));
  EXPECT_EQ(report.finds[0].run_index, 2u);
  EXPECT_THAT(report.finds[0].text,
              AllOf(HasSubstr("It was asked for 3 queues at most."),
                    HasSubstr("interlock encode --encoder=exec:mine --queues=3 ")));
}

// The processes of encoders of one queue answer on the default one, which is concurrent.
TEST(ExternalQueueCampaign, AsksProcesses) {
  const auto opened = [](const std::string& arguments, const std::string& kind) {
    auto encoder = open_queue_encoder("exec:" FAULTY_ENCODER " " + arguments, kind,
                                      {.exec_timeout_seconds = 0.3, .stop = nullptr});
    EXPECT_TRUE(encoder) << (encoder ? "" : encoder.error().message);
    return std::move(*encoder);
  };
  EXPECT_THAT(campaign_against(opened("none", "concurrent")->entry, 100).finds, IsEmpty());
  const std::pair<const char*, const char*> faults[] = {
      {"crash", "crash"},           {"end", "early-end"},       {"hang", "hang"},
      {"garble", "illegal-answer"}, {"endless", "long-answer"}, {"drop", "illegal-answer"}};
  for (const auto& [fault, signature] : faults) {
    const auto encoder = opened(fault, "concurrent");
    const CampaignReport report = campaign_against(encoder->entry, 40);
    EXPECT_THAT(signatures_of(report), ElementsAre(signature)) << fault;
  }
  const auto on_default = opened("none", "serial");
  const CampaignReport report = campaign_against(on_default->entry, 20);
  ASSERT_THAT(signatures_of(report), ElementsAre("illegal-answer"));
  EXPECT_THAT(report.finds[0].failure, HasSubstr("the default queue, a concurrent queue"));
  EXPECT_FALSE(open_queue_encoder("exec:true", "blocking", {}));
  EXPECT_FALSE(open_queue_encoder("lib:./x.so", "serial", {}));
}

}  // namespace
}  // namespace interlock::external_queue_campaign_test
