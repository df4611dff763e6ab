// Labels say what a node is, and of copies and memsets which bytes they touch.
#include "encoder/import/node_label.h"

#include <gtest/gtest.h>

#include <string>

namespace interlock::node_label_test {
namespace {

NodeContent content_of_label(const std::string& label, const std::string& shape) {
  DotNode node;
  node.label = label;
  node.shape = shape;
  return content_of(node, [](std::string_view name) { return name == "graph_2"; });
}

void expect_content(const std::string& label, const std::string& shape, GraphNodeKind kind,
                    const std::string& name) {
  const NodeContent content = content_of_label(label, shape);
  EXPECT_EQ(content.kind, kind) << label;
  EXPECT_EQ(content.name, name) << label;
  EXPECT_FALSE(content.source);
  EXPECT_FALSE(content.destination);
}

TEST(NodeLabel, OfLinesNamesTheKindAfterTheNumber) {
  using enum GraphNodeKind;
  expect_content("0\n_Z5saxpyifPfS_\n", "octagon", kKernel, "_Z5saxpyifPfS_");
  expect_content("12\nsaxpy\\<\\<\\<1,128,0\\>\\>\\>\n", "octagon", kKernel, "saxpy");
  expect_content("3\\nsaxpy\\n", "octagon", kKernel, "saxpy");
  expect_content("1\ngraph_2\n", "rectangle", kChildGraph, "graph_2");
  expect_content("1\ngraph_3\n", "rectangle", kOther, "graph_3");
  // The shape is what tells a kernel of such a name.
  expect_content("1\ngraph_2\n", "octagon", kKernel, "graph_2");
  expect_content("2\nMEMCPY\n(HtoD,4096)", "trapezium", kMemcpy, "MEMCPY");
  expect_content("2\nMEMSET\n(0,640)", "invtrapezium", kMemset, "MEMSET");
  expect_content("4\nHOST\n0x5566", "rectangle", kHost, "HOST");
  expect_content("5\nEMPTY", "rectangle", kEmpty, "EMPTY");
  expect_content("6\nEVENT_RECORD", "rectangle", kOutside, "EVENT_RECORD");
  expect_content("7\nWAIT_EVENT", "rectangle", kOutside, "WAIT_EVENT");
  expect_content("8\nMEM_ALLOC", "rectangle", kOther, "MEM_ALLOC");
  // A conditional node names its bodies, and does not stand for them.
  expect_content("9\nCONDITIONAL\ngraph_2", "rectangle", kOther, "CONDITIONAL");
  expect_content("", "", kOther, "");
  expect_content("17", "rectangle", kOther, "17");
}

TEST(NodeLabel, OfARecordNamesTheKindInItsFirstCell) {
  using enum GraphNodeKind;
  expect_content(
      "{KERNEL\n| {ID | 14 (topoId: 6) | sgemm_nn\\<\\<\\<\\{16,10,4\\},128,0\\>\\>\\>}\n"
      "| {{node handle | func handle} | {0x00007FC44A2F36D0 | 0x000000000D55C270}}\n}",
      "record", kKernel, "sgemm_nn");
  expect_content("{\nHOST\n| {{ID | node handle} | {3 | 0x55}}\n}", "record", kHost, "HOST");
  expect_content("{\nGRAPH\n| {{ID | node handle | graph} | {3 | 0x55 | graph_2}}\n}", "record",
                 kChildGraph, "graph_2");
  expect_content("{SOMETHING_NEW | x}", "record", kOther, "SOMETHING_NEW");
  expect_content("{KERNEL | {ID", "record", kKernel, "KERNEL");
}

void expect_bytes(const std::optional<StridedRange>& bytes, uint64_t begin, uint64_t width,
                  uint64_t pitch, uint64_t count) {
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->begin, begin);
  EXPECT_EQ(bytes->run_bytes, width);
  EXPECT_EQ(bytes->pitch_bytes, pitch);
  EXPECT_EQ(bytes->run_count, count);
}

std::string memset_label(const std::string& values) {
  return "{MEMSET\n| {{ID | node handle | dptr | pitch | value | elementSize | width | height} | {" +
         values + "}}}";
}

TEST(NodeLabel, OfAMemsetHasItsBytes) {
  const auto destination = [](const std::string& values) {
    return content_of_label(memset_label(values), "record").destination;
  };
  expect_bytes(destination("0 (topoId: 20) | 0x0A | 0x00007FC45DC00000 | 0 | 0 | 4 | 640 | 1"),
               0x7fc45dc00000, 2560, 2560, 1);
  expect_bytes(destination("0 | 0x0A | 0x100 | 512 | 7 | 1 | 64 | 16"), 0x100, 64, 512, 16);
  // What is no number, or wraps around, says nothing.
  EXPECT_FALSE(destination("0 | 0x0A | here | 0 | 0 | 4 | 640 | 1"));
  EXPECT_FALSE(destination("0 | 0x0A | 0x100 | 0 | 0 | 4 | 640"));
  EXPECT_FALSE(destination("0 | 0x0A | 0x10000000000000000 | 0 | 0 | 4 | 640 | 1"));
  EXPECT_FALSE(destination("0 | 0x0A | 0xffffffffffffff00 | 0 | 0 | 4 | 640 | 1"));
  EXPECT_FALSE(destination("0 | 0x0A | 0x100 | 0 | 0 | 4 | 18446744073709551615 | 1"));
  EXPECT_FALSE(destination("0 | 0x0A | 0x100 | 32 | 0 | 1 | 64 | 16"));
  EXPECT_FALSE(destination("0 | 0x0A | 0x100 | 0 | 0 | 4 | 0 | 1"));
}

std::string memcpy_label(const std::string& pointers, const std::string& source_x,
                         const std::string& extent) {
  return "{\nMEMCPY\n| {{ID | node handle} | {2 (topoId: 1) | 0x55}}\n"
         "| {kind | DtoD (DEVICE to DEVICE)}\n| {{srcPtr | dstPtr} | {pitch | ptr | xsize | ysize | "
         "pitch | ptr | xsize | ysize} | {" +
         pointers + "}}\n| {{srcPos | {{x | " + source_x +
         "} | {y | 0} | {z | 0}}} | {dstPos | {{x | 0} | {y | 2} | {z | 0}}} | {Extent | " +
         extent + "}}\n}";
}

TEST(NodeLabel, OfAMemcpyHasBothEnds) {
  const std::string line = "{{Width | 4096} | {Height | 1} | {Depth | 1}}";
  const std::string pointers = "0 | 0x302000000 | 0 | 0 | 64 | 0x302001200 | 0 | 0";
  NodeContent content = content_of_label(memcpy_label(pointers, "16", line), "record");
  EXPECT_EQ(content.kind, GraphNodeKind::kMemcpy);
  expect_bytes(content.source, 0x302000010, 4096, 4096, 1);
  expect_bytes(content.destination, 0x302001280, 4096, 4096, 1);

  content = content_of_label(memcpy_label("256 | 0x1000 | 0 | 0 | 64 | 0x2000 | 0 | 0", "0",
                                          "{{Width | 64} | {Height | 8} | {Depth | 1}}"),
                             "record");
  expect_bytes(content.source, 0x1000, 64, 256, 8);
  expect_bytes(content.destination, 0x2080, 64, 64, 8);

  // Of three dimensions nothing is known.
  content = content_of_label(
      memcpy_label(pointers, "0", "{{Width | 4} | {Height | 1} | {Depth | 2}}"), "record");
  EXPECT_FALSE(content.source || content.destination);
  content = content_of_label(memcpy_label("0 | 0x302000000", "0", line), "record");
  EXPECT_FALSE(content.destination);
}

}  // namespace
}  // namespace interlock::node_label_test
