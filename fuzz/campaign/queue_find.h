// What a program shows of an encoder for several queues, made small. Of one queue encoder_find.h.
#pragma once

#include <cstdint>
#include <string>

#include "encoder/program/draft.h"
#include "encoder/program/program.h"
#include "encoder/queues/queue_encoder.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/judge/signature.h"
#include "fuzz/minimize/minimizer.h"
#include "simulator/facts/fact.h"

namespace interlock {

// As signature_of(); "deadlock" of such.
std::string signature_on_queues(const Program& program, const Fact& fact,
                                SignatureDetail detail = SignatureDetail::kKernels);

// The find of this signature: of a finding that judge_on_queues() has in what the encoder makes of
// `given`, or the word of an EncodeFailureKind. `number` is given to that. An encoder of others
// that does something else this time has the find of find_that_does_not_repeat(). The run, and the
// cause of what is no failure, are left open. Requires: an encoder of this build has the finding.
CampaignFind find_on_queues(const ProgramDraft& given, const QueueEncoderEntry& encoder,
                            uint64_t number, const std::string& signature,
                            const MinimizeOptions& options);

}  // namespace interlock
