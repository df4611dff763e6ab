#include "simulator/order/in_reference_order.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "encoder/program/check.h"
#include "encoder/program/program_order.h"
#include "simulator/order/queue_order.h"

namespace interlock {
namespace {

// Moves what statements of one kind are to the order of the statements.
template <typename Item>
struct Moved {
  std::vector<Item> items;
  std::vector<uint32_t> from;  // By the new index: the old one.
  std::vector<uint32_t> to;    // By the old index: the new one; UINT32_MAX: it is left out.

  void reserve(size_t count) { to.assign(count, UINT32_MAX); }

  uint32_t add(const std::vector<Item>& old, uint32_t index, StatementId statement) {
    to[index] = static_cast<uint32_t>(items.size());
    from.push_back(index);
    items.push_back(old[index]);
    items.back().statement = statement;
    return to[index];
  }
};

class Reordering {
 public:
  Reordering(const Program& program, const ReferenceOrder& order) : text_(program), out_(program) {
    dispatches_.reserve(program.dispatches.size());
    barriers_.reserve(program.barriers.size());
    lifetimes_.reserve(program.lifetimes.size());
    syncs_.reserve(program.syncs.size());
    out_.statements.clear();
    for (const StatementId statement : order.statements) add(program.statements[statement.index]);
    set_names(order);
    move_references();
    move_accesses();
  }

  Program take() && {
    out_.dispatches = std::move(dispatches_.items);
    out_.barriers = std::move(barriers_.items);
    out_.lifetimes = std::move(lifetimes_.items);
    out_.syncs = std::move(syncs_.items);
    return std::move(out_);
  }

 private:
  void add(Statement statement) {
    const StatementId id(out_.statements.size());
    switch (statement.kind) {
      case StatementKind::kDispatch:
        statement.index = dispatches_.add(text_.dispatches, statement.index, id);
        break;
      case StatementKind::kBarrier:
        statement.index = barriers_.add(text_.barriers, statement.index, id);
        break;
      case StatementKind::kLifetime:
        statement.index = lifetimes_.add(text_.lifetimes, statement.index, id);
        break;
      case StatementKind::kSync:
        statement.index = syncs_.add(text_.syncs, statement.index, id);
        break;
    }
    out_.statements.push_back(statement);
  }

  void set_names(const ReferenceOrder& order) {
    auto names = std::make_shared<TextOrder>();
    names->text_size = static_cast<uint32_t>(text_.statements.size());
    names->statements.reserve(order.statements.size());
    for (const StatementId statement : order.statements) {
      names->statements.push_back(statement.index);
    }
    for (const uint32_t from : dispatches_.from) {
      names->dispatch_numbers.push_back(text_.number_of(DispatchId(size_t{from})));
    }
    names->barriers = barriers_.from;
    names->lifetimes = lifetimes_.from;
    out_.text_order = std::move(names);
  }

  DispatchId moved(DispatchId dispatch) const {
    const uint32_t to = dispatches_.to[dispatch.index];
    return to == UINT32_MAX ? DispatchId() : DispatchId(size_t{to});
  }

  void move_references() {
    for (SyncStep& step : syncs_.items) {
      if (step.kind == SyncKind::kAwait) step.partner = syncs_.to[step.partner];
    }
    std::erase_if(out_.edges, [&](const Edge& edge) { return !moved(edge.to).is_some(); });
    for (Edge& edge : out_.edges) edge = {moved(edge.to), moved(edge.from), edge.is_programmatic};
    const bool is_sorted = std::ranges::is_sorted(out_.edges, {}, &Edge::to);
    if (!is_sorted) std::ranges::stable_sort(out_.edges, {}, &Edge::to);
    for (auto* const list : {&out_.host_dispatches, &out_.uncounted_dispatches}) {
      std::erase_if(*list, [&](DispatchId d) { return !moved(d).is_some(); });
      for (DispatchId& dispatch : *list) dispatch = moved(dispatch);
      std::ranges::sort(*list);
    }
    std::erase_if(out_.host_values,
                  [&](const HostValue& v) { return !moved(v.dispatch).is_some(); });
    for (HostValue& value : out_.host_values) value.dispatch = moved(value.dispatch);
    std::ranges::sort(out_.host_values, {}, &HostValue::dispatch);
    std::erase_if(out_.witness, [&](const Displacement& d) {
      return !moved(d.moved).is_some() || !moved(d.anchor).is_some();
    });
    for (Displacement& displacement : out_.witness) {
      displacement.moved = moved(displacement.moved);
      displacement.anchor = moved(displacement.anchor);
    }
    out_.captures.clear();
    out_.replays.clear();
    out_.expectations.clear();
    move_backwards();
  }

  // A pass stays if its statements still come one after another, and after all dispatches that came
  // before it.
  void move_backwards() {
    if (text_.backwards.empty()) return;
    std::vector<uint32_t> position(text_.statements.size(), UINT32_MAX);
    for (uint32_t i = 0; i < out_.statements.size(); ++i) {
      position[out_.text_order->statements[i]] = i;
    }
    uint32_t forward_end = 0;  // After the dispatches of the text so far.
    uint32_t seen = 0;
    const auto move = [&](Backward& pass) {
      for (; seen < pass.first.index; ++seen) {
        const bool is_dispatch = text_.statements[seen].kind == StatementKind::kDispatch;
        if (!is_dispatch) continue;
        if (position[seen] == UINT32_MAX) return false;
        forward_end = std::max(forward_end, position[seen] + 1);
      }
      if (pass.statement_count == 0) return false;
      const uint32_t first = position[pass.first.index];
      for (uint32_t i = 0; i < pass.statement_count; ++i) {
        if (first == UINT32_MAX || position[pass.first.index + i] != first + i) return false;
      }
      pass.first = StatementId(size_t{first});
      return first >= forward_end;
    };
    std::vector<Backward> moved;
    for (Backward& pass : out_.backwards) {
      if (move(pass)) moved.push_back(std::move(pass));
    }
    out_.backwards = std::move(moved);
  }

  // Those of all dispatches stand one after another, as the dispatches do.
  void move_accesses() {
    out_.accesses.clear();
    for (Dispatch& dispatch : dispatches_.items) {
      const auto moved = text_.accesses_of(dispatch);
      dispatch.first_access = static_cast<uint32_t>(out_.accesses.size());
      out_.accesses.insert(out_.accesses.end(), moved.begin(), moved.end());
    }
  }

  const Program& text_;
  Program out_;
  Moved<Dispatch> dispatches_;
  Moved<Barrier> barriers_;
  Moved<Lifetime> lifetimes_;
  Moved<SyncStep> syncs_;
};

const Statement& statement_in_text(const Program& text, const Program& in_order,
                                   StatementId statement) {
  INTERLOCK_CHECK(in_order.text_order != nullptr);
  return text.statements[in_order.text_order->statements[statement.index]];
}

}  // namespace

Program in_reference_order(const Program& program, const ReferenceOrder& order) {
  Program run = Reordering(program, order).take();
  order_host_statements(run);
  return run;
}

Program reference_run(const Program& program) {
  if (!needs_queue_order(program) || program.text_order != nullptr) return program;
  const ReferenceOrder order = find_reference_order(program);
  return order.is_text_order ? program : in_reference_order(program, order);
}

Program as_in_text(const Program& program) {
  if (program.text_order == nullptr) return program;
  const std::vector<uint32_t>& positions = program.text_order->statements;
  ReferenceOrder order;
  for (size_t i = 0; i < positions.size(); ++i) order.statements.emplace_back(i);
  std::ranges::sort(order.statements, {},
                    [&](StatementId statement) { return positions[statement.index]; });
  Program text = Reordering(program, order).take();
  text.text_order = nullptr;
  return text;
}

DispatchId in_text(const Program& text, const Program& in_order, DispatchId dispatch) {
  const StatementId statement = in_order.dispatch(dispatch).statement;
  return DispatchId(size_t{statement_in_text(text, in_order, statement).index});
}

BarrierId in_text(const Program& text, const Program& in_order, BarrierId barrier) {
  const StatementId statement = in_order.barriers[barrier.index].statement;
  return BarrierId(size_t{statement_in_text(text, in_order, statement).index});
}

LifetimeId in_text(const Program& text, const Program& in_order, LifetimeId lifetime) {
  const StatementId statement = in_order.lifetimes[lifetime.index].statement;
  return LifetimeId(size_t{statement_in_text(text, in_order, statement).index});
}

}  // namespace interlock
