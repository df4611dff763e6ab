#include "fuzz/external/opened_pass.h"

#include <string_view>
#include <utility>

#include "encoder/program/check.h"
#include "encoder/program/error_of.h"

namespace interlock {
namespace {

constexpr std::string_view kProcessPrefix = "exec:";
constexpr std::string_view kSummary = "one that is not part of this build";

}  // namespace

Result<std::unique_ptr<OpenedPass>> open_pass(PassKind kind, const std::string& name,
                                              const ExternalOptions& options) {
  INTERLOCK_CHECK(is_external_name(name));
  if (!name.starts_with(kProcessPrefix)) {
    return error_of("the {} '{}' is no process: of libraries there are encoders alone.",
                    word_of(kind), name);
  }
  auto pass = ExecPass::open(kind, {.command = name.substr(kProcessPrefix.size()),
                                    .timeout_seconds = options.exec_timeout_seconds,
                                    .stop = options.stop});
  if (!pass) return pass.error();
  auto opened = std::make_unique<OpenedPass>();
  opened->name = name;
  opened->pass = std::move(*pass);
  opened->planner = {.name = opened->name,
                     .summary = kSummary,
                     .is_broken = false,
                     .plans_encoded = false,
                     .plan = nullptr,
                     .external = opened->pass.get()};
  opened->backward = {.name = opened->name,
                      .summary = kSummary,
                      .is_broken = false,
                      .write = nullptr,
                      .external = opened->pass.get()};
  opened->replay = {.name = opened->name,
                    .summary = kSummary,
                    .is_broken = false,
                    .apply = nullptr,
                    .external = opened->pass.get()};
  return opened;
}

}  // namespace interlock
