// SVG of a picture (SVG 1.1, second edition, without scripts): what does not move is drawn once,
// and follows the colours of a light or a dark page by a style sheet of its own.
#pragma once

#include <string>

#include "simulator/picture/picture.h"

namespace interlock {

// A whole document: sentences above, the picture with its folds shut. Cost: linear in the picture.
std::string svg_of(const Picture& picture);

// The element for a page whose script opens folds (page.h), which brings the style sheet and the
// sentences: also the rows in folds.
std::string unfolding_svg_of(const Picture& picture);

// The style sheet of pictures: light, and dark where the reader prefers that.
std::string picture_style();

}  // namespace interlock
