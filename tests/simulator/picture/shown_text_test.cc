// Names of strangers, as pictures show them.
#include "simulator/picture/shown_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/simulator/picture/markup_check.h"

namespace interlock::shown_text_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

TEST(VisibleText, KeepsWhatCanBeSeen) {
  EXPECT_EQ(visible_text("blk.3.ffn (1) <&>\"'"), "blk.3.ffn (1) <&>\"'");
  EXPECT_EQ(visible_text("überträgt 模型 𝛼"), "überträgt 模型 𝛼");
}

TEST(VisibleText, SpellsOutWhatHidesOrTurnsItsNeighbours) {
  EXPECT_EQ(visible_text(std::string("a\0\n\x1b\x7f", 5)), "a\\u{0}\\u{a}\\u{1b}\\u{7f}");
  EXPECT_EQ(visible_text("a\u202egnp.ilk"), "a\\u{202e}gnp.ilk");
  EXPECT_EQ(visible_text("a\u200bb\ufeffc\u2066d\u0085"), "a\\u{200b}b\\u{feff}c\\u{2066}d\\u{85}");
  EXPECT_EQ(visible_text("\xef\xbf\xbf"), "\\u{ffff}");
}

// Unicode 15, table 3-7: bytes that are no character, one by one.
TEST(VisibleText, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(visible_text("a\xff"), "a\ufffd");
  EXPECT_EQ(visible_text("\xc0\xaf"), "\ufffd\ufffd");            // Too long for '/'.
  EXPECT_EQ(visible_text("\xed\xa0\x80"), "\ufffd\ufffd\ufffd");  // A surrogate.
  EXPECT_EQ(visible_text("\xf4\x90\x80\x80"), "\ufffd\ufffd\ufffd\ufffd");
  EXPECT_EQ(visible_text("\xe6\xa8"), "\ufffd\ufffd");  // Cut short.
}

TEST(MarkupText, IsWellFormedWhateverTheBytes) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  all += "]]>--><script>&amp;&#0;\xe2\x80\xae";
  EXPECT_THAT(xml_complaint("<a b=\"" + markup_text(all) + "\">" + markup_text(all) + "</a>"),
              IsEmpty());
  EXPECT_EQ(markup_text("a<b & \"c\" 'd'>"), "a&lt;b &amp; &quot;c&quot; &#39;d&#39;&gt;");
  EXPECT_EQ(markup_lines("a\n<b>\n"), "a\n&lt;b&gt;\n");
}

// The check of the tests itself can fail.
TEST(MarkupText, IsCheckedByWhatFindsFaults) {
  for (const char* const wrong :
       {"<a>", "<a></b>", "<a b=c/>", "<a b=\"<\"/>", "<a>&</a>", "<a>&nbsp;</a>", "<a/><b/>",
        "<a b=\"1\" b=\"2\"/>", "<a>\x01</a>", "<a>\xff</a>", "x<a/>", "<a b=\"1\"c=\"2\"/>"}) {
    EXPECT_THAT(xml_complaint(wrong), Not(IsEmpty())) << wrong;
  }
  EXPECT_THAT(xml_complaint("<a b=\"1\"><c/>x &lt; y</a>\n"), IsEmpty());
}

TEST(Shortened, LeavesOutTheMiddle) {
  EXPECT_EQ(shortened("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(shortened("abcdefghijk", 10), "abcdef…ijk");
  EXPECT_EQ(shortened("abc", 1), "…");
  EXPECT_EQ(text_columns("模型a"), 5u);
  for (size_t columns = 1; columns < 12; ++columns) {
    EXPECT_LE(text_columns(shortened("模型模型模型模型", columns)), columns) << columns;
  }
}

TEST(Wrapped, BreaksAtBlanksAndElseAnywhere) {
  EXPECT_THAT(wrapped("one two three", 8), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("abcdefgh ij", 4), ElementsAre("abcd", "efgh", "ij"));
  EXPECT_THAT(wrapped("", 4), ElementsAre(""));
  EXPECT_THAT(wrapped("模型", 1), ElementsAre("模", "型"));  // Rather too wide than endless.
}

}  // namespace
}  // namespace interlock::shown_text_test
