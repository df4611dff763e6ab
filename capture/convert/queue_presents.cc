// The part of QueueSync about images of swapchains: who presents reads them.

#include <fmt/format.h>
#include <vulkan/vulkan_core.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "capture/convert/captured_bytes.h"
#include "capture/convert/captured_places.h"
#include "capture/convert/queue_sync.h"

namespace interlock {
namespace {

constexpr std::string_view kPresents = "present";  // The name of the queue.
constexpr uint64_t kPresentsHandle = UINT64_MAX;

// That one image was presented after: it is acquired after as many.
constexpr size_t kPointsMax = 64;

// Presentations of a window that have something to show: a byte of an output each.
constexpr size_t kScreensMax = 1000;

}  // namespace

void QueueSync::set_images(const SwapchainImagesRecord& record, const ObjectState& objects) {
  for (uint32_t i = 0; i < record.images.size(); ++i) {
    images_[{record.swapchain, i}] = objects.image(record.images[i]);
  }
}

std::shared_ptr<CapturedImage> QueueSync::image_of(const PresentableFields& fields) const {
  const auto found = images_.find({fields.swapchain, fields.index});
  return found == images_.end() ? nullptr : found->second;
}

QueueSync::Point QueueSync::read_by_presents(const CapturedImages& images,
                                             const std::vector<Point>& after) {
  Queue& queue = queues_[kPresentsHandle];
  if (queue.name.empty()) {
    queue.name = kPresents;
    handles_[queue.name] = kPresentsHandle;
  }
  const std::string name = queue_name(kPresentsHandle);
  for (const Point& point : after) add_wait(name, point);
  for (const auto& image : images) add_presentation(*image, name);
  const Point read_at{name, ++queue.done};
  add_signal(read_at, kAllStages);
  add_submit(name);
  reads_[queue.done] = images;
  return read_at;
}

void QueueSync::add_presentation(const CapturedImage& image, const std::string& queue) {
  const uint64_t size_bytes = model_size_of(image);
  if (image.memory == nullptr || size_bytes == 0) return;
  DispatchDraft read;
  read.label = fmt::format("{}{}", kPresentedLabel, ++read_count_);
  read.kernel = "Present";
  read.queue = queue;
  const ByteRange bytes{image.offset_bytes, image.offset_bytes + size_bytes};
  read.operands = {writer_.operand({image.memory, bytes, {}}, AccessMode::kRead)};
  // What is shown is an output: else nobody could see that it differs.
  if (reads_.size() < kScreensMax) {
    MemoryDraft screen;
    screen.name = fmt::format("screen{}", read_count_);
    screen.size_bytes = 1;
    writer_.declare(screen);
    OperandDraft shown;
    shown.mode = AccessMode::kWrite;
    shown.name = screen.name;
    shown.slice = ByteRange{0, 1};
    read.operands.push_back(shown);
  }
  writer_.add(read);
}

void QueueSync::apply(const AcquireRecord& record) {
  // Of one that was never presented nobody reads.
  std::vector<Point> points;
  if (const auto found = presented_.find({record.image.swapchain, record.image.index});
      found != presented_.end()) {
    points = std::move(found->second);
    presented_.erase(found);
  }
  if (record.semaphore != 0) semaphores_[record.semaphore].payload->signalled = points;
  if (record.fence != 0) fences_[record.fence].payload->signalled = points;
}

void QueueSync::apply(const PresentRecord& record) {
  std::vector<Point> points;
  for (const uint64_t handle : record.semaphores) {
    const auto found = semaphores_.find(handle);
    if (found == semaphores_.end() || !found->second.payload->signalled) {
      summary_.note("a presentation that waits for what nothing in the log signals");
      continue;
    }
    const std::vector<Point>& signalled = *found->second.payload->signalled;
    points.insert(points.end(), signalled.begin(), signalled.end());
    unsignal(found->second);
  }
  if (points.size() > kPointsMax) {
    summary_.note("a presentation that waits for more than is followed");
    points.resize(kPointsMax);
  }
  // Of a log that does not say which images they are, who acquires one waits for what was waited
  // for.
  CapturedImages images;
  for (const PresentableFields& fields : record.images) {
    const auto image = image_of(fields);
    const bool is_new =
        image != nullptr && std::ranges::count(images, image) == 0 && images.size() < kPointsMax;
    if (is_new) images.push_back(image);
  }
  if (!images.empty()) points = {read_by_presents(images, points)};
  for (const PresentableFields& image : record.images) {
    presented_[{image.swapchain, image.index}] = points;
  }
}

void QueueSync::destroy_swapchain(uint64_t swapchain) {
  const auto erase_of = [&](auto& table) {
    table.erase(table.lower_bound({swapchain, 0}), table.upper_bound({swapchain, UINT32_MAX}));
  };
  erase_of(presented_);
  erase_of(images_);
}

void QueueSync::read_presented_again() {
  const auto reads = std::exchange(reads_, {});
  std::map<uint64_t, Point> again;
  const auto update = [&](std::vector<Point>& points) {
    for (Point& point : points) {
      const auto read = point.queue == kPresents ? reads.find(point.value) : reads.end();
      if (read == reads.end()) continue;
      const auto known = again.find(point.value);
      point = known != again.end()
                  ? known->second
                  : again.emplace(point.value, read_by_presents(read->second, {})).first->second;
    }
  };
  for (auto& [image, points] : presented_) update(points);
  each_payload([&](Payload& payload) {
    if (payload.signalled) update(*payload.signalled);
  });
}

}  // namespace interlock
