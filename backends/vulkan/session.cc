#include "backends/vulkan/session.h"

#include <utility>

namespace interlock {

Result<std::unique_ptr<Session>> Session::open(const SessionOptions& options) {
  auto session = std::make_unique<Session>();
  auto instance = Instance::create(options.validates);
  if (!instance) return instance.error();
  session->instance = std::move(*instance);
  auto device = Device::create(*session->instance, options.on_device_table);
  if (!device) return device.error();
  session->device = std::move(*device);
  session->pipelines = std::make_unique<Pipelines>(*session->device);
  for (VkQueue handle : session->device->queues()) {
    auto queue = Queue::create(*session->device, handle);
    if (!queue) return queue.error();
    session->queues.push_back(std::move(*queue));
  }
  session->arena = std::make_unique<ArenaMemory>(*session->device, options.always_stages);
  return session;
}

void Session::abandon(std::unique_ptr<Session> session) {
  static auto* const abandoned = new std::vector<std::unique_ptr<Session>>;
  if (session != nullptr) abandoned->push_back(std::move(session));
}

}  // namespace interlock
