// Errors of captures and replays: each broken program beside its smallest repair.
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <string_view>

#include "encoder/text/parser.h"

namespace interlock::capture_errors_test {
namespace {

// Its last line is line 4.
constexpr std::string_view kPreamble =
    "interlock 1\n"
    "memory m 64\n"
    "tensor x f32[4] at m+0\n"
    "tensor a f32[4]\n";

struct CaptureErrorCase {
  std::string_view broken;    // Lines.
  std::string_view message;   // "line:column: error: sentence", and context lines.
  std::string_view repaired;  // Lines.
};

void PrintTo(const CaptureErrorCase& error_case, std::ostream* out) { *out << error_case.broken; }

class CaptureError : public testing::TestWithParam<CaptureErrorCase> {};

TEST_P(CaptureError, SaysWhatIsWrongAndItsRepairParses) {
  const CaptureErrorCase& error_case = GetParam();
  const auto broken = parse(std::string(kPreamble) + std::string(error_case.broken), "p.ilk");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().message, "p.ilk:" + std::string(error_case.message));
  const auto repaired = parse(std::string(kPreamble) + std::string(error_case.repaired), "p.ilk");
  EXPECT_TRUE(repaired) << repaired.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Grammar, CaptureError,
    testing::Values(
        CaptureErrorCase{"capture",
                         "5:8: error: found the end of the line; expected the name of the capture.",
                         "capture c\nend"},
        CaptureErrorCase{"capture 3", "5:9: error: found '3'; expected the name of the capture.",
                         "capture c\nend"},
        CaptureErrorCase{"capture c d\nend",
                         "5:11: error: found 'd'; expected the end of the line.", "capture c\nend"},
        CaptureErrorCase{"capture c\nend c", "6:5: error: found 'c'; expected the end of the line.",
                         "capture c\nend"},
        CaptureErrorCase{"capture c\nend\nreplay",
                         "7:7: error: found the end of the line; expected the name of a capture.",
                         "capture c\nend\nreplay c"},
        CaptureErrorCase{
            "capture c\nend\nreplay c on q1",
            "7:1: error: the statement is about several queues, the host, graphics, transitions or rows of bytes, which is not taken here: `interlock check` judges it, `interlock run` executes it.",
            "capture c\nend\nreplay c"},
        CaptureErrorCase{
            "r: capture c\nend",
            "5:4: error: label 'r' stands before 'capture'; only dispatches, barriers, sync statements and those of lifetimes and the host have labels.",
            "capture c\nend"},
        CaptureErrorCase{
            "capture c\nend\nr: replay c",
            "7:4: error: label 'r' stands before 'replay'; only dispatches, barriers, sync statements and those of lifetimes and the host have labels.",
            "capture c\nend\nreplay c"},
        CaptureErrorCase{
            "capture c@1\nend",
            "5:9: error: 'c@1' is not a name for a capture; names have letters, digits, '_' and '.', and do not start with a digit or '.'.",
            "capture c.1\nend"}));

INSTANTIATE_TEST_SUITE_P(
    Nesting, CaptureError,
    testing::Values(
        CaptureErrorCase{
            "capture c\nbarrier",
            "5:9: error: capture 'c' has no end; expected 'end' after what it records.",
            "capture c\nbarrier\nend"},
        CaptureErrorCase{
            "end", "5:1: error: found 'end' after no capture; expected a 'capture' before it.",
            "capture c\nend"},
        CaptureErrorCase{
            "capture c\nend\nend",
            "7:1: error: found 'end' after no capture; expected a 'capture' before it.",
            "capture c\nend"},
        CaptureErrorCase{
            "capture c\ncapture d\nend\nend",
            "6:1: error: a capture stands in capture 'c', which has not ended; a capture records dispatches, barriers and lifetime statements only.",
            "capture c\nend\ncapture d\nend"},
        CaptureErrorCase{
            "capture c\nend\ncapture d\nreplay c\nend",
            "8:1: error: a replay stands in capture 'd', which has not ended; a capture records dispatches, barriers and lifetime statements only.",
            "capture c\nend\ncapture d\nend\nreplay c"},
        CaptureErrorCase{
            "capture c\nmemory n 4\nend",
            "6:1: error: a memory stands in capture 'c', which has not ended; a capture records dispatches, barriers and lifetime statements only.",
            "memory n 4\ncapture c\nend"},
        CaptureErrorCase{
            "capture c\ntensor y f32[1]\nend",
            "6:1: error: a tensor stands in capture 'c', which has not ended; a capture records dispatches, barriers and lifetime statements only.",
            "tensor y f32[1]\ncapture c\nend"},
        CaptureErrorCase{
            "capture c\noutput x\nend",
            "6:1: error: an output stands in capture 'c', which has not ended; a capture records dispatches, barriers and lifetime statements only.",
            "output x\ncapture c\nend"},
        CaptureErrorCase{
            "dispatch A\ndispatch B\ncapture c\nwitness 0 before 1\nend",
            "8:1: error: a witness stands in capture 'c', which has not ended; a capture records dispatches, barriers and lifetime statements only.",
            "dispatch A\ndispatch B\ncapture c\nend\nwitness 0 before 1"},
        CaptureErrorCase{
            "capture c\nexpect clean\nend",
            "6:1: error: an expectation stands in capture 'c', which has not ended; a capture records dispatches, barriers and lifetime statements only.",
            "capture c\nend\nexpect clean"}));

INSTANTIATE_TEST_SUITE_P(
    Names, CaptureError,
    testing::Values(
        CaptureErrorCase{"capture step\nend\nreplay stap",
                         "7:8: error: no capture 'stap' stands before this replay. "
                         "Did you mean 'step'?",
                         "capture step\nend\nreplay step"},
        CaptureErrorCase{"replay c\ncapture c\nend",
                         "5:8: error: no capture 'c' stands before this replay.",
                         "capture c\nend\nreplay c"},
        CaptureErrorCase{"capture c\nend\ncapture c\nend",
                         "7:9: error: capture 'c' stands twice; names of captures must differ.",
                         "capture c\nend\ncapture d\nend"},
        CaptureErrorCase{
            "capture c\nrun: barrier\nrun: barrier\nend",
            "7:1: error: label 'run' already stands in capture 'c'; labels must differ.",
            "capture c\nrun: barrier\nrun2: barrier\nend"},
        CaptureErrorCase{
            "capture c\nrun: barrier\nend\nrun: barrier",
            "8:1: error: label 'run' already stands in capture 'c'; labels must differ.",
            "capture c\nrun: barrier\nend\nrun.1: barrier"},
        CaptureErrorCase{"run: barrier\ncapture c\nrun: barrier\nend",
                         "7:1: error: label 'run' already stands on barrier 0; labels must differ.",
                         "run: barrier\ncapture c\nrun2: barrier\nend"},
        CaptureErrorCase{
            "run@2: barrier\ncapture c\nrun: barrier\nend\nreplay c\nreplay c",
            "10:1: error: label 'run@2' already stands on barrier 0; labels must differ.\n"
            "  - While adding replay 2 of capture 'c'.",
            "run@2: barrier\ncapture c\nrun: barrier\nend\nreplay c"},
        CaptureErrorCase{
            "capture c\nrun: barrier\nend\nreplay c\nrun@1: barrier",
            "9:1: error: label 'run@1' already stands on barrier 0; labels must differ.",
            "capture c\nrun: barrier\nend\nreplay c\nrun@2: barrier"},
        CaptureErrorCase{
            "capture c\nrun: dispatch K\nend\nreplay c\nexpect alias run",
            "9:14: error: label 'run' stands in capture 'c', which only its replays execute; expected run@1 for the first of them.",
            "capture c\nrun: dispatch K\nend\nreplay c\nexpect alias run@1"},
        CaptureErrorCase{
            "capture c\nrun: barrier\nend\nreplay c\nexpect redundant run",
            "9:18: error: label 'run' stands in capture 'c', which only its replays execute; expected run@1 for the first of them.",
            "capture c\nrun: barrier\nend\nreplay c\nexpect redundant run@1"},
        CaptureErrorCase{"capture c\nrun: dispatch K\nend\nreplay c\nexpect alias run@2",
                         "9:14: error: no dispatch before this line has the label 'run@2'. "
                         "Did you mean 'run@1'?",
                         "capture c\nrun: dispatch K\nend\nreplay c\nexpect alias run@1"}));

INSTANTIATE_TEST_SUITE_P(
    Bodies, CaptureError,
    testing::Values(
        CaptureErrorCase{"capture c\ndispatch K reads y\nend",
                         "6:18: error: no tensor or memory 'y' is declared before this line.\n"
                         "  - While recording 'K' in capture 'c'.",
                         "capture c\ndispatch K reads x\nend"},
        CaptureErrorCase{
            "capture c\ndispatch K order=1\nend",
            "6:12: error: 'order=' and captures or backward passes exclude each other; what these stand for has no order of its own.\n"
            "  - While recording 'K' in capture 'c'.",
            "capture c\ndispatch K\nend"},
        CaptureErrorCase{
            "capture c\nend\ndispatch K order=1",
            "7:12: error: 'order=' and captures or backward passes exclude each other; what these stand for has no order of its own.\n"
            "  - While adding 'K' as dispatch 0.",
            "capture c\nend\ndispatch K"},
        CaptureErrorCase{
            "dispatch K order=1\ncapture c\nend",
            "6:1: error: the dispatches before a capture have 'order='; that and captures or backward passes exclude each other.",
            "dispatch K\ncapture c\nend"},
        CaptureErrorCase{
            "capture c\nunpin x\nend\npin x\nreplay c\nreplay c",
            "10:1: error: tensor 'x' is not pinned here; every unpin ends one pin before it.\n"
            "  - While adding replay 2 of capture 'c'.",
            "capture c\nunpin x\nend\npin x\npin x\nreplay c\nreplay c"},
        CaptureErrorCase{"capture c\ndispatch K reads a\nend\nadopt a = x",
                         "8:7: error: tensor 'a' is in use before it adopts the bytes of 'x'.",
                         "capture c\ndispatch K reads x\nend\nadopt a = x"}));

}  // namespace
}  // namespace interlock::capture_errors_test
