#include "tests/support/vx/inferred_graph.h"

#include <cstring>

namespace tim::testing {

vx::ShapeType Permuted(const vx::ShapeType& shape,
                       const std::vector<uint32_t>& perm) {
  vx::ShapeType out;
  for (const uint32_t axis : perm) out.push_back(shape[axis]);
  return out;
}

std::vector<float> Permuted(const std::vector<float>& values,
                            const vx::ShapeType& shape,
                            const std::vector<uint32_t>& perm) {
  std::vector<size_t> strides(shape.size(), 1);
  for (size_t i = 1; i < shape.size(); ++i) {
    strides[i] = strides[i - 1] * shape[i - 1];
  }
  std::vector<float> out;
  for (size_t i = 0; i < values.size(); ++i) {
    size_t rest = i;
    size_t from = 0;
    for (const uint32_t axis : perm) {
      from += rest % shape[axis] * strides[axis];
      rest /= shape[axis];
    }
    out.push_back(values[from]);
  }
  return out;
}

namespace {

template <uint32_t R>
std::shared_ptr<transform::IPermuteVector> PvOf(
    const std::vector<uint32_t>& axes) {
  auto vector = std::make_shared<transform::PermuteVector<R>>();
  for (uint32_t i = 0; i < R; ++i) vector->At(i) = axes[i];
  return vector;
}

}  // namespace

std::shared_ptr<transform::IPermuteVector> Pv(
    const std::vector<uint32_t>& axes) {
  switch (axes.size()) {
    case 2:
      return PvOf<2>(axes);
    case 3:
      return PvOf<3>(axes);
    case 4:
      return PvOf<4>(axes);
    default:
      return PvOf<5>(axes);
  }
}

int Count(vx::Graph& graph, const std::string& name) {
  int count = 0;
  for (const auto& operation : graph.OpVector()) {
    count += operation->Name() == name ? 1 : 0;
  }
  return count;
}

std::vector<float> Ramp(size_t count, float by) {
  std::vector<float> out;
  for (size_t i = 0; i < count; ++i) {
    out.push_back((static_cast<float>(i) - static_cast<float>(count) / 2) / by);
  }
  return out;
}

InferredGraph::InferredGraph(const std::shared_ptr<vx::Graph>& source,
                             const PvMap& vectors,
                             std::shared_ptr<vx::Context> context)
    : context_(std::move(context)) {
  const std::string before = source->ErrorMessage();
  auto result = transform::LayoutInference(source, context_, vectors);
  graph_ = result.first;
  tensors_ = result.second;
  EXPECT_EQ(graph_->ErrorMessage(), "");
  EXPECT_EQ(source->ErrorMessage(), before);
}

TensorPtr InferredGraph::operator[](const TensorPtr& source) const {
  const auto found = tensors_.find(source);
  return found != tensors_.end() ? found->second : nullptr;
}

void InferredGraph::Write(const TensorPtr& source,
                          const std::vector<float>& values) {
  testing::Write((*this)[source], values);
}

void InferredGraph::Run() { EXPECT_TRUE(graph_->Run()) << vx::LastError(); }

std::vector<float> InferredGraph::Read(const TensorPtr& source) {
  return testing::Read((*this)[source]);
}

}  // namespace tim::testing
