// A page of pictures: one HTML file that needs nothing else. It asks the network for nothing, has
// one script, which opens folds, and says so in a policy that browsers enforce (W3C, Content
// Security Policy Level 3).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulator/picture/picture.h"

namespace interlock {

struct PagePicture {
  Picture picture;
  std::string report;  // The finding as `check` prints it; empty: none.
};

struct PicturePage {
  std::string title;    // The file.
  std::string summary;  // One line.
  std::vector<PagePicture> pictures;
  uint64_t finding_count = 0;  // Of the program; more than there are pictures, perhaps.
};

// Cost: linear in the pictures.
std::string html_of(const PicturePage& page);

}  // namespace interlock
