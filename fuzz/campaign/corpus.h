// Corpus: programs of one's own that a guided campaign begins with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "encoder/program/draft.h"
#include "encoder/program/result.h"

namespace interlock {

inline constexpr uint64_t kCorpusProgramsMax = 4096;
// Of one program; and so of its memories, and of its tensors.
inline constexpr uint64_t kCorpusStatementsMax = 4096;
inline constexpr uint64_t kCorpusBytesMax = 1u << 20;     // Of its text, as an encoder is given it.
inline constexpr uint64_t kCorpusAllItemsMax = 1u << 18;  // All three, of all programs,
inline constexpr uint64_t kCorpusAllBytesMax = 1u << 25;  // and of their texts.

struct Corpus {
  // As an encoder is given them: without sync, `order=`, pins, witness and expectations, and
  // without what a dispatch does not declare.
  std::vector<ProgramDraft> programs;
  uint64_t digest = 0;  // Of their texts, in order.
};

// The program in the file, or those in the tree of the folder (programs_at()). Errors: those of
// reading and parsing, with file, line and column; a program of several queues; more than the
// limits; a program in which the encoder `interlock` leaves a finding, which is the program's own
// fault; a program that `check`, if there is one, has an error of: the encoder does not take it.
Result<Corpus> read_corpus(const std::string& path,
                           Result<Success> (*check)(const Program&) = nullptr);

}  // namespace interlock
