// What a program shows of an encoder, made small: a finding in its answer, or that it gives none.
#pragma once

#include <string>

#include "encoder/program/program.h"
#include "encoder/sync/encoder.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/minimize/minimizer.h"

namespace interlock {

// The find of this signature: of a finding that the encoder's answer to `program` had (null: that
// the program has as it stands), or the word of an EncodeFailureKind. An encoder that fails has the
// cause "crash", …; where it does something else this time, or is not asked any more, the find is
// that of find_that_does_not_repeat().
// The run, and the cause of what is no failure, are left open.
// Cost: as minimize_fact(); of programs that an encoder hangs on a dozen are tried.
CampaignFind find_in(const Program& program, const EncoderEntry* encoder,
                     const std::string& signature, const MinimizeOptions& options);

}  // namespace interlock
