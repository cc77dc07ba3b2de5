// A graph of built-in operators for the tests of passes.
#ifndef TIM_TESTS_SUPPORT_DATA_NETWORK_H_
#define TIM_TESTS_SUPPORT_DATA_NETWORK_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/evaluate.h"
#include "ir/graph.h"
#include "ops/builtin.h"
#include "tests/support/data/conv2d_attributes.h"
#include "tests/support/data/test_tensor.h"

namespace tim::testing {

class Network {
 public:
  using DataType = ir::DataType;
  using TensorDesc = ir::TensorDesc;
  using ValueId = ir::ValueId;
  using Ints = std::vector<int64_t>;

  explicit Network(uint32_t seed = 1) : rng_(seed) {}

  ValueId Input(const TensorDesc& desc) {
    const ValueId id = graph_.AddValue(desc, ir::Role::kInput);
    graph_.AddInput(id);
    return id;
  }
  /// Random numbers.
  ValueId Constant(const TensorDesc& desc) {
    TensorData data = RandomTensor(desc, rng_);
    return graph_.AddConstant(desc, ir::MakeConstant(data.bytes));
  }
  /// Positive ones, for variances.
  ValueId Positive(const Ints& shape) {
    std::vector<float> values = Values<float>(RandomTensor(F32(shape), rng_));
    for (float& value : values) value = std::fabs(value) + 0.25f;
    return graph_.AddConstant(
        F32(shape), ir::MakeConstant(MakeTensor(F32(shape), values).bytes));
  }
  ValueId Scalar(float value) {
    return graph_.AddConstant(F32({1}),
                              ir::MakeConstant(&value, sizeof(value)));
  }
  ValueId Op(const std::string& name, ir::AttributeMap attributes,
             std::vector<ValueId> inputs, DataType type = DataType::kFloat32,
             const ir::Quantization& quantization = {}) {
    TensorDesc desc;
    desc.type = type;
    desc.quantization = quantization;
    const ValueId out = graph_.AddValue(desc);
    graph_.AddNode({.name = name,
                    .schema = ops::BuiltinOperators().Find("tim." + name),
                    .attributes = std::move(attributes),
                    .inputs = std::move(inputs),
                    .outputs = {out},
                    .composite = nullptr});
    return out;
  }
  void Output(ValueId id) { graph_.AddOutput(id); }

  ValueId BatchNorm(ValueId x, const Ints& shape) {
    return Op("BatchNorm", {{"eps", 1e-3}},
              {x, Constant(F32(shape)), Positive(shape), Constant(F32(shape)),
               Constant(F32(shape))});
  }

  std::mt19937& rng() { return rng_; }
  ir::Graph& graph() { return graph_; }

 private:
  std::mt19937 rng_;
  ir::Graph graph_;
};

inline std::vector<TensorData> RandomInputs(const ir::Graph& graph,
                                            std::mt19937& rng) {
  std::vector<TensorData> inputs;
  for (const ir::ValueId id : graph.inputs()) {
    inputs.push_back(RandomTensor(graph.value(id).desc, rng));
  }
  return inputs;
}

/// The graph's outputs by the operators' host references.
inline Result<std::vector<TensorData>> Evaluated(
    const ir::Graph& graph, const std::vector<TensorData>& in) {
  std::vector<ir::ConstTensor> inputs;
  for (const TensorData& tensor : in) {
    inputs.push_back({&tensor.desc, tensor.bytes.data()});
  }
  std::vector<TensorData> out;
  for (const ir::ValueId id : graph.outputs()) {
    const ir::TensorDesc& desc = graph.value(id).desc;
    out.push_back({desc, std::vector<std::byte>(*ir::ByteSize(desc))});
  }
  std::vector<ir::MutableTensor> outputs;
  for (TensorData& tensor : out) {
    outputs.push_back({&tensor.desc, tensor.bytes.data()});
  }
  TIM_RETURN_IF_ERROR(ir::Evaluate(graph, inputs, outputs));
  return out;
}

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_DATA_NETWORK_H_
