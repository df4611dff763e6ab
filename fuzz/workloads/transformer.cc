#include <fmt/format.h>

#include "fuzz/workloads/forward_pass.h"
#include "fuzz/workloads/models.h"

namespace interlock {
namespace {

constexpr uint64_t kLoraRank = 2;

class Transformer {
 public:
  explicit Transformer(const WorkloadOptions& options)
      : options_(options), rows_(options.rows), cols_(options.cols), pass_(options.seed) {}

  Result<ProgramDraft> run() {
    const uint64_t vocabulary = options_.vocabulary;
    const std::string table = pass_.weight("table", {vocabulary, cols_}, false);
    const std::string ids = pass_.ids("ids", rows_, vocabulary);
    const std::string labels = pass_.ids("labels", rows_, vocabulary);
    std::string h = pass_.apply("embedded", "embedding", {ids, table}, shape());
    for (layer_ = 0; layer_ < options_.layer_count; ++layer_) h = feed_forward(attention(h));
    const std::string n = norm("last", h);
    const std::string logits = pass_.product("logits", n, table, rows_, cols_, vocabulary, true);
    pass_.set_loss(pass_.apply("loss", "cross_entropy", {logits, labels}, {rows_}));
    return pass_.training_run(options_);
  }

 private:
  std::string name(const std::string& part) const { return fmt::format("l{}_{}", layer_, part); }
  std::vector<uint64_t> shape() const { return {rows_, cols_}; }

  std::string projection(const std::string& part, const std::string& x) {
    const std::string w = pass_.weight(name("w" + part), {cols_, cols_}, false);
    return pass_.product(name(part), x, w, rows_, cols_, cols_);
  }

  // x w + (x a) b
  std::string low_rank_projection(const std::string& part, const std::string& x) {
    const std::string full = projection(part + "_full", x);
    const std::string a = pass_.weight(name(part + "_a"), {cols_, kLoraRank}, true);
    const std::string b = pass_.weight(name(part + "_b"), {kLoraRank, cols_}, true);
    const std::string down = pass_.product(name(part + "_down"), x, a, rows_, cols_, kLoraRank);
    const std::string up = pass_.product(name(part + "_up"), down, b, rows_, kLoraRank, cols_);
    return pass_.apply(name(part), "add", {full, up}, shape());
  }

  std::string norm(const std::string& part, const std::string& x) {
    const std::string s = pass_.weight(name(part + "_s"), {cols_}, false);
    return pass_.apply(name(part), "rms_norm", {x, s}, shape());
  }

  std::string attention(const std::string& x) {
    const std::string n = norm("n1", x);
    const std::string q = low_rank_projection("q", n);
    const std::string k = projection("k", n);
    const std::string v = low_rank_projection("v", n);
    const std::string q_turned = pass_.apply(name("q_turned"), "rope", {q}, shape());
    const std::string k_turned = pass_.apply(name("k_turned"), "rope", {k}, shape());
    const std::string scores =
        pass_.product(name("scores"), q_turned, k_turned, rows_, cols_, rows_, true);
    const std::string p = pass_.apply(name("p"), "softmax", {scores}, {rows_, rows_});
    const std::string mixed = pass_.apply(name("mixed"), "matmul_nn", {p, v}, shape());
    return pass_.apply(name("h1"), "add", {projection("o", mixed), x}, shape());
  }

  std::string feed_forward(const std::string& x) {
    const std::string n = norm("n2", x);
    const std::string gate = pass_.apply(name("gate"), "silu", {projection("up", n)}, shape());
    const std::string gated =
        pass_.apply(name("gated"), "mul", {gate, projection("side", n)}, shape());
    return pass_.apply(name("h2"), "add", {projection("down", gated), x}, shape());
  }

  const WorkloadOptions& options_;
  const uint64_t rows_;
  const uint64_t cols_;
  uint64_t layer_ = 0;
  ForwardPass pass_;
};

}  // namespace

Result<ProgramDraft> make_transformer(const WorkloadOptions& options) {
  return Transformer(options).run();
}

}  // namespace interlock
