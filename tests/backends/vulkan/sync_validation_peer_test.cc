// Khronos synchronization validation as an independent peer: what it says of 2,000 programs against
// what we say. Where the two may differ is known from the program before the layer sees it.
#include <gtest/gtest.h>
#include <volk.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "backends/vulkan/program_lowering.h"
#include "backends/vulkan/session.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "simulator/schedules/schedule.h"
#include "tests/backends/vulkan/sync_validation_peer.h"
#include "tests/backends/vulkan/sync_validation_peer_programs.h"
#include "tests/backends/vulkan/vulkan_device.h"
#include "tests/program_count.h"

namespace interlock::sync_validation_peer_test {
namespace {

// The limits in sync_validation_peer.h are those of this version.
constexpr uint32_t kKnownVersion = VK_MAKE_API_VERSION(0, 1, 3, 239);

constexpr const char* kUnknownVersion = "the layer is not version 1.3.239, whose limits are known";

std::optional<uint32_t> layer_version() {
  uint32_t count = 0;
  vkEnumerateInstanceLayerProperties(&count, nullptr);
  std::vector<VkLayerProperties> layers(count);
  vkEnumerateInstanceLayerProperties(&count, layers.data());
  for (const VkLayerProperties& layer : layers) {
    if (std::strcmp(layer.layerName, "VK_LAYER_KHRONOS_validation") == 0) return layer.specVersion;
  }
  return std::nullopt;
}

// What one message says. The first dispatch is named by the number of its command.
struct SeenMessage {
  FindingKind kind = FindingKind::kReadAfterWrite;
  DispatchId first;
  DispatchId second;
};

// The number after `key`; the test fails if there is none.
uint64_t number_behind(const std::string& text, std::string_view key) {
  const size_t at = text.rfind(key);
  if (at == std::string::npos) {
    ADD_FAILURE() << "no \"" << key << "\" in: " << text;
    return 0;
  }
  return std::strtoull(text.c_str() + at + key.size(), nullptr, 10);
}

FindingKind kind_in(const std::string& text) {
  if (text.starts_with("SYNC-HAZARD-READ-AFTER-WRITE")) return FindingKind::kReadAfterWrite;
  if (text.starts_with("SYNC-HAZARD-WRITE-AFTER-READ")) return FindingKind::kWriteAfterRead;
  EXPECT_TRUE(text.starts_with("SYNC-HAZARD-WRITE-AFTER-WRITE")) << text;
  return FindingKind::kWriteAfterWrite;
}

CommandList commands_of(const Program& program, const DeviceLimits& limits) {
  DeviceLayout layout(program);
  CommandList list;
  HostCopies host(program);
  EXPECT_TRUE(lower_statements({program, limits, layout, list, host}).has_value());
  return list;
}

SeenMessage seen(const std::string& text, const Program& program, const CommandList& list) {
  SeenMessage message{kind_in(text), {}, DispatchId(number_behind(text, "(dispatch "))};
  const uint64_t command = number_behind(text, "seq_no: ");  // From 1 on.
  if (command == 0 || command > list.commands.size()) {
    ADD_FAILURE() << "no such command: " << text;
    return message;
  }
  const Statement& statement = program.statements[list.commands[command - 1].statement];
  EXPECT_EQ(statement.kind, StatementKind::kDispatch) << text;
  message.first = DispatchId(statement.index);
  return message;
}

// Every message is foreseen, and every one that must come is there.
bool are_as_foreseen(std::vector<PeerOperand> foreseen, const std::vector<SeenMessage>& messages) {
  std::stable_partition(foreseen.begin(), foreseen.end(),
                        [](const PeerOperand& operand) { return !operand.may_be_silent; });
  for (const SeenMessage& message : messages) {
    const auto match =
        std::find_if(foreseen.begin(), foreseen.end(), [&](const PeerOperand& operand) {
          const PeerMessage wanted{message.kind, message.first};
          return operand.second == message.second &&
                 std::find(operand.messages.begin(), operand.messages.end(), wanted) !=
                     operand.messages.end();
        });
    if (match == foreseen.end()) return false;
    foreseen.erase(match);
  }
  return std::all_of(foreseen.begin(), foreseen.end(),
                     [](const PeerOperand& operand) { return operand.may_be_silent; });
}

// How the programs come out under one limit.
struct LimitCounts {
  int holds = 0;
  int differs = 0;
  int differs_alone = 0;  // No other limit holds.
};

struct PeerCounts {
  int programs = 0;
  int agree_hazard = 0;  // No limit holds. So does the next.
  int agree_clean = 0;
  int limited_agree = 0;  // A limit holds, and the verdicts are the same all the same.
  int limited_differ = 0;
  int unexplained = 0;  // No limit holds, and the verdicts differ.
  int unforeseen = 0;   // The messages are not those foreseen.
  int message_count = 0;
  std::array<LimitCounts, kPeerLimitCount> limits;
};

class SyncValidationPeer : public OnVulkan {
 protected:
  void SetUp() override {
    OnVulkan::SetUp();
    if (IsSkipped()) return;
    if (vulkan().capabilities().device.find("llvmpipe") == std::string::npos) {
      GTEST_SKIP() << "commands are numbered as on lavapipe, where no copy stages memories";
    }
    auto session = VulkanSession::open({});
    ASSERT_TRUE(session.has_value()) << session.error().message;
    limits_ = (*session)->device->limits();
    version_ = layer_version();
    ASSERT_TRUE(version_.has_value());
  }

  void compare(const PeerProgram& p, PeerCounts& counts) {
    const PeerForecast forecast = forecast_sync_validation(p.program, limits_);
    for (const std::string& sentence : forecast.contradictions) {
      ADD_FAILURE() << sentence << "\n" << p.origin << "\n" << print(p.program);
    }
    vulkan().take_messages();
    const auto image =
        vulkan().run(p.program, reference_order_schedule(p.program), ExecutionMode::kOverlap);
    ASSERT_TRUE(image.has_value()) << image.error().message << "\n" << print(p.program);
    const std::vector<std::string> texts = vulkan().take_messages();
    std::vector<SeenMessage> messages;
    const CommandList list = commands_of(p.program, limits_);
    for (const std::string& text : texts) messages.push_back(seen(text, p.program, list));
    count(forecast, messages, counts);
    const bool is_explained = forecast.has_hazard != messages.empty() || forecast.has_limit();
    const bool is_foreseen = are_as_foreseen(forecast.operands, messages);
    counts.unforeseen += is_foreseen ? 0 : 1;
    if ((is_explained && (is_foreseen || !is_known_version())) || ++failure_count_ > 3) return;
    ADD_FAILURE() << p.origin << "\n" << print(p.program) << testing::PrintToString(texts);
    for (const PeerOperand& operand : forecast.operands) {
      for (const PeerMessage& message : operand.messages) {
        ADD_FAILURE() << "foreseen" << (operand.may_be_silent ? ", perhaps: " : ": ")
                      << word_of(message.kind) << " " << message.first.index << " "
                      << operand.second.index;
      }
    }
  }

  static void count(const PeerForecast& forecast, const std::vector<SeenMessage>& messages,
                    PeerCounts& counts) {
    ++counts.programs;
    counts.message_count += static_cast<int>(messages.size());
    const bool differs = forecast.has_hazard == messages.empty();
    if (!forecast.has_limit()) {
      ++(differs               ? counts.unexplained
         : forecast.has_hazard ? counts.agree_hazard
                               : counts.agree_clean);
      return;
    }
    ++(differs ? counts.limited_differ : counts.limited_agree);
    const bool is_alone = std::count(forecast.limits.begin(), forecast.limits.end(), true) == 1;
    for (size_t i = 0; i < kPeerLimitCount; ++i) {
      if (!forecast.limits[i]) continue;
      LimitCounts& limit = counts.limits[i];
      ++limit.holds;
      limit.differs += differs ? 1 : 0;
      limit.differs_alone += differs && is_alone ? 1 : 0;
    }
  }

  bool is_known_version() const { return version_ == kKnownVersion; }

  DeviceLimits limits_;
  std::optional<uint32_t> version_;
  int failure_count_ = 0;
};

std::string table_of(const PeerCounts& counts) {
  std::string text = fmt::format(
      "{} programs, {} messages\n"
      "no limit holds, both say hazard  {:>5}\n"
      "no limit holds, both say clean   {:>5}\n"
      "a limit holds, same verdict      {:>5}\n"
      "a limit holds, verdicts differ   {:>5}\n"
      "unexplained differences          {:>5}\n"
      "messages not as foreseen         {:>5}\n"
      "limit               holds differs alone\n",
      counts.programs, counts.message_count, counts.agree_hazard, counts.agree_clean,
      counts.limited_agree, counts.limited_differ, counts.unexplained, counts.unforeseen);
  for (size_t i = 0; i < kPeerLimitCount; ++i) {
    const LimitCounts& limit = counts.limits[i];
    text += fmt::format("{:<20}{:>5}{:>8}{:>6}\n", word_of(static_cast<PeerLimit>(i)), limit.holds,
                        limit.differs, limit.differs_alone);
  }
  return text;
}

// The smallest program for each limit: it alone holds, and the verdicts differ.
struct LimitExample {
  PeerLimit limit;
  bool has_hazard;
  std::string_view text;
};

constexpr LimitExample kLimitExamples[] = {
    {PeerLimit::kWriteAfterWrite, true, R"(
dispatch A writes m[0:64]
dispatch B writes m[0:64]
)"},
    {PeerLimit::kReadsAndWrites, true, R"(
dispatch A writes m[0:64]
barrier compute.write -> compute.write
dispatch B updates m[0:64]
)"},
    {PeerLimit::kAtomics, true, R"(
dispatch A atomics m[0:64] atomic=add
dispatch B reads m[0:64]
)"},
    {PeerLimit::kMostRecent, true, R"(
dispatch fill writes m[0:64] value=1
barrier copy.write -> compute.read
dispatch A reads m[0:64]
barrier execution
dispatch fill writes m[0:64] value=2
)"},
    {PeerLimit::kOrderedReader, true, R"(
dispatch A writes m[0:64]
barrier compute.write -> compute.uniform
dispatch B uniform m[0:64]
barrier execution
dispatch C reads m[0:64]
)"},
    {PeerLimit::kWideBinding, false, R"(
dispatch A writes m[0:4]
dispatch B reads m[4:8]
)"},
    {PeerLimit::kComputeCopy, true, R"(
dispatch fill writes m[0:63] value=1
barrier compute.write -> compute.read
dispatch A reads m[0:63]
)"},
    {PeerLimit::kSeveralPhases, true, R"(
dispatch A reads m[0:64]
dispatch B reads m[64:128] m[128:192] m[192:256] m[256:320] m[320:384] m[384:448]
dispatch C writes m[0:64]
)"},
};

TEST_F(SyncValidationPeer, DiffersByEachLimitAlone) {
  if (!is_known_version()) GTEST_SKIP() << kUnknownVersion;
  ASSERT_EQ(std::size(kLimitExamples), kPeerLimitCount);
  for (const LimitExample& example : kLimitExamples) {
    SCOPED_TRACE(word_of(example.limit));
    auto program = parse(fmt::format("interlock 1\nmemory m 512\n{}", example.text));
    ASSERT_TRUE(program.has_value()) << program.error().message;
    PeerCounts counts;
    compare({*program, "an example"}, counts);
    EXPECT_EQ(counts.limits[static_cast<size_t>(example.limit)].differs_alone, 1);
    EXPECT_EQ(counts.message_count > 0, !example.has_hazard);
  }
}

TEST_F(SyncValidationPeer, DiffersFromUsOnlyWhereALimitOfItExplainsIt) {
  constexpr int kProgramCount = 2'000;
  PeerCounts counts;
  for (int i = 0; i < program_count(kProgramCount); ++i) {
    const PeerProgram program = peer_program(static_cast<uint64_t>(i));
    ASSERT_NO_FATAL_FAILURE(compare(program, counts)) << i;
  }
  fmt::print("{}", table_of(counts));
  EXPECT_EQ(counts.unexplained, 0);
  if (!is_known_version()) {
    GTEST_SKIP() << kUnknownVersion;
  }
  EXPECT_EQ(counts.unforeseen, 0);
  if (is_slow_build()) return;  // Too few programs for what follows.
  EXPECT_GT(counts.agree_hazard, counts.programs / 4);
  EXPECT_GT(counts.agree_clean, counts.programs / 4);
  for (size_t i = 0; i < kPeerLimitCount; ++i) {
    // Without it, these differences would be unexplained.
    EXPECT_GT(counts.limits[i].differs_alone, 0) << word_of(static_cast<PeerLimit>(i));
  }
}

}  // namespace
}  // namespace interlock::sync_validation_peer_test
