#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/mod.h"

namespace tim::testing {

namespace ops = vx::ops;

TIM_CASES(mod) {
  OperatorCases mod = BinaryCases(
      "tim.Mod", 60,
      {ShellOf<ops::Mod>({{"fmod", 0}}), ShellOf<ops::Mod>({{"fmod", 1}}, 1)});
  mod.legal = [legal = mod.legal](CaseRng& rng) {
    NodeCase node = legal(rng);
    node.attributes.Set("fmod", rng.Int(0, 1));
    // Codes of one scale are divided as integers.
    if (node.inputs[0]->type == node.inputs[1]->type && rng.OneIn(2) &&
        !node.inputs[0]->quantization.per_channel()) {
      node.inputs[1]->quantization = node.inputs[0]->quantization;
    }
    return node;
  };
  cases.Add(std::move(mod));
}

}  // namespace tim::testing
