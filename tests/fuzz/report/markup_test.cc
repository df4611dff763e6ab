// What others have written, as text of a page.
#include "fuzz/report/markup.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/fuzz/report/xmllint.h"

namespace interlock::markup_test {
namespace {

const std::string kReplaced = "\xef\xbf\xbd";

TEST(Markup, KeepsTextAndEscapesWhatIsNone) {
  EXPECT_EQ(in_markup("RAW-view a.b_c\n\t"), "RAW-view a.b_c\n\t");
  EXPECT_EQ(in_markup("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
  EXPECT_EQ(in_markup("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"),
            "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80");
}

TEST(Markup, ReplacesWhatIsNoCharacter) {
  for (const std::string& text : {std::string("\x01"), std::string(1, '\0'), std::string("\x7f"),
                                  std::string("\xff"), std::string("\xe2\x80\xae")}) {
    EXPECT_EQ(in_markup(text), kReplaced) << testing::PrintToString(text);
  }
  // Longer forms of '<' and '/', a half of a pair, what is cut off, what is beyond the last one.
  for (const char* text : {"\xc0\xbc", "\xe0\x80\xaf", "\xed\xa0\x80", "\xe2\x82",
                           "\xf5\x80\x80\x80", "\xf4\x90\x80\x80", "\xf0\x82\x82\xac", "\xe2<"}) {
    const std::string result = in_markup(text);
    EXPECT_TRUE(result.starts_with(kReplaced)) << testing::PrintToString(text);
    EXPECT_EQ(result.find_first_of("<>"), std::string::npos);
  }
}

// Every two bytes, and a third and fourth at the borders of what they may be.
TEST(Markup, IsXmlWhateverTheBytesAre) {
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<all>";
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      std::string bytes = {static_cast<char>(a), static_cast<char>(b)};
      if (a >= 0xe0) bytes += b % 2 == 0 ? "\x80" : "\xbf";
      if (a >= 0xf0) bytes += b % 3 == 0 ? "\x7f" : "\xbf";
      text += "<i is=\"" + in_markup(bytes) + "\">" + in_markup(bytes) + "</i>\n";
    }
  }
  EXPECT_EQ(xmllint::complaints(text + "</all>\n"), "");
  EXPECT_NE(xmllint::complaints("<all>&amp</all>"), "");
}

}  // namespace
}  // namespace interlock::markup_test
