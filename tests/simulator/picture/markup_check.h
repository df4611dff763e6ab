// Whether a text is well-formed XML (Extensible Markup Language 1.0, fifth edition), as far as
// pictures use it: elements, quoted attributes, the five entities and numeric references. Shares
// nothing with what writes them.
#pragma once

#include <string>
#include <string_view>

namespace interlock {

// What is wrong first, with what stands there; empty if nothing is. One root element.
std::string xml_complaint(std::string_view text);

}  // namespace interlock
