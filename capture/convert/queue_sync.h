// QueueSync: semaphores, fences and the host, as statements of the text format.
//
// Each queue has a timeline of its own, `q0.done`, which rises with each batch that a binary
// semaphore or a fence asks for: a wait for either is a wait for that value. So no binary semaphore
// and no fence, which are used again and again, needs a name. Who presents an image is a queue,
// `present`: it waits, reads the image and signals those who acquire it again. A timeline semaphore
// is one here, too.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "capture/convert/full_waits.h"
#include "capture/convert/object_state.h"
#include "capture/convert/objects.h"
#include "capture/convert/program_writer.h"
#include "capture/convert/summary.h"
#include "capture/log/object_records.h"
#include "capture/log/queue_records.h"
#include "encoder/program/scope.h"

namespace interlock {

using CapturedImages = std::vector<std::shared_ptr<CapturedImage>>;

class QueueSync {
 public:
  // Requires: both outlive this.
  QueueSync(ProgramWriter& writer, CaptureSummary& summary) : writer_(writer), summary_(summary) {}

  // The name of a queue; declares it the first time in each window.
  std::string queue_name(uint64_t queue);
  // Declares it, if this window does not yet. Requires: queue_name() returned it.
  void declare_queue(const std::string& name) { queue_name(handles_.at(name)); }

  // The family of a queue, if it is known.
  std::optional<uint32_t> family_of(uint64_t queue) const;

  void wait(const std::string& queue, const SemaphoreUseFields& use);
  // The signals of a batch, and of `fence` after the last one: 0 is none. Then the submission.
  void end_batch(const std::string& queue, const std::vector<SemaphoreUseFields>& signals,
                 uint64_t fence);

  void apply(const QueueRecord& record);
  void apply(const CreateSemaphoreRecord& record);
  void apply(const ShareSyncRecord& record);
  void apply(const ResetFencesRecord& record);
  void apply(const FenceReachedRecord& record);
  void apply(const SemaphoreReachedRecord& record);
  void apply(const HostSignalRecord& record);
  void apply(const WaitIdleRecord& record);
  void apply(const AcquireRecord& record);
  void apply(const PresentRecord& record);
  // Of a swapchain (queue_presents.cc): without them nobody reads what is presented.
  void set_images(const SwapchainImagesRecord& record, const ObjectState& objects);
  void destroy_semaphore(uint64_t semaphore);
  void destroy_swapchain(uint64_t swapchain);
  void destroy_fence(uint64_t fence);

  // Once, first: for is_idle(), which is false without it.
  void follow_full_waits() { full_waits_.follow(); }
  // The host has waited for all that was submitted.
  bool is_idle() const { return full_waits_.is_full(); }
  // Once the writer has begun the next window. What was signalled before needs no wait any more,
  // and timelines begin with the values that they have. Requires: is_idle().
  void begin_window();

  // At the end of each window: signals what is waited for and never was, as when the application
  // ended first.
  void finish();

 private:
  // A value of the timeline of a queue.
  struct Point {
    std::string queue;
    uint64_t value = 0;
  };

  // What a semaphore or a fence holds: of several, where they were shared.
  struct Payload {
    bool is_timeline = false;
    std::string name;  // Of a timeline.
    // Of a binary one, and of a fence: it is signalled, after these.
    std::optional<std::vector<Point>> signalled;
    bool is_imported = false;  // Others may signal it; of a fence, until it is submitted here.
    bool is_exported = false;  // Of a timeline: likewise.
    uint64_t initial = 0;
    std::set<uint64_t> signals;  // Of a timeline, above `initial`. So the rest.
    uint64_t wait_max = 0;
    uint64_t host_reached = 0;
    uint64_t declared_window = 0;  // The last one that declares it.

    uint64_t signal_max() const { return signals.empty() ? initial : *signals.rbegin(); }
    // Of a timeline: others may signal this value, or one from there to the next of the log.
    bool may_be_of_others(uint64_t value) const {
      return (is_imported || is_exported) && value > initial && !signals.contains(value);
    }
  };

  // A semaphore or a fence.
  struct Holder {
    std::shared_ptr<Payload> payload = std::make_shared<Payload>();
    // What it holds again once it is waited for, or reset; null while that is `payload`.
    std::shared_ptr<Payload> permanent;
  };

  // What was exported as a file.
  struct SharedPayload {
    bool is_fence = false;
    bool is_copy = false;  // Who imports it has what it was then.
    std::shared_ptr<Payload> payload;
  };

  struct Queue {
    std::string name;
    uint64_t device = 0;
    std::optional<uint32_t> family;
    uint64_t declared_window = 0;
    uint64_t done = 0;
    uint64_t host_reached = 0;  // Of `done`.
    uint64_t earlier = 0;       // Of `done`: what windows before this one signalled.
    bool has_work = false;      // Submitted since the host last was idle.
  };

  void add_sync(SyncDraft draft) { writer_.add(std::move(draft)); }
  // One that the host waits for, or signals.
  void add_host_sync(SyncKind kind, const std::string& semaphore, uint64_t value);
  // A binary one was waited for, or a fence reset: it is unsignalled; or what it was before it was
  // imported.
  static void unsignal(Holder& holder);
  // Null if it is not known, or binary.
  Payload* find_timeline(uint64_t semaphore);
  void declare(Payload& timeline);
  // Signals the value. False if the timeline does not rise so, which is noted.
  bool raise(Payload& timeline, uint64_t value);
  Queue& queue_named(const std::string& name);
  void host_waits(Point point);
  // A wait of a queue for a value of another one, if it is not of an earlier window; and the signal
  // of a value, after these stages.
  void add_wait(const std::string& queue, const Point& point, StageMask before = kAllStages);
  void add_wait(const std::string& queue, const std::string& semaphore, uint64_t value,
                StageMask before);
  void add_signal(const Point& point, StageMask after);
  void add_submit(const std::string& queue);
  // Null if it is not known.
  std::shared_ptr<CapturedImage> image_of(const PresentableFields& fields) const;
  // Who presents reads them after these; returns what comes after that.
  Point read_by_presents(const CapturedImages& images, const std::vector<Point>& after);
  void add_presentation(const CapturedImage& image, const std::string& queue);
  // In a window that begins: what nobody who acquires has waited for yet.
  void read_presented_again();
  void note_unmet(const Payload& payload);
  std::shared_ptr<Payload> new_timeline(uint64_t initial);
  // A handle of it is gone, or a file: nobody may have it any more.
  void release(std::shared_ptr<Payload> payload);
  // Of what is shared by files (shared_sync.cc).
  void export_to_file(Holder& holder, const ShareSyncRecord& record);
  void import_file(Holder& holder, const ShareSyncRecord& record);
  // What the file holds, for such a one; null if it is not known.
  std::shared_ptr<Payload> payload_of(const ShareSyncRecord& record, bool is_timeline) const;
  // Gives `visit` each payload that there is; some more than once.
  void each_payload(const std::function<void(Payload&)>& visit);
  void signal_timelines(const std::string& queue, const std::vector<SemaphoreUseFields>& signals);

  ProgramWriter& writer_;
  CaptureSummary& summary_;
  std::map<uint64_t, Queue> queues_;
  std::map<std::string, uint64_t> handles_;  // Of queues, by name.
  std::map<uint64_t, Holder> semaphores_;
  std::map<uint64_t, Holder> fences_;
  std::map<uint64_t, SharedPayload> files_;  // The last ones that were exported, by number.
  bool may_import_own_signals_ = false;      // An export had no file, as it was signalled.
  // What each image of a swapchain was last presented after, by swapchain and position.
  std::map<std::pair<uint64_t, uint32_t>, std::vector<Point>> presented_;
  std::map<std::pair<uint64_t, uint32_t>, std::shared_ptr<CapturedImage>> images_;  // Likewise.
  std::map<uint64_t, CapturedImages> reads_;  // In this window: by the value that they signal.
  uint64_t read_count_ = 0;
  std::map<std::string, uint64_t> unmet_;  // Timelines that are gone, and values waited for.
  uint64_t timeline_count_ = 0;
  FullWaits full_waits_;
};

}  // namespace interlock
