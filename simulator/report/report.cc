// The text of a report: it lays sentences out and computes nothing.
#include "simulator/report/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "simulator/barriers/sync_redundancy.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/queue_order.h"
#include "simulator/report/shorter_text.h"
#include "simulator/schedules/displacements.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

namespace {

std::string count_of(uint64_t count, std::string_view singular, std::string_view plural) {
  return fmt::format("{} {}", count, count == 1 ? singular : plural);
}

// True iff the witness lines of `program` give the same schedule as `witness`.
bool is_recorded_schedule(const Program& program, const std::vector<Displacement>& witness) {
  if (program.witness.empty() || program.witness == witness) {
    return !program.witness.empty();
  }
  if (needs_queue_order(program)) return false;
  const HappensBefore order(program);
  const Result<Schedule> recorded = schedule_of(program, order, program.witness);
  const Result<Schedule> shown = schedule_of(program, order, witness);
  return recorded && shown && *recorded == *shown;
}

// Issue order shows it. A destroy that comes too early is no read.
bool finds_poison(const Program& program, const Finding& finding) {
  if (finding.kind != FindingKind::kUseAfterFree || !finding.first.dispatch.is_some()) return false;
  return program.lifetimes[finding.lifetime.index].statement <
         program.dispatch(finding.first.dispatch).statement;
}

// The command that shows the finding; empty if no execution shows it. The witness lines of the file
// are named only if they are another schedule.
std::string replay_command(const Program& program, const Finding& finding,
                           std::string_view file_name) {
  if (finding.kind == FindingKind::kReordered || finds_poison(program, finding)) {
    return fmt::format("interlock run {}", file_name);
  }
  if (finding.witness.empty()) return {};
  std::string command = fmt::format("interlock replay {}", file_name);
  if (is_recorded_schedule(program, finding.witness)) return command;
  for (const Displacement& displacement : finding.witness) {
    command += fmt::format(" --witness=\"{}\"", text_of(program, displacement));
  }
  return command;
}

std::string text_of_redundant_sync(const Program& program, const CheckReport& report,
                                   uint64_t limit) {
  const uint64_t count = report.redundant_sync.size();
  std::string text;
  if (report.unjudged_sync_count > 0) {
    text =
        fmt::format("{} not judged: whether they can go takes more work than the limit.\n",
                    count_of(report.unjudged_sync_count, "piece of sync is", "pieces of sync are"));
  }
  if (count == 0) return text;
  const uint64_t shown = std::min(limit, count);
  for (uint64_t i = 0; i < shown; ++i) {
    const SyncPiece& piece = report.redundant_sync[i];
    text += fmt::format("redundant: {} can go.\n", description_of(program, piece));
    if (piece.is_word()) {
      text += fmt::format("  This does: `{}`.\n", shorter_text_of(program, piece));
    }
    text += fmt::format("  {}\n", reason_of(program, piece));
  }
  if (shown > 0 && shown < count) {
    text += fmt::format("… and {}.\n", count_of(count - shown, "more redundant piece of sync",
                                                "more redundant pieces of sync"));
  }
  text += fmt::format("{}: {} removal adds no finding.{}\n",
                      count_of(count, "redundant piece of sync", "redundant pieces of sync"),
                      count == 1 ? "its" : "each one's",
                      count == 1 ? "" : " Removals interact: check again after each.");
  return text;
}

std::string text_of_redundancy(const Program& program, const CheckReport& report, uint64_t limit) {
  const uint64_t count = report.redundant.size();
  std::string text;
  if (report.unjudged_barrier_count > 0) {
    text = fmt::format("{} not judged: whether they can go takes more work than the limit.\n",
                       count_of(report.unjudged_barrier_count, "barrier is", "barriers are"));
  }
  if (count == 0) return text;
  const uint64_t shown = std::min(limit, count);
  for (uint64_t i = 0; i < shown; ++i) {
    text +=
        fmt::format("redundant: {} can go.\n  {}\n", description_of(program, report.redundant[i]),
                    reason_of(program, report.redundant[i]));
  }
  if (shown > 0 && shown < count) {
    text += fmt::format("… and {}.\n", count_of(count - shown, "more redundant barrier",
                                                "more redundant barriers"));
  }
  text += fmt::format("{} of {}: {} removal adds no hazard.{}\n",
                      count_of(count, "redundant barrier", "redundant barriers"),
                      report.barrier_count, count == 1 ? "its" : "each one's",
                      count == 1 ? "" : " Removals interact: check again after each.");
  return text;
}

std::string text_of_certificate(const Program& program, const CheckReport& report) {
  const auto is_destroy = [](const ForcingPair& pair) { return pair.destroy.is_some(); };
  const bool has_destroy = std::ranges::any_of(report.forcing, is_destroy);
  std::string text = fmt::format(
      "Certificate: {} in disjoint slots, each in need of a barrier of its own; verified.\n",
      has_destroy ? count_of(report.forcing.size(), "conflict or destroy", "conflicts and destroys")
                  : count_of(report.forcing.size(), "conflict", "conflicts"));
  for (const ForcingPair& pair : report.forcing) {
    text += fmt::format("  {} and {}\n", program.description_of(pair.first),
                        is_destroy(pair) ? program.description_of(pair.destroy)
                                         : program.description_of(pair.second));
  }
  return text;
}

std::string text_of_certificate(const Program& program, const WaitBounds& bounds) {
  std::string text;
  const auto add = [&](WaitNeed need, std::string_view why) {
    const std::vector<NeededWait>& waits = bounds.certificate.waits;
    const auto count = static_cast<uint64_t>(std::ranges::count(waits, need, &NeededWait::need));
    if (count == 0) return;
    text += fmt::format("Certificate: {} with nothing between, {}; verified.\n",
                        count_of(count, "conflict", "conflicts"), why);
    for (const NeededWait& wait : waits) {
      if (wait.need != need) continue;
      text += fmt::format("  {} and {}\n", program.description_of(wait.first),
                          program.description_of(wait.second));
    }
  };
  add(WaitNeed::kOwn, bounds.is_of_edges() ? "each in need of an edge of its own"
                                           : "each in need of a wait of its own");
  add(WaitNeed::kJoin, "each in need of one wait more, passed on or not");
  add(WaitNeed::kApart, "each in need of a wait of its own if no queue passes on");
  return text;
}

std::string text_of_no_certificate(const Program& program, const NoWaitBounds& why_not) {
  const std::string text = text_of(program, why_not);
  return text.empty() ? text : text + "\n";
}

// Names a chain that is shorter than the fewest barriers need, its middle left out if it is long.
std::string text_of_chain(const Program& program, const CheckReport& report) {
  constexpr size_t kNamedInFull = 12;
  const std::vector<DispatchId>& chain = report.chain;
  if (chain.empty()) return {};
  std::string names;
  for (size_t i = 0; i < chain.size(); ++i) {
    if (chain.size() > kNamedInFull && i == kNamedInFull / 2) {
      names += fmt::format(", … {} more …", chain.size() - kNamedInFull);
      i = chain.size() - kNamedInFull / 2;
    }
    names += (i == 0 ? "" : ", ") + program.description_of(chain[i]);
  }
  return fmt::format(
      "Another order could do with {} instead of {}: the longest chain of conflicts is {}.\n",
      count_of(report.longest_chain, "barrier", "barriers"), report.fewest_barriers, names);
}

// What is no advice, as it stands after the last dispatch: how much of it there is.
std::string text_of_closing(const CheckReport& report) {
  const uint64_t barrier_count = report.closing.size();
  const uint64_t sync_count = report.closing_sync.size();
  std::string text;
  if (barrier_count > 0) {
    text +=
        fmt::format("{} after the last dispatch: for what comes after this text, and no advice.\n",
                    count_of(barrier_count, "barrier stands", "barriers stand"));
  }
  if (sync_count > 0) {
    text += fmt::format(
        "{} after the last dispatch of {}: for what comes after this text, and no advice.\n",
        count_of(sync_count, "piece of sync stands", "pieces of sync stand"),
        sync_count == 1 ? "its queue" : "their queues");
  }
  return text;
}

// "3 barriers and 4 words of barriers are not judged". Requires: some are not.
std::string unjudged_text(const CheckReport& report) {
  const uint64_t barrier_count = report.unjudged_barrier_count;
  const uint64_t sync_count = report.unjudged_sync_count;
  std::string text;
  if (barrier_count > 0) text = count_of(barrier_count, "barrier", "barriers");
  if (sync_count > 0) {
    text += fmt::format("{}{}", text.empty() ? "" : " and ",
                        report.has_bounds
                            ? count_of(sync_count, "word of a barrier", "words of barriers")
                            : count_of(sync_count, "piece of sync", "pieces of sync"));
  }
  return fmt::format("{} {} not judged", text, barrier_count + sync_count == 1 ? "is" : "are");
}

// "advice: 3 of 9 barriers can go, one at a time; …", or nothing.
std::string text_of_folded_advice(const CheckReport& report) {
  const uint64_t unjudged = report.unjudged_barrier_count + report.unjudged_sync_count;
  std::string text;
  if (!report.redundant.empty()) {
    text = fmt::format("{} of {}{}", report.redundant.size(),
                       count_of(report.barrier_count, "barrier", "barriers"),
                       report.redundant_sync.empty() ? " can go" : "");
  }
  if (!report.redundant_sync.empty()) {
    text += fmt::format(
        "{}{} can go", text.empty() ? "" : " and ",
        report.has_bounds
            ? count_of(report.redundant_sync.size(), "word of a barrier", "words of barriers")
            : count_of(report.redundant_sync.size(), "piece of sync", "pieces of sync"));
  }
  if (unjudged > 0 && !text.empty()) {
    text += fmt::format(", {} not judged", count_of(unjudged, "is", "are"));
  } else if (unjudged > 0) {
    text = unjudged_text(report);
  }
  return text.empty() ? text : fmt::format("advice: {}; --advice says which and why.\n", text);
}

// Of barriers that do together: beside findings, what they do is to add none.
std::string text_of_joint(const CheckReport& report) {
  std::string text = text_of(*report.joint);
  if (text.empty() || report.findings.empty()) return text;
  text.resize(text.size() - 2);
  return text + "; the findings above stay.\n";
}

std::string text_of_advice(const Program& program, const CheckReport& report,
                           const TextLimits& limits) {
  std::string text = limits.folds_advice
                         ? text_of_folded_advice(report)
                         : text_of_redundancy(program, report, limits.redundant) +
                               text_of_redundant_sync(program, report, limits.redundant) +
                               text_of_closing(report);
  if (report.joint && !limits.folds_advice) text += text_of_joint(report);
  if (limits.has_certificate && report.has_bounds) text += text_of_certificate(program, report);
  if (limits.has_certificate) {
    text += report.waits ? text_of_certificate(program, *report.waits)
                         : text_of_no_certificate(program, report.no_waits);
  }
  if (report.findings.empty()) text += text_of_chain(program, report);
  return text;
}

}  // namespace

std::string text_of(const Program& program, const NoWaitBounds& why_not) {
  if (why_not.reason.empty()) return {};
  if (why_not.second.is_some()) {
    return fmt::format(
        "Not certified how few waits or edges would do: this sync orders {} before {}, for which neither "
        "conflicts nor queues ask.",
        program.description_of(why_not.first), program.description_of(why_not.second));
  }
  return fmt::format("Not certified how few waits or edges would do, as {}.", why_not.reason);
}

std::string text_of_finding(const Program& program, const Finding& finding,
                            std::string_view file_name) {
  std::string text = finding.headline + "\n";
  for (const std::string& detail : finding.details) text += "  " + detail + "\n";
  if (!finding.fix.empty()) text += "  Fix: " + finding.fix + "\n";
  const std::string command = replay_command(program, finding, file_name);
  if (!command.empty() && file_name != "-") text += "  Replay: " + command + "\n";
  return text;
}

std::string summary_of(const CheckReport& report, uint64_t known_count) {
  std::string text = count_of(report.dispatch_count, "dispatch", "dispatches");
  if (report.bare_dispatch_count > 0) {
    text += fmt::format(" ({} without accesses)", report.bare_dispatch_count);
  }
  text += fmt::format(", {}, {}", count_of(report.access_count, "access", "accesses"),
                      count_of(report.barrier_count, "barrier", "barriers"));
  if (report.has_bounds) {
    if (report.closing_barrier_count > 0) {
      text += fmt::format(" ({} after the last dispatch)", report.closing_barrier_count);
    }
    text += fmt::format("; fewest for this order {}, longest chain {}; ", report.fewest_barriers,
                        report.longest_chain);
  } else {
    text += fmt::format(
        ", {}, {}, {}; ", count_of(report.sync_count, "sync statement", "sync statements"),
        count_of(report.host_access_count, "access of the host", "accesses of the host"),
        count_of(report.queue_count, "queue", "queues"));
  }
  const std::string known = known_count == 0 ? "" : fmt::format(" beside {} known", known_count);
  if (!report.findings.empty()) {
    text += known.empty() ? count_of(report.findings.size(), "finding", "findings")
                          : count_of(report.findings.size(), "new finding", "new findings") + known;
    if (!report.is_truncated()) return text + ".";
    return text + " so far, and no verdict on the rest: " + text_of(report.truncations) + ".";
  }
  if (report.is_truncated()) {
    return fmt::format("{}{} so far, and no verdict: {}.", text,
                       known.empty() ? "no findings" : "no new finding" + known,
                       text_of(report.truncations));
  }
  if (!known.empty()) return text + "no new finding" + known + ".";
  text += "no findings.";
  if (!report.has_bounds) {
    const std::string waits = report.waits ? text_of(*report.waits) : std::string();
    return waits.empty() ? text : text + " " + waits;
  }
  const uint64_t excess_count = report.excess_barrier_count();
  if (excess_count > 0) {
    text +=
        fmt::format(" {} above the proven minimum.", count_of(excess_count, "barrier", "barriers"));
  } else if (report.fewest_barriers > 0) {
    text += " As few barriers as there can be; proven.";
  }
  return text;
}

namespace {

// Hazards that do not count: those after own reads in full, and how many others are only possible.
std::string text_of_noted(const Program& program, const CheckReport& report,
                          std::string_view file_name, uint64_t limit) {
  std::string text;
  uint64_t possible_count = 0;
  uint64_t own_read_count = 0;
  for (const Finding& finding : report.noted) {
    if (!finding.is_after_own_read) {
      ++possible_count;
      continue;
    }
    if (own_read_count++ < limit) text += text_of_finding(program, finding, file_name);
  }
  if (own_read_count > 0) {
    text += fmt::format(
        "{} not counted: --deny=own-read counts {}.\n",
        count_of(own_read_count, "hazard after own read is", "hazards after own reads are"),
        own_read_count == 1 ? "it" : "them");
  }
  if (possible_count > 0) {
    text += fmt::format(
        "{} not counted: approximate dispatches need not touch these bytes. --possible counts {}.\n",
        count_of(possible_count, "possible hazard is", "possible hazards are"),
        possible_count == 1 ? "it" : "them");
  }
  return text;
}

}  // namespace

std::string text_report(const Program& program, const CheckReport& report,
                        std::string_view file_name, const TextLimits& limits) {
  const uint64_t finding_count = report.findings.size();
  const uint64_t shown = std::min(limits.findings, finding_count);
  std::string text = text_of_advice(program, report, limits);
  for (uint64_t i = 0; i < shown; ++i) {
    text += text_of_finding(program, report.findings[i], file_name);
  }
  if (shown < finding_count) {
    text += fmt::format("… and {}.\n",
                        count_of(finding_count - shown, "more finding", "more findings"));
  }
  text += text_of_noted(program, report, file_name, limits.findings);
  if (report.pair_count > 0) {
    text += fmt::format("{}: RAW {}, WAR {}, WAW {}.\n",
                        count_of(report.pair_count, "hazardous pair", "hazardous pairs"),
                        report.raw_count, report.war_count, report.waw_count);
  }
  return text + summary_of(report, limits.known_findings) + "\n";
}

}  // namespace interlock
