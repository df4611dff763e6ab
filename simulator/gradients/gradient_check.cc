// The sum over all paths is found as always, from the loss back: the adjoint of an input grows by
// what the adjoint of the output gives it. What each reader of a tensor adds to its adjoint is its
// contribution. A gradient that differs is taken apart, sum by sum, into terms that are multiples
// of contributions.
#include "simulator/gradients/gradient_check.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "encoder/program/stop.h"
#include "simulator/gradients/gradient_laws.h"
#include "simulator/gradients/gradient_values.h"
#include "simulator/gradients/prime_field.h"

namespace interlock {
namespace {

// How many times a term may count a contribution and still be told.
constexpr uint64_t kMultipleMax = 8;
constexpr size_t kTermsMax = 4096;
constexpr size_t kDoubledMax = 4;
// Of values whose cotangent may be in part what a sum adds: all subsets of readers are tried.
constexpr size_t kReadersMax = 8;
constexpr size_t kOwnersMax = 8;

struct Contribution {
  FieldMatrix element;
  DispatchId dispatch;
};

// A value, and the tensor that holds it.
struct Owner {
  uint32_t value = 0;
  TensorId tensor;
};

// In program order; the number of dispatches if the pass is empty and nothing follows.
uint32_t first_place_of(const Program& program, const GradientValues& values,
                        const Backward& pass) {
  for (size_t i = pass.first.index; i < program.statements.size(); ++i) {
    const Statement& statement = program.statements[i];
    if (statement.kind == StatementKind::kDispatch) {
      return values.place_of(DispatchId(statement.index));
    }
  }
  return static_cast<uint32_t>(program.dispatches.size());
}

class PassCheck {
 public:
  PassCheck(const Program& program, const GradientValues& values, const Backward& pass)
      : program_(program),
        values_(values),
        pass_(pass),
        begin_(first_place_of(program, values, pass)),
        end_(begin_ + pass.statement_count),
        adjoints_(values.count()) {}

  std::vector<GradientFinding> findings() {
    for (const TensorId wrt : pass_.wrt) contributions_[values_.held_at(wrt, begin_)];
    const uint32_t loss = values_.held_at(pass_.loss, begin_);
    adjoints_[loss] = FieldMatrix::filled(FieldElement(1));
    if (const auto found = contributions_.find(loss); found != contributions_.end()) {
      found->second.push_back({FieldMatrix::filled(FieldElement(1)), DispatchId()});
    }
    for (uint32_t place = begin_; place-- > 0;) {
      if (is_stopped()) return {};
      spread(place);
    }
    std::vector<GradientFinding> findings;
    for (size_t i = 0; i < pass_.wrt.size(); ++i) {
      if (is_stopped()) break;
      const uint32_t wrt = values_.held_at(pass_.wrt[i], begin_);
      const uint32_t gradient = values_.held_at(pass_.gradients[i], end_);
      if (values_.value(gradient) == adjoints_[wrt]) continue;
      findings.push_back(explain(i, contributions_[wrt], gradient));
    }
    return findings;
  }

 private:
  void spread(uint32_t place) {
    for_each_contribution(place, [this](uint32_t value, FieldMatrix element, DispatchId dispatch) {
      adjoints_[value] = adjoints_[value] + element;
      const auto found = contributions_.find(value);
      if (found != contributions_.end()) found->second.push_back({element, dispatch});
    });
  }

  // What the dispatch at this place of program order adds to the adjoints of what it reads.
  template <typename Contribute>
  void for_each_contribution(uint32_t place, const Contribute& contribute) {
    const DispatchId id(values_.order()[place]);
    const Dispatch& dispatch = program_.dispatch(id);
    const auto accesses = program_.accesses_of(dispatch);
    read_.clear();
    left_.clear();
    for (size_t i = 0; i < accesses.size(); ++i) {
      read_.push_back(values_.value(values_.read_by(dispatch, i)));
      left_.push_back(values_.value(values_.left_by(dispatch, i)));
    }
    for (size_t o = 0; o < accesses.size(); ++o) {
      const FieldMatrix adjoint = adjoints_[values_.left_by(dispatch, o)];
      if (accesses[o].only_reads() || adjoint.is_zero()) continue;
      for (size_t i = 0; i < accesses.size(); ++i) {
        if (accesses[i].mode == AccessMode::kWrite) continue;
        const auto cotangent = pulled_back(program_, dispatch, read_, left_, static_cast<int>(i),
                                           static_cast<int>(o), adjoint);
        if (cotangent) contribute(values_.read_by(dispatch, i), *cotangent, id);
      }
    }
  }

  // Contributions by what they add, the dispatches of each in reference order.
  static std::map<FieldMatrix, GradientCount> counts_of(std::vector<Contribution> contributions) {
    std::ranges::sort(contributions, {}, &Contribution::dispatch);
    std::map<FieldMatrix, GradientCount> counts;
    for (const Contribution& contribution : contributions) {
      GradientCount& count = counts[contribution.element];
      ++count.expected;
      const bool is_new =
          contribution.dispatch.is_some() &&
          (count.dispatches.empty() || count.dispatches.back() != contribution.dispatch);
      if (is_new) count.dispatches.push_back(contribution.dispatch);
    }
    return counts;
  }

  GradientFinding explain(size_t i, const std::vector<Contribution>& contributions,
                          uint32_t gradient) {
    index_writers();
    GradientFinding finding{.tensor = pass_.wrt[i],
                            .gradient = pass_.gradients[i],
                            .loss = pass_.loss,
                            .writer = writer_of(gradient)};
    std::map<FieldMatrix, GradientCount> counts = counts_of(contributions);
    count_terms(gradient, counts, finding);
    for (auto& [element, count] : counts) {
      if (count.actual == count.expected || element.is_zero()) continue;
      finding.counts.push_back(std::move(count));
    }
    std::ranges::sort(finding.counts, {}, &GradientCount::dispatches);
    find_doubled(finding);
    return finding;
  }

  // Takes the gradient apart.
  void count_terms(uint32_t gradient, std::map<FieldMatrix, GradientCount>& counts,
                   GradientFinding& finding) {
    std::map<FieldMatrix, std::pair<GradientCount*, uint64_t>> multiples;
    for (auto& [element, count] : counts) {
      FieldMatrix multiple;
      for (uint64_t times = 1; times <= kMultipleMax; ++times) {
        multiple = multiple + element;
        multiples.emplace(multiple, std::pair(&count, times));
      }
    }
    std::vector<uint32_t> left = {gradient};
    for (size_t visited = 0; !left.empty() && visited < kTermsMax; ++visited) {
      const uint32_t value = left.back();
      left.pop_back();
      const FieldMatrix element = values_.value(value);
      if (element.is_zero()) continue;
      const DispatchId writer = writer_of(value);
      if (const auto found = multiples.find(element); found != multiples.end()) {
        found->second.first->actual += found->second.second;
        if (writer.is_some()) found->second.first->terms.push_back(writer);
        continue;
      }
      if (!writer.is_some()) continue;
      const Dispatch& dispatch = program_.dispatch(writer);
      if (!only_adds(program_, dispatch)) {
        finding.foreign.push_back(writer);
        continue;
      }
      const auto accesses = program_.accesses_of(dispatch);
      for (size_t a = accesses.size(); a-- > 0;) {
        if (accesses[a].mode != AccessMode::kWrite) left.push_back(values_.read_by(dispatch, a));
      }
    }
  }

  // Sums of this pass of a whole adjoint and what is in it already, whose result is no adjoint.
  void find_doubled(GradientFinding& finding) {
    for (uint32_t place = begin_; place < end_ && finding.doubled.size() < kDoubledMax; ++place) {
      const DispatchId id(values_.order()[place]);
      const Dispatch& dispatch = program_.dispatch(id);
      if (!only_adds(program_, dispatch)) continue;
      const auto accesses = program_.accesses_of(dispatch);
      if (accesses.size() < 2 || accesses[1].mode == AccessMode::kWrite) continue;
      const FieldMatrix first = values_.value(values_.read_by(dispatch, 0));
      const FieldMatrix second = values_.value(values_.read_by(dispatch, 1));
      const FieldMatrix sum = values_.value(values_.left_by(dispatch, accesses.size() - 1));
      if (first.is_zero() || second.is_zero() || !owners_of_adjoint(sum).empty()) continue;
      const std::span<const Owner> owners = owners_of_adjoint(first);
      if (!owners.empty() && first == second) {
        finding.doubled.push_back({id, owners.front().tensor, {}});
      } else if (!add_doubled_part(id, owners, second, finding)) {
        add_doubled_part(id, owners_of_adjoint(second), first, finding);
      }
    }
  }

  // If `term`, which a sum adds to all of the adjoint that the owners share, is what some readers
  // of one of them give it. Returns whether it is.
  bool add_doubled_part(DispatchId sum, std::span<const Owner> owners, FieldMatrix term,
                        GradientFinding& finding) {
    for (const Owner& owner : owners.first(std::min(owners.size(), kOwnersMax))) {
      const std::vector<Contribution>& given = contributions_to(owner.value);
      if (given.size() > kReadersMax) continue;
      for (uint32_t subset = 1; subset < 1u << given.size(); ++subset) {
        FieldMatrix part;
        std::vector<DispatchId> readers;
        for (size_t i = 0; i < given.size(); ++i) {
          if ((subset >> i & 1) == 0) continue;
          part = part + given[i].element;
          if (readers.empty() || readers.back() != given[i].dispatch) {
            readers.push_back(given[i].dispatch);
          }
        }
        if (part != term) continue;
        finding.doubled.push_back({sum, owner.tensor, std::move(readers)});
        return true;
      }
    }
    return false;
  }

  // Of each reader, in program order.
  const std::vector<Contribution>& contributions_to(uint32_t value) {
    if (all_contributions_.empty()) {
      for (uint32_t place = 0; place < begin_; ++place) {
        for_each_contribution(place, [&](uint32_t read, FieldMatrix element, DispatchId reader) {
          all_contributions_[read].push_back({element, reader});
        });
      }
    }
    return all_contributions_[value];
  }

  // The values with this adjoint, in program order. Several have it where `add` passes it on.
  std::span<const Owner> owners_of_adjoint(FieldMatrix adjoint) {
    if (by_adjoint_.empty()) {
      std::vector<bool> is_known(values_.count(), false);
      for (uint32_t place = 0; place < begin_; ++place) {
        const Dispatch& dispatch = program_.dispatches[values_.order()[place]];
        const auto accesses = program_.accesses_of(dispatch);
        for (size_t a = 0; a < accesses.size(); ++a) {
          if (!accesses[a].tensor.is_some()) continue;
          const TensorId root = program_.tensor(accesses[a].tensor).root;
          for (const uint32_t value :
               {values_.read_by(dispatch, a), values_.left_by(dispatch, a)}) {
            if (is_known[value]) continue;
            is_known[value] = true;
            by_adjoint_[adjoints_[value]].push_back({value, root});
          }
        }
      }
    }
    const auto found = by_adjoint_.find(adjoint);
    return found == by_adjoint_.end() ? std::span<const Owner>() : found->second;
  }

  void index_writers() {
    if (!writers_.empty()) return;
    for (uint32_t place = begin_; place < end_; ++place) {
      const DispatchId id(values_.order()[place]);
      const Dispatch& dispatch = program_.dispatch(id);
      const auto accesses = program_.accesses_of(dispatch);
      for (size_t a = 0; a < accesses.size(); ++a) {
        if (!accesses[a].only_reads()) writers_.emplace(values_.left_by(dispatch, a), id);
      }
    }
  }

  // The dispatch of the pass that wrote the value; none if none did.
  DispatchId writer_of(uint32_t value) const {
    const auto found = writers_.find(value);
    return found == writers_.end() ? DispatchId() : found->second;
  }

  const Program& program_;
  const GradientValues& values_;
  const Backward& pass_;
  uint32_t begin_;  // Places in program order.
  uint32_t end_;
  std::vector<FieldMatrix> adjoints_;                            // By value.
  std::map<uint32_t, std::vector<Contribution>> contributions_;  // To values of `wrt`.
  std::map<uint32_t, DispatchId> writers_;                       // By value, in the pass.
  std::map<FieldMatrix, std::vector<Owner>> by_adjoint_;
  std::map<uint32_t, std::vector<Contribution>> all_contributions_;  // By value.
  std::vector<FieldMatrix> read_;
  std::vector<FieldMatrix> left_;
};

}  // namespace

GradientReport check_gradients(const Program& program, const std::vector<Backward>& passes,
                               uint64_t work_limit) {
  GradientReport report;
  if (passes.empty()) return report;
  std::vector<bool> is_given(program.tensors.size(), false);
  for (const Backward& pass : passes) {
    for (uint32_t i = 0; i < pass.tensor_count; ++i) {
      is_given[pass.first_tensor.index + i] = true;
    }
  }
  const GradientValues values(program, is_given);
  uint64_t work = program.dispatches.size();
  for (const Backward& pass : passes) {
    if (is_stopped()) break;
    work += values.count() + values.order().size();
    if (work > work_limit) {
      report.is_truncated = true;
      break;
    }
    for (GradientFinding& finding : PassCheck(program, values, pass).findings()) {
      report.findings.push_back(std::move(finding));
    }
  }
  return report;
}

}  // namespace interlock
