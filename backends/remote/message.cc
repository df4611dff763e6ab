// A message is its fields one after another, numbers in eight bytes and strings after their size.
// One function names the fields of each, for a writer and a reader that do the same to them.
// Both ends run the same build on one machine, so there is no version to tell.
#include "backends/remote/message.h"

#include <cstdint>
#include <cstring>
#include <limits>

namespace interlock {
namespace {

class FieldWriter {
 public:
  void number(uint64_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  template <typename Enum>
  void choice(Enum value, Enum /*last*/) {
    number(static_cast<uint64_t>(value));
  }

  // A string, or a vector of bytes.
  template <typename Text>
  void text(const Text& text) {
    number(text.size());
    bytes_.append(reinterpret_cast<const char*>(text.data()), text.size());
  }

  template <typename Item, typename Visit>
  void list(const std::vector<Item>& items, uint64_t /*item_bytes*/, const Visit& visit) {
    number(items.size());
    for (const Item& item : items) visit(item);
  }

  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads zeros and empty strings past the end and instead of what cannot be, and remembers that.
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : rest_(bytes) {}

  template <typename Number>
  void number(Number& value) {
    value = static_cast<Number>(number_up_to(std::numeric_limits<Number>::max()));
  }

  // One of an enum up to `last`: nothing else may become one.
  template <typename Enum>
  void choice(Enum& value, Enum last) {
    value = static_cast<Enum>(number_up_to(static_cast<uint64_t>(last)));
  }

  template <typename Text>
  void text(Text& text) {
    const std::string_view taken = take(number_up_to(UINT64_MAX));
    text.assign(taken.begin(), taken.end());
  }

  // Items of at least so many bytes. None, and the message is broken, if they are more than the
  // message has left.
  template <typename Item, typename Visit>
  void list(std::vector<Item>& items, uint64_t item_bytes, const Visit& visit) {
    const uint64_t count = number_up_to(UINT64_MAX);
    is_whole_ = is_whole_ && count <= rest_.size() / item_bytes;
    items.resize(is_whole_ ? count : 0);
    for (Item& item : items) visit(item);
  }

  bool is_at_end() const { return is_whole_ && rest_.empty(); }

 private:
  uint64_t number_up_to(uint64_t max) {
    uint64_t value = 0;
    const std::string_view bytes = take(sizeof value);
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), sizeof value);
    if (value <= max) return value;
    is_whole_ = false;
    return 0;
  }

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

template <class Fields, class Request>
void visit_request(Fields& fields, Request& request) {
  fields.number(request.is_description);
  fields.choice(request.mode, ExecutionMode::kOverlap);
  fields.list(request.schedule.steps, kStepBytes, [&](auto& step) {
    fields.choice(step.kind, StepKind::kDrop);
    fields.number(step.dispatch.index);
    fields.number(step.first_slice);
    fields.number(step.slice_count);
  });
  fields.list(request.schedule.bytes, kStepBytes, [&](auto& bytes) {
    fields.number(bytes.memory.index);
    fields.number(bytes.range.begin);
    fields.number(bytes.range.end);
    fields.choice(bytes.sort, StageAccess::kTransitionWrite);
  });
  fields.text(request.program);
}

template <class Fields, class Reply>
void visit_reply(Fields& fields, Reply& reply) {
  fields.number(reply.availability.is_available);
  fields.text(reply.availability.reason);
  fields.number(reply.has_overlap);
  fields.text(reply.capabilities.device);
  fields.number(reply.capabilities.queue_count);
  fields.number(reply.capabilities.device_queue_count);
  fields.number(reply.capabilities.imports_host_memory);
  fields.number(reply.capabilities.has_byte_access);
  fields.number(reply.capabilities.rounds_correctly);
  fields.number(reply.capabilities.extent_max);
  fields.number(reply.capabilities.operand_bytes_max);
  fields.number(reply.capabilities.binding_count_max);
  fields.number(reply.capabilities.mix_bytes_max);
  fields.text(reply.error);
  fields.choice(reply.error_kind, ErrorKind::kFault);
  for (auto* images : {&reply.image.memories, &reply.image.host_reads}) {
    fields.list(*images, sizeof(uint64_t), [&](auto& bytes) { fields.text(bytes); });
  }
}

}  // namespace

std::string bytes_of(const WorkerRequest& request) {
  FieldWriter writer;
  visit_request(writer, request);
  return writer.take();
}

std::string bytes_of(const WorkerReply& reply) {
  FieldWriter writer;
  visit_reply(writer, reply);
  return writer.take();
}

Result<WorkerRequest> request_of(std::string_view bytes) {
  FieldReader reader(bytes);
  WorkerRequest request;
  visit_request(reader, request);
  if (!reader.is_at_end()) return kNoMessage;
  return request;
}

Result<WorkerReply> reply_of(std::string_view bytes) {
  FieldReader reader(bytes);
  WorkerReply reply;
  visit_reply(reader, reply);
  if (!reader.is_at_end()) return kNoMessage;
  return reply;
}

}  // namespace interlock
