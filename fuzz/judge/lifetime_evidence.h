// What a minimized program must keep of a finding of lifetimes, and how its text says what is
// found.
#pragma once

#include <string>

#include "encoder/program/draft.h"
#include "encoder/program/program.h"
#include "fuzz/judge/signature.h"
#include "simulator/lifetimes/lifetimes.h"

namespace interlock {

// "clobber-reset-scale-silu", "use-after-free-free-silu", "clobber-Opaque-end": kind, what ends the
// value that is read, overwriter, reader. Without kernels: kind and end alone.
std::string lifetime_signature_of(const Program& program, const LifetimeFinding& finding,
                                  SignatureDetail detail);

// The line that expects the finding.
ExpectDraft lifetime_expectation_of(const Program& program, const LifetimeFinding& finding);

}  // namespace interlock
