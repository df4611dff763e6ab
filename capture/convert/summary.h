// What a capture amounts to: how much there was, and by name what was not understood.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "capture/convert/captured_places.h"
#include "capture/log/run_records.h"

namespace interlock {

struct CaptureSummary {
  std::string application;
  std::string command;
  std::string device;
  uint64_t dispatch_count = 0;
  uint64_t transfer_count = 0;
  uint64_t barrier_count = 0;
  uint64_t submission_count = 0;
  uint64_t queue_count = 0;
  uint64_t pass_count = 0;  // Of graphics. So the next.
  uint64_t draw_count = 0;
  // Dispatches and transfers whose ranges bound what they touch.
  uint64_t approximate_count = 0;
  bool is_exact = false;         // It was measured what dispatches touch.
  uint64_t addressed_count = 0;  // Dispatches that touch something by the address of a buffer.
  uint64_t exact_count = 0;      // Dispatches whose ranges are what they touched.
  // Of which something was not understood: a command, or what came since the submission before, as
  // objects and calls of the host. So it is of all, once the device has what is not followed.
  uint64_t unknown_submission_count = 0;
  bool has_unknown_device = false;
  uint64_t note_count = 0;                         // Of what was not understood, all in all.
  std::map<std::string, uint64_t> not_understood;  // What, and how often.
  std::map<std::string, uint64_t> remarks;         // What is as it should be, and to be known.
  RunOptionsRecord options;                        // What the run was asked to do.
  bool has_dropped_barrier = false;  // Of a run that is to leave one out: it was there.
  uint64_t recorded_barrier_count = 0;
  bool maps_coherent =
      false;  // The host has coherent memory mapped: what it does there is not seen.
  bool has_timelines = false;  // A timeline semaphore was created.
  std::string validation;      // Who checked synchronization in the same run; empty: nobody.
  CapturedPlaces places;
  std::string cut;  // Why the log ends before the application did; empty: it does not.

  // What is printable of it, and not too long. After a thousand names, the rest has one.
  void note(std::string_view what) {
    ++note_count;
    count(what, not_understood);
  }
  void remark(std::string_view what) { count(what, remarks); }
  void note_addressed(const CapturedPlace& dispatch) {
    ++addressed_count;
    places.add_addressed(dispatch);
  }

 private:
  static void count(std::string_view what, std::map<std::string, uint64_t>& names);
};

// A name of the application as one may print it: not too long, and without control characters.
std::string printable(std::string_view text);
// The same of a text of at most so many bytes.
std::string printable_text(std::string_view text, size_t bytes_max);

// What makes the run another one than the application alone: "dry: no dispatch was executed", …;
// lines with their ends, or nothing.
std::string text_of_options(const CaptureSummary& summary);

// Some lines, each with its end.
std::string text_of(const CaptureSummary& summary);

}  // namespace interlock
