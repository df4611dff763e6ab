// Markup: text of others inside HTML and XML.
#pragma once

#include <string>
#include <string_view>

namespace interlock {

// As the content of an element, or of an attribute in double or single quotes, in HTML and in XML
// 1.0. What is no valid UTF-8, or no character of XML, becomes U+FFFD; tabs and line ends stay.
// Cost: linear.
std::string in_markup(std::string_view text);

}  // namespace interlock
