// Reports, as text and as JSON.
#include "simulator/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/simulator/programs/program_text.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock::report_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kOverwrite = R"(
    reduce: dispatch Reduce reads a[0:64] writes b[0:4]
    vjp: dispatch Vjp writes a[0:64])";

TEST(TextReport, PrintsAFindingWithItsFixAndItsReplay) {
  const Program program = program_on_abc(kOverwrite);
  EXPECT_EQ(
      text_report(program, check(program), "mlx.ilk"),
      "WAR hazard: vjp (dispatch 1) writes a[0:64], which reduce (dispatch 0) reads.\n"
      "  Nothing orders them: no barrier stands between dispatch 0 and dispatch 1.\n"
      "  Observable: with reduce after vjp, memory b can differ.\n"
      "  Fix: an execution dependency after dispatch 0 (a barrier of any kind).\n"
      "  Replay: interlock replay mlx.ilk --witness=\"reduce after vjp\"\n"
      "2 dispatches, 3 accesses, 0 barriers; fewest for this order 1, longest chain 1; 1 finding.\n");
}

TEST(TextReport, ReplaysOnlyFilesAndWitnesses) {
  const Program program = program_on_abc(kOverwrite);
  CheckReport report = check(program);
  EXPECT_THAT(text_report(program, report, "-"), Not(HasSubstr("Replay:")));
  report.findings[0].witness.clear();
  EXPECT_THAT(text_report(program, report, "mlx.ilk"), Not(HasSubstr("Replay:")));
}

TEST(TextReport, StopsAtTheLimit) {
  const Program program =
      program_on_abc("dispatch A writes a\ndispatch B writes a\ndispatch C writes a\n");
  const std::string text = text_report(program, check(program), "x.ilk", {.findings = 1});
  // The hazard between A and B is hidden by C, so it comes second.
  EXPECT_THAT(text, HasSubstr("WAW hazard: C (dispatch 2)"));
  EXPECT_THAT(text, Not(HasSubstr("WAW hazard: B (dispatch 1)")));
  EXPECT_THAT(text, HasSubstr("… and 1 more finding.\n"));
}

TEST(TextReport, CountsAllPairs) {
  const Program program =
      program_on_abc("dispatch A writes a\ndispatch B updates a\ndispatch C writes a\n");
  EXPECT_THAT(text_report(program, check(program, {.lists_all_pairs = true}), "x.ilk"),
              HasSubstr("3 hazardous pairs: RAW 1, WAR 1, WAW 3.\n"));
}

TEST(TextReport, SaysWhichBarriersCanGoAndWhy) {
  const Program program = program_on_abc(R"(
      dispatch A writes a
      idle: barrier
      dispatch B writes b
      barrier
      barrier
      dispatch C reads b)");
  const CheckReport report = check(program);
  EXPECT_EQ(text_report(program, report, "x.ilk", {.redundant = 2}),
            "redundant: idle (barrier 0, before dispatch 1) can go.\n"
            "  No access of dispatch 0 conflicts with one of dispatch 1.\n"
            "redundant: barrier 1 (before dispatch 2) can go.\n"
            "  Barrier 2, at the same place, does what it does.\n"
            "… and 1 more redundant barrier.\n"
            "3 redundant barriers of 3: each one's removal adds no hazard. "
            "Removals interact: check again after each.\n" +
                summary_of(report) + "\n");
}

TEST(TextReport, SaysHowManyBarriersAreForWhatComesAfter) {
  const Program program =
      program_on_abc("dispatch A writes a\nbarrier\ndispatch B reads a\nbarrier\n");
  const CheckReport report = check(program);
  EXPECT_EQ(text_report(program, report, "x.ilk"),
            "1 barrier stands after the last dispatch: for what comes after this text, and no "
            "advice.\n" +
                summary_of(report) + "\n");
  EXPECT_EQ(text_report(program, report, "x.ilk", {.folds_advice = true}),
            summary_of(report) + "\n");
}

// What is counted is named, also where nothing can go that would name it.
TEST(TextReport, NamesWhatIsNotJudged) {
  const Program program = program_on_abc("dispatch A writes a\nbarrier\ndispatch B reads a\n");
  CheckReport report = check(program);
  const auto advice_of = [&](bool has_bounds, uint64_t barrier_count, uint64_t sync_count) {
    report.has_bounds = has_bounds;
    report.unjudged_barrier_count = barrier_count;
    report.unjudged_sync_count = sync_count;
    const std::string text = text_report(program, report, "x.ilk", {.folds_advice = true});
    return text.substr(0, text.find(';'));
  };
  EXPECT_EQ(advice_of(false, 0, 3'998), "advice: 3998 pieces of sync are not judged");
  EXPECT_EQ(advice_of(false, 0, 1), "advice: 1 piece of sync is not judged");
  EXPECT_EQ(advice_of(true, 1, 2), "advice: 1 barrier and 2 words of barriers are not judged");
  EXPECT_EQ(advice_of(true, 1, 0), "advice: 1 barrier is not judged");
}

constexpr const char* kTwoChains = R"(
    dispatch A writes a
    barrier
    dispatch B reads a
    dispatch C writes b
    barrier
    dispatch D reads b)";

TEST(TextReport, PrintsTheCertificateIfAsked) {
  const Program program = program_on_abc(kTwoChains);
  const CheckReport report = check(program);
  EXPECT_THAT(
      text_report(program, report, "x.ilk", {.has_certificate = true}),
      HasSubstr(
          "Certificate: 2 conflicts in disjoint slots, each in need of a barrier of its own; verified.\n"
          "  A (dispatch 0) and B (dispatch 1)\n"
          "  C (dispatch 2) and D (dispatch 3)\n"));
  EXPECT_THAT(text_report(program, report, "x.ilk"), Not(HasSubstr("Certificate")));
}

TEST(TextReport, NamesTheLongestChainWhereAnotherOrderNeedsFewerBarriers) {
  const Program program = program_on_abc(kTwoChains);
  EXPECT_THAT(
      text_report(program, check(program), "x.ilk"),
      HasSubstr(
          "Another order could do with 1 barrier instead of 2: the longest chain of conflicts is A (dispatch 0), B (dispatch 1).\n"));
}

TEST(TextReport, LeavesTheMiddleOfALongChainOut) {
  std::string body;
  for (int i = 0; i < 15; ++i) body += "dispatch A updates a\nbarrier\n";
  body += "dispatch B writes b\nbarrier\ndispatch B reads b\n";
  const Program program = program_on_abc(body);
  EXPECT_THAT(text_report(program, check(program), "x.ilk"),
              HasSubstr("A (dispatch 5), … 3 more …, A (dispatch 9), A (dispatch 10)"));
}

TEST(Summary, SaysHowManyBarriersAreAboveTheMinimum) {
  const auto summary = [](std::string_view body) {
    return summary_of(check(program_on_abc(body)));
  };
  EXPECT_EQ(
      summary("dispatch A writes a\nbarrier\nbarrier\ndispatch B reads a\nbarrier\n"),
      "2 dispatches, 2 accesses, 3 barriers (1 after the last dispatch); fewest for this order 1, longest chain 1; no findings. 1 barrier above the proven minimum.");
  EXPECT_EQ(
      summary("dispatch A writes a\nbarrier\ndispatch B reads a\nbarrier\n"),
      "2 dispatches, 2 accesses, 2 barriers (1 after the last dispatch); fewest for this order 1, longest chain 1; no findings. As few barriers as there can be; proven.");
  EXPECT_EQ(
      summary("dispatch A writes a\nbarrier\ndispatch B reads a\n"),
      "2 dispatches, 2 accesses, 1 barrier; fewest for this order 1, longest chain 1; no findings. "
      "As few barriers as there can be; proven.");
  // What is too few cannot also be too many.
  EXPECT_EQ(
      summary("barrier\nbarrier\ndispatch A writes a\ndispatch B reads a\n"),
      "2 dispatches, 2 accesses, 2 barriers; fewest for this order 1, longest chain 1; 1 finding.");
}

TEST(JsonReport, HasTheDocumentedKeys) {
  const Program program = program_on_abc(kOverwrite);
  const std::string text = json_report(program, check(program), {}, "mlx.ilk");
  EXPECT_EQ(text.find('\n'), text.size() - 1) << "One object, one line.";
  const nlohmann::json json = nlohmann::json::parse(text);
  EXPECT_EQ(json["file"], "mlx.ilk");
  EXPECT_EQ(json["dispatches"], 2);
  EXPECT_EQ(json["fewest_barriers"], 1);
  const nlohmann::json& finding = json["findings"].at(0);
  EXPECT_EQ(finding["kind"], "WAR");
  EXPECT_EQ(finding["observability"], "observable");
  EXPECT_EQ(finding["memory"], "a");
  EXPECT_EQ(finding["end"], 64);
  EXPECT_EQ(finding["first"]["reference"], "reduce");
  EXPECT_EQ(finding["first"]["verb"], "reads");
  EXPECT_EQ(finding["second"]["kernel"], "Vjp");
  EXPECT_EQ(finding["second"]["tensor"], nullptr);
  EXPECT_EQ(finding["witness"].at(0), "reduce after vjp");
}

TEST(JsonReport, HasTheSyncThatCanGo) {
  const Program program = program_with_queues(
      "interlock 1\nmemory x 64\nq1: queue concurrent\ndispatch Make writes x on q1\n"
      "signal s=1, t=2\nidle: wait s=1\ndispatch Else on q1\ndispatch Else\n");
  const nlohmann::json json =
      nlohmann::json::parse(json_report(program, check(program), {}, "x.ilk"));
  ASSERT_EQ(json["redundant_sync"].size(), 2);
  EXPECT_EQ(json["redundant_sync"][0]["kind"], "signal");
  EXPECT_EQ(json["redundant_sync"][0]["part"], "t=2");
  EXPECT_EQ(json["redundant_sync"][1]["kind"], "wait");
  EXPECT_EQ(json["redundant_sync"][1]["statement"]["label"], "idle");
  EXPECT_TRUE(json["redundant_sync"][1]["partner"].is_null());
  EXPECT_TRUE(json["redundant_sync"][1]["instead"].is_null());
  EXPECT_EQ(json["unjudged_sync"], 0);
}

TEST(JsonReport, HasWhatClosesAQueue) {
  const Program program = program_with_queues(
      "interlock 1\nmemory x 64\nq1: queue concurrent\ndispatch Make writes x on q1\n"
      "signal frame=1 on q1\n");
  const CheckReport report = check(program);
  EXPECT_EQ(text_report(program, report, "x.ilk").substr(0, 70),
            "1 piece of sync stands after the last dispatch of its queue: for what ");
  const nlohmann::json json = nlohmann::json::parse(json_report(program, report, {}, "x.ilk"));
  EXPECT_TRUE(json["redundant_sync"].empty());
  ASSERT_EQ(json["closing_sync"].size(), 1);
  EXPECT_EQ(json["closing_sync"][0]["kind"], "signal");
}

TEST(JsonReport, HasTheStatementWithoutAWordThatCanGo) {
  const Program program = program_with_queues(
      "interlock 1\nmemory x 64\nq1: queue concurrent\ndispatch Make writes x\n"
      "signal s=1 after compute|copy\nwait s=1 on q1\ndispatch Use reads x on q1\n");
  const nlohmann::json json =
      nlohmann::json::parse(json_report(program, check(program), {}, "x.ilk"));
  ASSERT_EQ(json["redundant_sync"].size(), 1);
  EXPECT_EQ(json["redundant_sync"][0]["kind"], "scope");
  EXPECT_EQ(json["redundant_sync"][0]["statement"]["statement"], 1);
  EXPECT_EQ(json["redundant_sync"][0]["instead"], "signal s=1 after compute");
}

TEST(JsonReport, HasWhatWouldDoInPlaceOfAll) {
  const Program program = program_with_queues(
      "interlock 1\nmemory x 64\nq1: queue concurrent\ndispatch Make writes x\n"
      "fence: barrier all.write -> all.read\ndispatch Use reads x\n");
  const CheckReport report = check(program);
  const ScopeAdvice scopes = find_scope_advice(program, report);
  const auto json_with = [&](const KnownOfFile& known) {
    return nlohmann::json::parse(json_report(program, report, {}, "x.ilk", known));
  };
  EXPECT_TRUE(json_with({}).at("scopes").is_null());
  const nlohmann::json json = json_with({.scopes = &scopes}).at("scopes");
  EXPECT_EQ(json["unjudged"], scopes.unjudged_count);
  ASSERT_EQ(json["narrower"].size(), 1);
  const nlohmann::json& fence = json["narrower"].at(0);
  EXPECT_EQ(fence["statement"]["label"], "fence");
  EXPECT_EQ(fence["statement"]["text"], "barrier all.write -> all.read");
  EXPECT_EQ(fence["instead"], "barrier compute.write -> compute.read");
  EXPECT_EQ(fence["description"], "the barrier on q0 (fence, statement 1)");
}

// As `--certificate` prints it.
TEST(JsonReport, SaysWhyNothingIsCertified) {
  const auto json_on = [](const std::string& body) {
    const Program program =
        program_with_queues("interlock 1\nmemory x 64\nmemory y 64\ns: queue serial\n" + body);
    const CheckReport report = check(program);
    nlohmann::json json = nlohmann::json::parse(json_report(program, report, {}, "x.ilk"));
    const std::string text = text_report(program, report, "x.ilk", {.has_certificate = true});
    const nlohmann::json& why = json["no_waits"];
    if (why.is_null()) {
      EXPECT_EQ(text.find("Not certified"), std::string::npos) << text;
    } else {
      EXPECT_TRUE(json["waits"].is_null());
      EXPECT_EQ(text.substr(0, text.find('\n')), why["reason"]);
    }
    return why;
  };
  const std::string make = "m: queue serial\nmake: dispatch Make writes x on m\n";
  const std::string wait = "signal d=1 on m\nwait d=1 on s\n";
  // The waits say all.
  EXPECT_TRUE(json_on(make + wait + "dispatch Use reads x on s\n").is_null());
  // There is a finding.
  EXPECT_TRUE(json_on(make + "dispatch Use reads x on s\n").is_null());
  EXPECT_TRUE(json_on("dispatch Use reads x on s\n").is_null());
  const nlohmann::json ordered =
      json_on(make + wait + "dispatch Else reads y on s\ndispatch Use reads x on s\n");
  EXPECT_EQ(ordered["reason"],
            "Not certified how few waits or edges would do: this sync orders make (dispatch 0) "
            "before Else (dispatch 1), for which neither conflicts nor queues ask.");
  EXPECT_EQ(ordered["first"], 0);
  EXPECT_EQ(ordered["second"], 1);
  const nlohmann::json host =
      json_on(make + "signal d=1 on m\nhost waits d=1\ndispatch Use reads x on s\n");
  EXPECT_THAT(host["reason"].get<std::string>(),
              testing::StartsWith("Not certified how few waits or edges would do"));
  EXPECT_EQ(host["second"].is_null(), host["first"].is_null());
}

TEST(JsonReport, HasTheLinesOfARepair) {
  const Program program = program_with_queues(
      "interlock 1\nmemory x 64\nq1: queue concurrent\ndispatch Make writes x\nsignal s=1\n"
      "dispatch Use reads x on q1\n");
  const nlohmann::json json =
      nlohmann::json::parse(json_report(program, check(program), {}, "x.ilk"));
  const nlohmann::json& repair = json["findings"].at(0)["repair"];
  ASSERT_EQ(repair.size(), 1);
  EXPECT_EQ(repair[0]["place"], "before");
  EXPECT_EQ(repair[0]["statement"], 2);
  EXPECT_EQ(repair[0]["line"], "wait s=1 on q1");
}

TEST(JsonReport, HasTheCertificateAndTheChain) {
  const Program program = program_on_abc(kTwoChains);
  const nlohmann::json json =
      nlohmann::json::parse(json_report(program, check(program), {}, "x.ilk"));
  EXPECT_EQ(json["certificate"].dump(), "[[0,1],[2,3]]");
  EXPECT_EQ(json["chain"].dump(), "[0,1]");
  EXPECT_EQ(json["fewest_full_barriers"], 2);
}

TEST(JsonReport, ListsRedundantBarriers) {
  const Program program = program_on_abc(
      "dispatch A writes a\nidle: barrier execution\ndispatch B writes b\nbarrier\n");
  const nlohmann::json json =
      nlohmann::json::parse(json_report(program, check(program), {}, "x.ilk"));
  EXPECT_EQ(json["redundant"].dump(),
            R"([{"barrier":0,"before":1,"is_execution":true,"queue":"q0",)"
            R"("reason":"No access of dispatch 0 conflicts with one of dispatch 1.",)"
            R"("reference":"idle","statement":1}])");
  EXPECT_EQ(json["closing"].dump(),
            R"([{"barrier":1,"before":null,"is_execution":false,"queue":"q0",)"
            R"("reason":"No dispatch stands after it.","reference":"1","statement":3}])");
}

TEST(JsonReport, CannotBeBrokenByAFileName) {
  const Program program = program_on_abc("");
  EXPECT_TRUE(nlohmann::json::accept(json_report(program, check(program), {}, "a\"\\\n\xff.ilk")));
}

}  // namespace
}  // namespace interlock::report_test
