#include "fuzz/campaign/remembered_passes.h"

#include "encoder/text/printer.h"

namespace interlock {

Encoding RememberedEncoder::encode(const Program& program) {
  const auto [place, is_new] = answers_.try_emplace(print(program));
  if (is_new) place->second = encode_by(program, encoder_);
  return place->second;
}

Encoding RememberedQueueEncoder::encode(const Program& program, uint32_t queue_count) {
  const auto [place, is_new] = answers_.try_emplace({queue_count, print(program)});
  if (is_new) place->second = encoder_.encode(program, queue_count);
  return place->second;
}

Encoding RememberedPass::apply(const Program& program, const std::string& remark) {
  const auto [place, is_new] = answers_.try_emplace({remark, print(program)});
  if (is_new) place->second = pass_.apply(program, remark);
  return place->second;
}

RememberedChain::RememberedChain(const PassChain& chain) : chain_(chain) {
  if (chain.encoder != nullptr && chain.encoder->external != nullptr) {
    encoder_ = std::make_unique<RememberedEncoder>(*chain.encoder);
    encoder_entry_ = *chain.encoder;
    encoder_entry_.external = encoder_.get();
    chain_.encoder = &encoder_entry_;
  }
  if (chain.planner != nullptr && chain.planner->external != nullptr) {
    planner_ = std::make_unique<RememberedPass>(*chain.planner->external);
    planner_entry_ = *chain.planner;
    planner_entry_.external = planner_.get();
    chain_.planner = &planner_entry_;
  }
  if (chain.backward != nullptr && chain.backward->external != nullptr) {
    backward_ = std::make_unique<RememberedPass>(*chain.backward->external);
    backward_entry_ = *chain.backward;
    backward_entry_.external = backward_.get();
    chain_.backward = &backward_entry_;
  }
  if (chain.replay != nullptr && chain.replay->external != nullptr) {
    replay_ = std::make_unique<RememberedPass>(*chain.replay->external);
    replay_entry_ = *chain.replay;
    replay_entry_.external = replay_.get();
    chain_.replay = &replay_entry_;
  }
}

}  // namespace interlock
