// One outline for hazards: the headline names kind, accesses and bytes; the details say why nothing
// orders the two, and what makes them share bytes; the fix separates them on all bytes.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "encoder/program/draft_text.h"
#include "simulator/barriers/pair_hazards.h"
#include "simulator/order/reference_order.h"
#include "simulator/report/explain.h"
#include "simulator/report/operand_text.h"

namespace interlock {
namespace {

// Of two unordered dispatches either may run right before the other. If the second one then takes
// the bytes of the value that the first one reads, its read finds another value. A donation says so
// by itself.
std::string clobber_sentence(const Program& program, const Hazard& hazard, bool has_queues) {
  const Access& first = access_of(program, hazard.first);
  const Access& second = access_of(program, hazard.second);
  const bool are_tensors = first.tensor.is_some() && second.tensor.is_some();
  if (hazard.kind != FindingKind::kWriteAfterRead || !are_tensors) return {};
  const TensorId wanted = program.tensor(first.tensor).root;
  const TensorId found = program.tensor(second.tensor).root;
  if (wanted == found || program.tensor(found).source.is_some()) return {};
  return fmt::format(
      "Where {} comes first, {} finds {} instead of {}: a clobber that {} does not show.",
      program.description_of(hazard.second.dispatch), program.description_of(hazard.first.dispatch),
      name_of(program, found), name_of(program, wanted), name_of_reference_order(has_queues));
}

// All that the two conflict on in this way. Where finding it takes too much work, whatever there
// is.
HazardExtent find_extent(const Program& program, const Hazard& hazard, ExplainContext& context) {
  if (context.atoms == nullptr && has_host_atoms(program)) {
    context.atoms = std::make_unique<const WholeAtoms>(program);
  }
  const bool has_atoms = context.atoms != nullptr;
  const Program& judged = has_atoms ? context.atoms->program : program;
  const HappensBefore& order = has_atoms ? context.atoms->order : context.order;
  const DispatchId first = hazard.first.dispatch;
  const DispatchId second = hazard.second.dispatch;
  const uint64_t work =
      uint64_t{program.dispatch(first).access_count} * program.dispatch(second).access_count;
  const bool is_too_wide = order.has_queues() && order.queues().is_too_wide();
  if (is_too_wide || work > context.extent_work_left) {
    return {.bytes = {}, .source = kEverything, .destination = kEverything};
  }
  std::vector<ByteHazards> hazards;
  const uint64_t done = append_pair_hazards(judged, order, first, second, hazards);
  context.extent_work_left -= std::min(done, context.extent_work_left);
  return extent_of(program, hazard.kind, first, second, hazards);
}

// Nothing where the headline names all of it.
std::string extent_sentence(const Program& program, const Hazard& hazard,
                            const HazardExtent& extent) {
  const bool has_bounds = program.dispatch(hazard.first.dispatch).is_approximate ||
                          program.dispatch(hazard.second.dispatch).is_approximate;
  const bool is_all = has_bounds || extent.bytes.empty() ||
                      (extent.bytes.size() == 1 && extent.bytes[0].range == hazard.overlap);
  return is_all ? std::string()
                : fmt::format("In all, the two have this hazard on {}.",
                              text_of_operands(program, extent.bytes));
}

}  // namespace

Finding explain_hazard(const Program& program, const Hazard& hazard, ExplainContext& context) {
  const Access& first = access_of(program, hazard.first);
  const Access& second = access_of(program, hazard.second);
  const std::string first_dispatch = program.description_of(hazard.first.dispatch);
  const std::string second_dispatch = program.description_of(hazard.second.dispatch);
  const uint32_t first_index = hazard.first.dispatch.index;
  const uint32_t second_index = hazard.second.dispatch.index;

  Finding finding{place_of(program, hazard)};
  finding.is_ordered = hazard.is_ordered;
  finding.headline =
      fmt::format("{} hazard: {} {} {}{}, which {} {}{}.", word_of(hazard.kind), second_dispatch,
                  verb_of(second), text_of_bytes(program, first.memory, hazard.overlap),
                  tensor_clause_of(program, second), first_dispatch, verb_of(first),
                  tensor_clause_of(program, first));
  const bool has_scopes = context.order.has_scopes();
  const bool has_queues = context.order.has_queues();
  HazardExtent extent;
  if (has_scopes || has_queues) extent = find_extent(program, hazard, context);
  const MissingDependency missing =
      has_scopes   ? explain_missing(program, context.order.scopes(), hazard, extent)
      : has_queues ? explain_missing_across(program, hazard, extent)
                   : MissingDependency{};
  if (has_scopes || has_queues) {
    finding.details.push_back(missing.reason);
    if (std::string more = extent_sentence(program, hazard, extent); !more.empty()) {
      finding.details.push_back(std::move(more));
    }
  } else if (hazard.is_ordered) {
    finding.details.push_back(fmt::format(
        "A barrier execution orders them but makes nothing visible: what dispatch {} writes is not visible to dispatch {}.",
        first_index, second_index));
  } else {
    finding.details.push_back(
        fmt::format("Nothing orders them: no barrier stands between dispatch {} and dispatch {}.",
                    first_index, second_index));
  }
  for (std::string& sentence : relation_of(program, first, second)) {
    finding.details.push_back(std::move(sentence));
  }
  if (std::string sentence = clobber_sentence(program, hazard, has_queues); !sentence.empty()) {
    finding.details.push_back(std::move(sentence));
  }
  finding.fix =
      has_scopes || has_queues ? missing.fix
      : hazard.kind == FindingKind::kWriteAfterRead
          ? fmt::format("an execution dependency after dispatch {} (a barrier of any kind).",
                        first_index)
          : fmt::format("a full barrier between dispatch {} and dispatch {}.", first_index,
                        second_index);
  return finding;
}

}  // namespace interlock
