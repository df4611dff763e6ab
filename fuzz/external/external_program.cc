// The basic idea of judging an answer is to take the sync out of it again and to compare the texts.
#include "fuzz/external/external_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "encoder/program/error_of.h"
#include "encoder/program/names.h"
#include "encoder/program/words.h"
#include "encoder/sync/encoder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"

namespace interlock {
namespace {

// Issues the dispatches alone, and the ends of command buffers.
class NoSync final : public Encoder {
 public:
  void encode(const EncoderDispatch& dispatch, CommandSink& sink) override {
    sink.issue_dispatch(dispatch.id);
  }
  void wait_for_all(CommandSink& /*sink*/) override {}
};

// Issues the dispatches alone, in a given order.
class InOrder final : public Encoder {
 public:
  explicit InOrder(std::vector<DispatchId> order) : order_(std::move(order)) {}

  void encode(const EncoderDispatch& /*dispatch*/, CommandSink& /*sink*/) override {}
  void end_command_buffer(CommandSink& /*sink*/) override {}
  void wait_for_all(CommandSink& /*sink*/) override {}
  void finish(CommandSink& sink) override {
    for (const DispatchId id : order_) sink.issue_dispatch(id);
  }

 private:
  std::vector<DispatchId> order_;
};

uint64_t order_of(const Program& program, size_t dispatch) {
  return program.has_program_order ? program.dispatches[dispatch].order : dispatch;
}

std::string access_comment_of(const Program& program, DispatchId id) {
  std::string comment;
  for (const Access& access : program.declared_accesses_of(id)) {
    comment += fmt::format("{} {} {} {} {}", comment.empty() ? "  #" : ",",
                           access_word(access.mode, program.dispatch(id).atomic_op),
                           program.name(program.memories[access.memory.index].name),
                           access.range.begin, access.range.end);
  }
  return comment;
}

}  // namespace

Program without_sync(const Program& program) {
  NoSync encoder;
  Program result = encode(program, encoder);
  result.expectations.clear();
  return result;
}

std::string access_word(AccessMode mode, AtomicOp op) {
  if (mode == AccessMode::kAtomic) return fmt::format("atomic-{}", word_of(op));
  if (mode == AccessMode::kUpdate) return "update";
  return mode == AccessMode::kWrite ? "write" : "read";
}

std::string question_text(const Program& program) {
  const std::string text = print(program);
  std::string question;
  size_t dispatch = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    question += line;
    // After the label, if there is one.
    const size_t label_end = line.find(": ");
    const std::string_view statement =
        label_end == std::string_view::npos || line.find(' ') < label_end
            ? line
            : line.substr(label_end + 2);
    const bool is_dispatch = statement.starts_with("dispatch ");
    if (is_dispatch) question += access_comment_of(program, DispatchId(dispatch++));
    question += '\n';
  }
  INTERLOCK_CHECK(dispatch == program.dispatches.size());
  return question;
}

Result<std::vector<DispatchId>> dispatches_of(const Program& given, const Program& answer) {
  if (given.dispatches.size() != answer.dispatches.size()) {
    return error_of("The answer has {} dispatches, and the program {}.", answer.dispatches.size(),
                    given.dispatches.size());
  }
  std::map<uint64_t, DispatchId> places;
  for (size_t i = 0; i < given.dispatches.size(); ++i) {
    places.emplace(order_of(given, i), DispatchId(i));
  }
  std::vector<DispatchId> order;
  for (size_t i = 0; i < answer.dispatches.size(); ++i) {
    const auto place = places.find(order_of(answer, i));
    if (place == places.end()) {
      return error_of(
          "Dispatch {} of the answer has order={}, which the program has not, or the "
          "answer twice.",
          i, order_of(answer, i));
    }
    order.push_back(place->second);
    places.erase(place);
  }
  return order;
}

Program in_order(const Program& program, std::vector<DispatchId> order) {
  InOrder encoder(std::move(order));
  Program result = encode(program, encoder);
  result.expectations.clear();
  return result;
}

Result<Success> check_same_text(std::string_view given, std::string_view answer,
                                std::string_view without) {
  while (!given.empty() || !answer.empty()) {
    const auto take_line = [](std::string_view& text) {
      const std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(line.size() + 1, text.size()));
      return line;
    };
    const std::string_view given_line = take_line(given);
    const std::string_view answer_line = take_line(answer);
    if (given_line == answer_line) continue;
    constexpr size_t kShownBytesMax = 200;
    return error_of("Without {} the answer is another program: it has {} where there was {}.",
                    without, in_quotes(answer_line.substr(0, kShownBytesMax)),
                    in_quotes(given_line.substr(0, kShownBytesMax)));
  }
  return Success{};
}

Result<Success> take_answer(const Program& given, Program& answer, const Program& bare,
                            std::string_view without) {
  const auto order = dispatches_of(given, answer);
  if (!order) return order.error();
  std::vector<DispatchId> as_it_stands;
  for (size_t i = 0; i < order->size(); ++i) as_it_stands.emplace_back(i);
  Program plain = in_order(bare, as_it_stands);
  const Program meant = in_order(given, *order);
  plain.has_program_order &= meant.has_program_order || *order != as_it_stands;
  if (auto checked = check_same_text(print(meant), print(plain), without); !checked) return checked;
  answer.has_program_order = meant.has_program_order;
  answer.witness.clear();
  answer.expectations.clear();
  return Success{};
}

Result<Program> answer_of(const Program& given, std::string_view text) {
  ParseOptions options;
  options.reads_one_queue = true;
  Result<Program> answer = parse(text, "<answer>", options);
  if (!answer) return answer.error();
  if (auto taken = take_answer(given, *answer, *answer, "its sync"); !taken) return taken.error();
  return answer;
}

}  // namespace interlock
