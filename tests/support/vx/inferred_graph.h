// A graph and what LayoutInference() makes of it, for tests.
#ifndef TIM_TESTS_SUPPORT_VX_INFERRED_GRAPH_H_
#define TIM_TESTS_SUPPORT_VX_INFERRED_GRAPH_H_

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/vx/vx_graph.h"
#include "tim/transform/layout_inference.h"
#include "tim/transform/permute_vector.h"

namespace tim::testing {

using TensorPtr = std::shared_ptr<vx::Tensor>;
using PvMap = std::map<TensorPtr, std::shared_ptr<transform::IPermuteVector>>;

/// `shape` with its axes permuted: extent i is shape[perm[i]].
vx::ShapeType Permuted(const vx::ShapeType& shape,
                       const std::vector<uint32_t>& perm);
/// The values of a tensor of `shape`, in the order of one so permuted.
std::vector<float> Permuted(const std::vector<float>& values,
                            const vx::ShapeType& shape,
                            const std::vector<uint32_t>& perm);

/// A vector of these axes, of rank 2 to 5.
std::shared_ptr<transform::IPermuteVector> Pv(
    const std::vector<uint32_t>& axes);

/// How many operations of the graph have this name.
int Count(vx::Graph& graph, const std::string& name);

/// 0, 1, 2 ... divided by `by`, around 0.
std::vector<float> Ramp(size_t count, float by = 8);

/// The graph after LayoutInference() in a context of its own, which must
/// succeed.
class InferredGraph {
 public:
  explicit InferredGraph(const std::shared_ptr<vx::Graph>& source,
                         const PvMap& vectors = {},
                         std::shared_ptr<vx::Context> context = HostContext());

  vx::Graph& graph() const { return *graph_; }
  const std::shared_ptr<vx::Graph>& shared() const { return graph_; }
  TensorPtr operator[](const TensorPtr& source) const;

  void Write(const TensorPtr& source, const std::vector<float>& values);
  void Run();
  std::vector<float> Read(const TensorPtr& source);

  int transposes() const { return Count(*graph_, "Transpose"); }

 private:
  std::shared_ptr<vx::Context> context_;
  std::shared_ptr<vx::Graph> graph_;
  std::map<TensorPtr, TensorPtr> tensors_;
};

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_VX_INFERRED_GRAPH_H_
