// What a campaign says of a wrong gradient: its signature, and the lines of a file that expect it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/gradients/gradient_check.h"

namespace interlock {

// The gradients of the program's own `backward` statements that are not the sum over all paths.
std::vector<GradientFinding> find_wrong_gradients(const Program& program);

// "gradient-matmul_nn": with the kernel of the first reader that counts wrongly.
std::string gradient_signature_of(const Program& program, const GradientFinding& finding);
bool is_of_gradient(std::string_view signature);

// `program` with an expect line for every finding: the wrong gradients, and the hazards of a
// program without sync. Witness and expect lines that were there are replaced.
Program with_gradient_expectations(const Program& program);

}  // namespace interlock
