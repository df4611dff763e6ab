// CapturedPlaces: of commands of a program, by their place in it, what is known beside what they
// do: where the application asked for them, and what a layer that checks synchronization said of
// them.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder/program/finding_kind.h"

namespace interlock {

// How the labels of what presents images begin: "presented3". That is no command.
inline constexpr std::string_view kPresentedLabel = "presented";

// Where a command of a program stands: "s3.b0.c7". A submission has the place of a command of its
// own, which no command has: "s3".
struct CapturedPlace {
  static constexpr uint64_t kSubmission = UINT64_MAX;

  uint64_t submission = 0;
  uint64_t buffer = kSubmission;
  uint64_t command = kSubmission;

  auto operator<=>(const CapturedPlace&) const = default;
};

// "s3.b0.c7", or "s3".
std::string text_of(const CapturedPlace& place);

// The place that a label of a program names, with or without parts after it ("s3.b0.c7.r1"); none
// if it names none.
std::optional<CapturedPlace> place_of_label(std::string_view label);

// A place in a file of code.
struct CodePlace {
  std::shared_ptr<const std::string> file;
  uint64_t offset = 0;
};

// "libavfilter.so.8+0x1a2b".
std::string text_of(const CodePlace& place);

// Where a call came from.
struct CommandOrigin {
  std::string labels;              // Of the application, the outermost first: "frame / blur".
  std::vector<CodePlace> callers;  // The innermost first.
};

// What a layer that checks synchronization says of one place.
struct ForeignHazard {
  std::optional<FindingKind> kind;  // None: one that we do not tell apart.
  std::optional<CapturedPlace> first;
  std::optional<CapturedPlace> second;  // None: a command that is not known.
  bool is_at_submission = false;        // It was found when it was submitted, not recorded.
  std::shared_ptr<const std::string> text;
};

class CapturedPlaces {
 public:
  // Requires: places come in their order, the submission after its commands.
  void add(const CapturedPlace& place, std::shared_ptr<const CommandOrigin> origin);
  // Null if nothing is known.
  const CommandOrigin* find(const CapturedPlace& place) const;

  // A command that touches something by the address of a buffer. In their order, too.
  void add_addressed(const CapturedPlace& place) { addressed_.push_back(place); }
  bool is_addressed(const CapturedPlace& place) const;

  void add(ForeignHazard hazard);
  const std::vector<ForeignHazard>& foreign() const { return foreign_; }
  // Of those that there was no room for.
  uint64_t lost_foreign_count() const { return lost_foreign_count_; }

 private:
  // In order.
  std::vector<std::pair<CapturedPlace, std::shared_ptr<const CommandOrigin>>> origins_;
  std::vector<CapturedPlace> addressed_;
  std::vector<ForeignHazard> foreign_;
  uint64_t lost_foreign_count_ = 0;
};

}  // namespace interlock
