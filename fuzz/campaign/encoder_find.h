// What a program shows of an encoder, made small: a finding in its answer, or that it gives none.
#pragma once

#include <string>
#include <string_view>

#include "encoder/program/program.h"
#include "encoder/sync/encoder.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/minimize/minimizer.h"

namespace interlock {

// Whether it is the word of an EncodeFailureKind.
bool is_failure_word(std::string_view signature);

// The find of this signature: of a finding that the encoder's answer to `program` had (null: that
// the program has as it stands), or the word of an EncodeFailureKind. An encoder that fails has the
// cause "crash", …; one that does something else this time, so that it keeps a state between
// programs or throws dice, has the cause "unrepeatable", and its program is as it was.
// The run, and the cause of what is no failure, are left open.
// Cost: as minimize_fact(); of programs that an encoder hangs on a dozen are tried.
CampaignFind find_in(const Program& program, const EncoderEntry* encoder,
                     const std::string& signature, const MinimizeOptions& options);

}  // namespace interlock
