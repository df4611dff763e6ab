// Queue comparisons: what two methods that share no code say of one program of several queues. Each
// returns a complete sentence where they differ, and nothing where they agree.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/barriers/order_findings.h"
#include "simulator/barriers/sync_pieces.h"
#include "simulator/order/reference_order.h"
#include "simulator/report/check.h"

namespace interlock {

// Of all below, `text` stands as in its text and its signals come in the order of their values;
// `run` is its reference run, and has no deadlock.
using Difference = std::optional<std::string>;

// The reference run against semaphores that count, and deadlocks against the machine of counters.
// Cost: cubic in the statements.
Difference compare_runs(const Program& text, const ReferenceOrder& reference);

// Every byte of every hazard by the clocks, against the search of chains. Requires: `findings` are
// of `text`, all of them. Cost: pairs of accesses times bytes, times a search.
Difference compare_hazards(const Program& text, const OrderFindings& findings);

// What comes before what by the clocks, for each pair of operations and stages, against the machine
// of counters: the later one runs while the earlier one is withheld iff the clocks leave it open.
// Nothing is compared of more than kOrderedPartsMax parts. Cost: a run of the machine for each.
Difference compare_orders(const Program& run);

// The kinds of hazard of each pair of dispatches by the clocks, against the machine with fetches
// and commits of their own: two of theirs on one byte can be reversed iff there is a hazard. What a
// cache of the host holds is no part of the machine, so the host is left out. Nothing is compared
// of more parts than that. Requires: as above. Cost: as above.
Difference compare_reversals(const Program& run);

// Which accesses may be under way where a `destroy` takes place, by the clocks, against the search
// of chains, which looks at all of them by itself.
// Cost: a search for each access of what is destroyed. Defined in queue_comparisons_destroys.cc.
Difference compare_destroys(const Program& text, const Program& run);

// Which sync can go by find_redundant_sync(), words within it apart, against its removal from the
// draft and the search of chains. Values that end count for the first alone: of a program with
// `free` or `destroy` only what can go is compared. Cost: compare_hazards() for each piece.
// Defined, as what follows, in queue_comparisons_advice.cc.
Difference compare_advice(const Program& text, std::span<const SyncPiece> redundant);

// The check as JSON, against the report that it is made of. Cost: linear in the report.
Difference compare_json(const Program& text, const CheckReport& report);

}  // namespace interlock
