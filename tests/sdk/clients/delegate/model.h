// A small TFLite model, and what it computes.
#ifndef DELEGATE_MODEL_H_
#define DELEGATE_MODEL_H_

#include <map>
#include <memory>
#include <vector>

#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/tensor.h"

namespace delegate {

constexpr uint32_t kWidth = 4, kHeight = 4, kIn = 2, kOut = 3;
constexpr uint32_t kPooled = (kWidth / 2) * (kHeight / 2) * kOut;
constexpr uint32_t kUnits = 3;

/// x[h][w][c] -> conv 3x3 SAME -> relu6 -> max pool 2x2 -> dense; y is the sum
/// of the dense layer's results of all runs so far, which a variable keeps.
struct Model {
  std::vector<float> filter;   // [out][h][w][in]
  std::vector<float> bias;     // [out]
  std::vector<float> weights;  // [unit][pooled]
};
Model MakeModel();

/// What one run adds.
std::vector<float> Compute(const Model& model, const std::vector<float>& x);

/// The graph as the delegate builds it: shapes in reverse, so that images are
/// CWHN, which the operations' layout arguments say.
std::shared_ptr<tim::vx::Graph> BuildGraph(
    const std::shared_ptr<tim::vx::Context>& context, const Model& model);

}  // namespace delegate

#endif  // DELEGATE_MODEL_H_
