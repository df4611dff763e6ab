// One outline for all kinds: the headline says who reads what and finds what, the details tell the
// history of the bytes, the fix keeps the value for one read longer.
#include "simulator/report/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "simulator/order/reference_order.h"
#include "simulator/report/byte_history.h"
#include "simulator/report/operand_text.h"

namespace interlock {
namespace {

std::string quoted(const Program& program, LifetimeId id) {
  return fmt::format("'{}'", program.text_of(program.lifetimes[id.index]));
}

// "Late (dispatch 4) reads m[0:64] as x", "the end reads m[0:64] as output x".
std::string reading_clause(const Program& program, const LifetimeFinding& found) {
  const std::string bytes = text_of_bytes(program, found.memory, found.bytes);
  if (!found.reader.dispatch.is_some()) {
    return fmt::format("the end of the program reads {} as output {}", bytes,
                       name_of(program, found.tensor));
  }
  const Access& access = access_of(program, found.reader);
  return fmt::format("{} {} {}{}", program.description_of(found.reader.dispatch), verb_of(access),
                     bytes, tensor_clause_of(program, access));
}

std::string reader_of(const Program& program, const LifetimeFinding& found) {
  return found.reader.dispatch.is_some() ? program.description_of(found.reader.dispatch)
                                         : "the end of the program";
}

std::string headline_of(const Program& program, const LifetimeFinding& found) {
  const std::string reading = reading_clause(program, found);
  switch (found.kind) {
    case FindingKind::kClobber:
      return fmt::format("clobber: {} and finds {}, which {} writes there.", reading,
                         name_of(program, found.found),
                         program.description_of(found.overwriter.dispatch));
    case FindingKind::kUninitialized:
      return found.found.is_some()
                 ? fmt::format("uninitialized: {} and finds the initial value of {}.", reading,
                               name_of(program, found.found))
                 : fmt::format("uninitialized: {}, where nobody wrote.", reading);
    default:
      break;
  }
  if (found.is_pending) {
    const bool has_waited = found.ended_at != found.ended_by;
    return fmt::format(
        "use-after-free: {}{} comes {}{} {}.", quoted(program, found.ended_at),
        has_waited ? fmt::format(", for which {} waited,", quoted(program, found.ended_by)) : "",
        place_of(program, found.ended_at),
        executes_after(program, found.reader, found.ended_at)
            ? ", and only then, though issued before it,"
            : " while",
        reading);
  }
  return fmt::format("use-after-free: {}, whose value {} ended {}.", reading,
                     quoted(program, found.ended_by), place_of(program, found.ended_at));
}

// What the bytes were when they last held the tensor that is read: ended, if a lifetime statement
// took it away.
HeldValue end_of(const ByteHistory& history, TensorId tensor) {
  HeldValue last;
  for (const HistoryEvent& event : history.events) {
    if (event.value.owner == tensor) last = event.value;
  }
  return last;
}

bool has_held(const ByteHistory& history, TensorId tensor) {
  return std::any_of(history.events.begin(), history.events.end(),
                     [tensor](const HistoryEvent& event) { return event.value.owner == tensor; });
}

// The statement at which `tensor` let go of the value that others still hold; none: it did not.
LifetimeId let_go_of(const Program& program, const ByteHistory& history, TensorId tensor) {
  LifetimeId found;
  for (const HistoryEvent& event : history.events) {
    const bool is_another = event.kind != HistoryKind::kLifetime;
    const bool is_its_own = !is_another && program.lifetimes[event.lifetime.index].tensor == tensor;
    if (is_another || (is_its_own && event.change == HeldChange::kAdopted)) found = LifetimeId();
    if (is_its_own && event.change == HeldChange::kLetGo) found = event.lifetime;
  }
  return found;
}

bool adopts(const Program& program, TensorId tensor, TensorId source) {
  return std::ranges::any_of(program.lifetimes, [tensor, source](const Lifetime& lifetime) {
    return lifetime.kind == LifetimeKind::kAdopt && lifetime.tensor == tensor &&
           lifetime.source == source;
  });
}

// Keeps a value that `end` takes away before the read, at `late`.
std::string keeping_fix(const Program& program, const LifetimeFinding& found, LifetimeId end,
                        LifetimeId late, TensorId tensor) {
  const std::string reader = reader_of(program, found);
  if (!found.reader.dispatch.is_some()) {
    return fmt::format("leave out {}: {} is an output.", quoted(program, end),
                       name_of(program, found.tensor));
  }
  const bool is_unpinned = program.lifetimes[late.index].kind == LifetimeKind::kUnpin;
  const bool is_reset = program.lifetimes[end.index].kind == LifetimeKind::kReset;
  if (is_reset && !is_unpinned && tensor.is_some()) {
    return fmt::format("pin {} before {}, and unpin it after {}.", name_of(program, tensor),
                       quoted(program, end), reader);
  }
  return fmt::format("put {} after {}.", quoted(program, late), reader);
}

std::string clobber_fix(const Program& program, const LifetimeFinding& found,
                        const ByteHistory& history) {
  const std::string reader = reader_of(program, found);
  const std::string_view wanted = name_of(program, found.tensor);
  const std::string_view taker = name_of(program, found.found);
  if (const HeldValue end = end_of(history, found.tensor); end.is_ended()) {
    std::string text = keeping_fix(program, found, end.ended_by, end.ended_at, found.tensor);
    text.pop_back();
    return fmt::format("{}, and let {} have other bytes.", text, taker);
  }
  if (const LifetimeId late = let_go_of(program, history, found.tensor); late.is_some()) {
    return keeping_fix(program, found, late, late, found.tensor);
  }
  if (adopts(program, found.tensor, found.found)) {
    return fmt::format("copy {} into {} instead of adopting its bytes, which {} writes again.",
                       taker, wanted, program.description_of(found.overwriter.dispatch));
  }
  if (program.tensor(found.found).source == found.tensor) {
    return fmt::format("let {} have bytes of its own: {} still reads {}, which it donates.", taker,
                       reader, wanted);
  }
  if (!has_held(history, found.tensor)) return fmt::format("write {} before {}.", wanted, reader);
  return fmt::format("let {} have other bytes than {}, which {} still reads.", taker, wanted,
                     reader);
}

std::string fix_of(const Program& program, const LifetimeFinding& found,
                   const ByteHistory& history) {
  switch (found.kind) {
    case FindingKind::kClobber:
      return clobber_fix(program, found, history);
    case FindingKind::kUninitialized:
      return fmt::format("write {} before {}, or give it an initial value.",
                         name_of(program, found.tensor), reader_of(program, found));
    default:
      break;
  }
  return found.is_pending
             ? fmt::format("a barrier between {} and {}.", reader_of(program, found),
                           quoted(program, found.ended_at))
             : keeping_fix(program, found, found.ended_by, found.ended_at, found.found);
}

// Of a destroy that does not wait though its tensor is pinned; empty for others, and where the
// work left is too little.
std::string no_wait_sentence(const Program& program, const LifetimeFinding& found,
                             uint64_t& work_left) {
  const bool has_waited = found.ended_at != found.ended_by;
  if (!found.is_pending || has_waited || found.ended_by.index > work_left) return {};
  work_left -= found.ended_by.index;
  const TensorId tensor = program.lifetimes[found.ended_by.index].tensor;
  uint64_t pin_count = 0;
  for (size_t i = 0; i < found.ended_by.index; ++i) {
    const Lifetime& earlier = program.lifetimes[i];
    if (earlier.tensor != tensor) continue;
    if (earlier.kind == LifetimeKind::kPin) ++pin_count;
    if (earlier.kind == LifetimeKind::kUnpin) --pin_count;
  }
  if (pin_count == 0) return {};
  const std::string_view name = name_of(program, tensor);
  return fmt::format(
      "{0} is pinned, but holds no value there: the destroy does not wait for 'unpin {0}'.", name);
}

}  // namespace

Finding explain_lifetime(const Program& program, const LifetimeFinding& found,
                         ExplainContext& context) {
  uint64_t& history_work_left = context.history_work_left;
  const bool is_clobber = found.kind == FindingKind::kClobber;
  Finding finding{place_of(program, found)};
  finding.headline = headline_of(program, found);
  const ByteHistory history =
      history_of(program, found.memory, found.bytes, found.reader.dispatch, history_work_left);
  if (std::string text = text_of(program, found.memory, history); !text.empty()) {
    finding.details.push_back(std::move(text));
  }
  const bool has_two = is_clobber && found.reader.dispatch.is_some();
  if (has_two && !adopts(program, found.tensor, found.found)) {
    for (std::string& sentence : relation_of(program, access_of(program, found.overwriter),
                                             access_of(program, found.reader))) {
      finding.details.push_back(std::move(sentence));
    }
  }
  if (is_clobber && !history.events.empty() && !has_held(history, found.tensor)) {
    finding.details.push_back(
        fmt::format("Nobody has written {} there.", name_of(program, found.tensor)));
  }
  finding.details.push_back(found.is_pending
                                ? "What is destroyed must not be in use any more."
                                : fmt::format("It is so in {}: no barrier repairs this.",
                                              name_of_reference_order(context.order.has_queues())));
  if (std::string text = no_wait_sentence(program, found, history_work_left); !text.empty()) {
    finding.details.push_back(std::move(text));
  }
  finding.fix = fix_of(program, found, history);
  return finding;
}

}  // namespace interlock
