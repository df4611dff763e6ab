// Scopes for generated programs: scoped barriers in the place of full ones, uniform reads in the
// place of others.
#pragma once

#include "encoder/program/draft.h"
#include "simulator/schedules/choice.h"

namespace interlock {

// A barrier of one to three dependencies. Most order compute work, so that whole programs come out
// clean often enough; the rest is any union of stages and accesses, with operands or without.
// Requires: at least one memory or tensor in `draft`.
BarrierDraft draw_scoped_barrier(const ProgramDraft& draft, Choice& choice);

// Makes most barriers of `draft` scoped, repeats some, and lets some opaque dispatches read as
// uniforms. The draft still builds. Cost: linear.
void give_scopes(ProgramDraft& draft, Choice& choice);

// Lets some opaque dispatches read as uniforms. The draft still builds. Cost: linear.
void give_uniforms(ProgramDraft& draft, Choice& choice);

}  // namespace interlock
