// Random nodes of operators that reduce several axes.
#ifndef TIM_TESTS_OPS_REDUCTION_REDUCED_NODE_H_
#define TIM_TESTS_OPS_REDUCTION_REDUCED_NODE_H_

#include <algorithm>
#include <string>
#include <vector>

#include "tests/properties/pointwise_cases.h"

namespace tim::testing {

/// Some axes of a tensor of `rank`: in any order, perhaps negative or twice.
inline std::vector<int64_t> RandomAxes(int rank, CaseRng& rng) {
  std::vector<int64_t> axes;
  for (const int axis : rng.Permutation(rank)) {
    if (!axes.empty() && rng.OneIn(2)) continue;
    axes.push_back(rng.OneIn(3) ? axis - rank : axis);
    if (rng.OneIn(8)) axes.push_back(axis);
  }
  return axes;
}

/// `shape` where these axes are 1 or gone.
inline std::vector<int64_t> WithoutAxes(const std::vector<int64_t>& shape,
                                        const std::vector<int64_t>& axes,
                                        bool keep_dims) {
  const auto rank = static_cast<int64_t>(shape.size());
  std::vector<int64_t> out;
  for (int64_t axis = 0; axis < rank; ++axis) {
    const bool reduced = std::any_of(
        axes.begin(), axes.end(),
        [&](int64_t entry) { return (entry + rank) % rank == axis; });
    if (!reduced) out.push_back(shape[static_cast<size_t>(axis)]);
    if (reduced && keep_dims) out.push_back(1);
  }
  if (out.empty()) out.push_back(1);
  return out;
}

/// A node that reduces some axes, named by the attribute `name`, to `outputs`.
inline NodeCase ReducedNode(const std::string& op, const char* name,
                            const std::vector<std::string>& types, int outputs,
                            CaseRng& rng) {
  const TypeNames names = rng.Types(types);
  const auto shape = rng.Shape(1, 5);
  const auto axes = RandomAxes(static_cast<int>(shape.size()), rng);
  const bool keep_dims = rng.OneIn(2);
  NodeCase node = {.op = op,
                   .attributes = {{name, axes}, {"keep_dims", keep_dims}},
                   .inputs = {rng.Desc(names.inputs[0], shape)}};
  const auto reduced = WithoutAxes(shape, axes, keep_dims);
  for (int i = 0; i < outputs; ++i) {
    node.outputs.push_back(rng.Desc(names.outputs[0], reduced));
  }
  return node;
}

/// What all of them refuse.
inline std::vector<IllegalCase> IllegalAxes(const std::string& op,
                                            const char* name, int outputs) {
  const auto f32 = [](std::vector<int64_t> shape) {
    return Desc(ir::DataType::kFloat32, std::move(shape));
  };
  NodeCase legal = {
      .op = op,
      .attributes = {{name, std::vector<int64_t>{0}}, {"keep_dims", false}},
      .inputs = {f32({4, 3})},
      .outputs =
          std::vector<ir::TensorDesc>(static_cast<size_t>(outputs), f32({3}))};
  std::vector<IllegalCase> out = IllegalOperands(legal);
  for (const int64_t axis : {int64_t{2}, int64_t{-3}}) {
    out.push_back({legal, "is outside"});
    out.back().node.attributes.Set(name, std::vector<int64_t>{0, axis});
  }
  out.push_back({legal, "the list of axes is empty"});
  out.back().node.attributes.Set(name, std::vector<int64_t>{});
  out.push_back({legal, name});
  out.back().node.attributes = {{"keep_dims", false}};
  out.push_back({legal, "declared as [5]"});
  out.back().node.outputs[0] = f32({5});
  out.back().node.declared = {true};
  return out;
}

/// One operation for each element of the input.
inline double FlopsPerInput(const NodeCase& node) {
  return static_cast<double>(*node.inputs[0]->shape.NumElements());
}

}  // namespace tim::testing

#endif  // TIM_TESTS_OPS_REDUCTION_REDUCED_NODE_H_
