// The basic idea is the one loop that every user of a graph writes: copy the next input to the
// static buffer, replay, take what the recording left. Each gradient is added to a sum that starts
// with zeros.
#include "fuzz/generate/replay_generator.h"

#include <string>
#include <utility>
#include <vector>

namespace interlock {
namespace {

class ReplayGenerator {
 public:
  explicit ReplayGenerator(Choice& choice) : choice_(choice) {}

  ProgramDraft run() {
    constexpr uint64_t kExtents[] = {1, 2, 4, 8};
    shape_ = {kExtents[choice_.below(4)]};
    std::vector<Recording> recordings;
    const uint64_t recording_count = choice_.chance(1, 4) ? 2 : 1;
    for (uint64_t i = 0; i < recording_count; ++i) recordings.push_back(record(i));
    const uint64_t replay_count = 1 + choice_.below(4);
    for (uint64_t i = 0; i < replay_count; ++i) {
      replay(recordings[choice_.below(recordings.size())]);
    }
    ProgramDraft draft;
    OutputDraft outputs;
    for (const Recording& recording : recordings) {
      outputs.tensors.insert(outputs.tensors.end(), recording.sums.begin(), recording.sums.end());
    }
    draft.items = std::move(tensors_);
    draft.items.emplace_back(std::move(outputs));
    draft.items.insert(draft.items.end(), statements_.begin(), statements_.end());
    return draft;
  }

 private:
  using enum AccessMode;

  struct Recording {
    std::string name;
    std::string input;                   // The static buffer that it reads.
    std::vector<std::string> gradients;  // Those that it writes.
    std::vector<std::string> sums;       // By gradient.
  };

  std::string tensor(InitialValue initial = {}) {
    std::string name = "t" + std::to_string(tensors_.size());
    tensors_.emplace_back(TensorDraft{.name = name,
                                      .shape = shape_,
                                      .placement = Placement::kUnplaced,
                                      .initial = std::move(initial)});
    return name;
  }

  void dispatch(const std::string& kernel, std::vector<OperandDraft> operands,
                std::vector<std::pair<std::string, std::string>> attributes = {}) {
    statements_.emplace_back(DispatchDraft{.label = "d" + std::to_string(dispatch_count_++),
                                           .kernel = kernel,
                                           .operands = std::move(operands),
                                           .attributes = std::move(attributes)});
  }

  Recording record(size_t number) {
    Recording recording;
    recording.name = "c" + std::to_string(number);
    recording.input = tensor();
    std::vector<std::string> known = {recording.input};
    if (choice_.chance(1, 2)) known.push_back(tensor({InitialKind::kRandom, next_seed_++, {}}));
    const size_t given_count = known.size();
    statements_.emplace_back(CaptureDraft{recording.name});
    const uint64_t count = 1 + choice_.below(4);
    for (uint64_t i = 0; i < count; ++i) record_dispatch(known);
    statements_.emplace_back(EndDraft{});
    for (size_t i = known.size(); i-- > given_count;) {
      const bool is_gradient = recording.gradients.empty() || choice_.chance(1, 3);
      if (!is_gradient) continue;
      recording.gradients.push_back(known[i]);
      recording.sums.push_back(tensor({InitialKind::kZeros, 0, {}}));
    }
    return recording;
  }

  // Makes a new value of those that the recording has so far.
  void record_dispatch(std::vector<std::string>& known) {
    const std::string a = any_of(known);
    const std::string b = any_of(known);
    const std::string y = tensor();
    switch (choice_.below(4)) {
      case 0:
        dispatch("scale", {{kRead, a, {}}, {kWrite, y, {}}}, {{"factor", "0.5"}});
        break;
      case 1:
        dispatch("silu", {{kRead, a, {}}, {kWrite, y, {}}});
        break;
      case 2:
        dispatch("mul", {{kRead, a, {}}, {kRead, b, {}}, {kWrite, y, {}}});
        break;
      default:
        dispatch("copy", {{kRead, a, {}}, {kWrite, y, {}}});
    }
    known.push_back(y);
  }

  void replay(const Recording& recording) {
    const std::string batch = tensor({InitialKind::kRandom, next_seed_++, {}});
    dispatch("copy", {{kRead, batch, {}}, {kWrite, recording.input, {}}});
    statements_.emplace_back(ReplayDraft{recording.name});
    for (size_t i = 0; i < recording.gradients.size(); ++i) {
      if (!choice_.chance(3, 4)) continue;
      dispatch("accumulate",
               {{kRead, recording.gradients[i], {}}, {kUpdate, recording.sums[i], {}}});
    }
    if (choice_.chance(1, 6)) {
      const std::string& read = any_of(choice_.chance(1, 2) ? recording.gradients : recording.sums);
      dispatch("Opaque", {{kRead, read, {}}, {kWrite, tensor(), {}}});
    }
  }

  const std::string& any_of(const std::vector<std::string>& names) {
    return names[choice_.below(names.size())];
  }

  Choice& choice_;
  std::vector<uint64_t> shape_;
  std::vector<ItemDraft> tensors_;
  std::vector<ItemDraft> statements_;
  uint64_t next_seed_ = 1;
  uint32_t dispatch_count_ = 0;
};

}  // namespace

ProgramDraft generate_replays(Choice& choice) { return ReplayGenerator(choice).run(); }

}  // namespace interlock
