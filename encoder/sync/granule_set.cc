// Linear probing in a window of bounded length, as in SegmentTable. Here what finds no place need
// not be kept: that all is taken for marked is right, and slow only for whoever made it so.
#include "encoder/sync/granule_set.h"

#include <utility>

namespace interlock {

bool GranuleSet::mark_after(Word* first, uint64_t key, uint64_t bits) {
  for (size_t i = 0; i < kWindow; ++i) {
    Word& word = first[i];
    if (word.bits == 0) {
      word = {key, bits};
      if (2 * ++count_ > words_.size()) grow();
      return has_lost_some_;
    }
    if (word.key == key) {
      const bool was_marked = (word.bits & bits) != 0;
      word.bits |= bits;
      return was_marked || has_lost_some_;
    }
  }
  if (kLeastShare * count_ < words_.size()) {
    has_lost_some_ = true;
    return true;
  }
  grow();
  return mark_after(&words_[key >> shift_], key, bits);
}

void GranuleSet::grow() {
  const ZeroedArray<Word> old = std::move(words_);
  words_ = ZeroedArray<Word>(2 * (old.size() - (kWindow - 1)) + kWindow - 1);
  --shift_;
  count_ = 0;
  for (const Word& word : old) {
    if (word.bits != 0) mark_after(&words_[word.key >> shift_], word.key, word.bits);
  }
}

void GranuleSet::clear() {
  words_.clear();
  count_ = 0;
  has_lost_some_ = false;
}

}  // namespace interlock
