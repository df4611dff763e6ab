#include "tests/simulator/programs/differentiable_programs.h"

#include <fmt/format.h>

#include <random>
#include <set>
#include <sstream>

#include "encoder/text/parser.h"

namespace interlock {
DifferentiableProgram random_differentiable_program(uint32_t seed, int dispatch_count) {
  std::mt19937 numbers(seed);
  const auto below = [&numbers](size_t n) { return static_cast<size_t>(numbers() % n); };
  const std::string type = fmt::format("f32[{0},{0}]", kSquareExtent);
  DifferentiableProgram program;
  std::string declarations = "interlock 1\n";
  std::string dispatches;
  std::vector<std::string> values;
  for (int i = 0; i < 3; ++i) {
    values.push_back(fmt::format("w{}", i));
    declarations += fmt::format("tensor w{} {} = random({})\n", i, type, i + 1);
  }
  declarations += fmt::format("tensor scales f32[{}] = random(9)\n", kSquareExtent);
  declarations += fmt::format("tensor shifts f32[{}] = random(10)\n", kSquareExtent);
  program.wrt = {"w0", "w1", "w2", "scales", "shifts"};
  for (int i = 0; i < dispatch_count; ++i) {
    // Weights come up often, and the last value nearly always: so most of it reaches the loss.
    const auto any = [&] { return values[below(2) == 0 ? below(3) : below(values.size())]; };
    const std::string last = i == 0 ? any() : values.back();
    const std::string y = fmt::format("t{}", i);
    constexpr const char* kUnary[] = {"silu", "softmax", "copy", "transpose"};
    constexpr const char* kBinary[] = {"matmul_nn", "matmul_nt", "matmul_tn", "add", "mul"};
    std::string dispatch;
    const size_t kind = below(12);
    if (kind < 4) {
      dispatch = fmt::format("{} reads {} writes {}", kUnary[kind], last, y);
    } else if (kind < 9) {
      const bool is_first = below(2) == 0;
      const std::string other = any();
      dispatch = fmt::format("{} reads {} {} writes {}", kBinary[kind - 4], is_first ? last : other,
                             is_first ? other : last, y);
    } else if (kind == 9) {
      dispatch = fmt::format("scale reads {} writes {} factor=-0.5", last, y);
    } else if (kind == 10) {
      dispatch = fmt::format("rms_norm reads {} scales writes {} eps=0.25", last, y);
    } else {
      dispatch = fmt::format("layer_norm reads {} scales shifts writes {} eps=0.25", last, y);
    }
    declarations += fmt::format("tensor {} {}\n", y, type);
    dispatches += fmt::format("op{}: dispatch {}\n", i, dispatch);
    values.push_back(y);
  }
  program.loss = values.back();
  program.text = declarations + dispatches;
  return program;
}

DifferentiableProgram with_adoptions(const DifferentiableProgram& program) {
  std::istringstream lines(program.text);
  std::string declarations;
  std::string statements;
  std::set<std::string> adopted;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("dispatch") == std::string::npos) {
      declarations += line + "\n";
      continue;
    }
    std::istringstream words(line);
    std::string renamed;
    std::string last;
    while (words >> last) {
      renamed += (renamed.empty() ? "" : " ") + (adopted.count(last) > 0 ? "a" + last : last);
      if (last == "writes") {
        words >> last;
        adopted.insert(last);
        declarations += fmt::format("tensor a{0} f32[{1},{1}]\n", last, kSquareExtent);
        statements += renamed + " " + last;
        break;
      }
    }
    std::string attributes;
    std::getline(words, attributes);
    statements += attributes + fmt::format("\nadopt a{0} = {0}\n", last);
  }
  DifferentiableProgram result = program;
  result.text = declarations + statements;
  result.loss = "a" + program.loss;
  return result;
}

Program program_on_squares(const std::vector<std::string>& others, std::string_view dispatches) {
  std::string text = "interlock 1\ntensor x f32[2,2] = random(1)\ntensor w f32[2,2] = random(2)\n";
  for (const std::string& name : others) text += fmt::format("tensor {} f32[2,2]\n", name);
  return parse(text + std::string(dispatches)).value();
}

Backward pass_of(const Program& forward, const Program& program, const BackwardDraft& request) {
  Backward found;
  found.loss = program.find_tensor(request.loss);
  for (const std::string& name : request.wrt) {
    found.wrt.push_back(program.find_tensor(name));
    found.gradients.push_back(program.find_tensor("d_" + name));
  }
  found.first = StatementId(forward.statements.size());
  found.statement_count =
      static_cast<uint32_t>(program.statements.size() - forward.statements.size());
  found.first_tensor = TensorId(forward.tensors.size());
  found.tensor_count = static_cast<uint32_t>(program.tensors.size() - forward.tensors.size());
  return found;
}

}  // namespace interlock
