// PlaceCertificate: the proof that so many waits are needed where queues order only what their
// barriers do, or join: checked by itself. docs/theory.md, "Waits by places", says why it is one.
#pragma once

#include <cstdint>

#include "encoder/program/program.h"
#include "simulator/barriers/wait_certificate.h"

namespace interlock {

// As prove() of wait_certificate.h, of a certificate that is_by_places: of all sync that orders
// what conflicts and what the queues do by themselves, and nothing else, with waits before
// whatever stages, any has at least certificate.fewest() waits; and at least
// certificate.waits.size() if no queue passes on what it has waited for. Barriers count as of the
// queues: as they stand. Reads operands, queues and barriers, and no signals and waits; shares
// nothing with what finds the pairs but what programs it is about (place_class.h). Requires: as
// there. Cost: squared in the dispatches, times the operands of two; the pairs, squared.
WaitProof prove_by_places(const Program& program, const WaitCertificate& certificate,
                          uint64_t step_limit);

}  // namespace interlock
