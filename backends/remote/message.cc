// A message is its fields one after another, numbers in eight bytes and strings after their size.
// Both ends run the same build on one machine, so there is no version to tell.
#include "backends/remote/message.h"

#include <cstring>

namespace interlock {
namespace {

class FieldWriter {
 public:
  void add(uint64_t number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  void add(std::string_view text) {
    add(uint64_t{text.size()});
    bytes_.append(text);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads zeros and empty strings past the end and instead of what cannot be, and remembers that.
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : rest_(bytes) {}

  uint64_t number() {
    const std::string_view bytes = take(sizeof(uint64_t));
    uint64_t value = 0;
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::string_view text() { return take(number()); }

  // A number up to `max`: an index, a flag or an enum, which nothing else may become.
  uint32_t number_up_to(uint32_t max) {
    const uint64_t value = number();
    if (value <= max) return static_cast<uint32_t>(value);
    is_whole_ = false;
    return 0;
  }
  bool flag() { return number_up_to(1) != 0; }

  template <typename Enum>
  Enum one_of(Enum last) {
    return static_cast<Enum>(number_up_to(static_cast<uint32_t>(last)));
  }

  // The number of items that follow, each of at least so many bytes. 0, and the message is broken,
  // if that is more than the message has left.
  uint64_t count(uint64_t item_bytes) {
    const uint64_t value = number();
    if (value <= rest_.size() / item_bytes) return value;
    is_whole_ = false;
    return 0;
  }
  bool is_at_end() const { return is_whole_ && rest_.empty(); }

 private:
  std::string_view take(uint64_t size_bytes) {
    if (size_bytes > rest_.size()) {
      is_whole_ = false;
      rest_ = {};
      return {};
    }
    const std::string_view taken = rest_.substr(0, size_bytes);
    rest_.remove_prefix(size_bytes);
    return taken;
  }

  std::string_view rest_;
  bool is_whole_ = true;
};

constexpr uint64_t kStepBytes = 4 * sizeof(uint64_t);

const Error kNoMessage{"The worker process and this one do not speak of the same."};

}  // namespace

std::string bytes_of(const WorkerRequest& request) {
  FieldWriter writer;
  writer.add(uint64_t{request.is_description});
  writer.add(static_cast<uint64_t>(request.mode));
  writer.add(uint64_t{request.schedule.steps.size()});
  for (const Step& step : request.schedule.steps) {
    writer.add(static_cast<uint64_t>(step.kind));
    writer.add(uint64_t{step.dispatch.index});
    writer.add(uint64_t{step.first_slice});
    writer.add(uint64_t{step.slice_count});
  }
  writer.add(request.program);
  return writer.take();
}

Result<WorkerRequest> request_of(std::string_view bytes) {
  FieldReader reader(bytes);
  WorkerRequest request;
  request.is_description = reader.flag();
  request.mode = reader.one_of(ExecutionMode::kOverlap);
  request.schedule.steps.resize(reader.count(kStepBytes));
  for (Step& step : request.schedule.steps) {
    step.kind = reader.one_of(StepKind::kCommit);
    step.dispatch = DispatchId{reader.number_up_to(UINT32_MAX)};
    step.first_slice = reader.number_up_to(UINT32_MAX);
    step.slice_count = reader.number_up_to(UINT32_MAX);
  }
  request.program = std::string(reader.text());
  if (!reader.is_at_end()) return kNoMessage;
  return request;
}

std::string bytes_of(const WorkerReply& reply) {
  FieldWriter writer;
  writer.add(uint64_t{reply.availability.is_available});
  writer.add(reply.availability.reason);
  writer.add(uint64_t{reply.has_overlap});
  const Capabilities& capabilities = reply.capabilities;
  writer.add(capabilities.device);
  writer.add(uint64_t{capabilities.queue_count});
  writer.add(uint64_t{capabilities.imports_host_memory});
  writer.add(uint64_t{capabilities.has_byte_access});
  writer.add(uint64_t{capabilities.rounds_correctly});
  writer.add(capabilities.extent_max);
  writer.add(capabilities.operand_bytes_max);
  writer.add(uint64_t{capabilities.binding_count_max});
  writer.add(capabilities.mix_bytes_max);
  writer.add(reply.error);
  writer.add(static_cast<uint64_t>(reply.error_kind));
  writer.add(uint64_t{reply.image.memories.size()});
  for (const std::vector<uint8_t>& memory : reply.image.memories) {
    writer.add(std::string_view(reinterpret_cast<const char*>(memory.data()), memory.size()));
  }
  return writer.take();
}

Result<WorkerReply> reply_of(std::string_view bytes) {
  FieldReader reader(bytes);
  WorkerReply reply;
  reply.availability.is_available = reader.flag();
  reply.availability.reason = std::string(reader.text());
  reply.has_overlap = reader.flag();
  Capabilities& capabilities = reply.capabilities;
  capabilities.device = std::string(reader.text());
  capabilities.queue_count = reader.number_up_to(UINT32_MAX);
  capabilities.imports_host_memory = reader.flag();
  capabilities.has_byte_access = reader.flag();
  capabilities.rounds_correctly = reader.flag();
  capabilities.extent_max = reader.number();
  capabilities.operand_bytes_max = reader.number();
  capabilities.binding_count_max = reader.number_up_to(UINT32_MAX);
  capabilities.mix_bytes_max = reader.number();
  reply.error = std::string(reader.text());
  reply.error_kind = reader.one_of(ErrorKind::kFault);
  reply.image.memories.resize(reader.count(sizeof(uint64_t)));
  for (std::vector<uint8_t>& memory : reply.image.memories) {
    const std::string_view content = reader.text();
    memory.assign(content.begin(), content.end());
  }
  if (!reader.is_at_end()) return kNoMessage;
  return reply;
}

}  // namespace interlock
