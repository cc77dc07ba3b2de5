#include "tests/gradients/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>

#include "compiler/compiler.h"
#include "compiler/differentiate.h"
#include "ir/evaluate.h"
#include "ops/builtin.h"

namespace tim::testing {
namespace {

using ::testing::AssertionFailure;
using ::testing::AssertionResult;
using ::testing::AssertionSuccess;
using Floats = std::vector<float>;
using Tensors = std::vector<Floats>;

constexpr float kStep = 0x1p-7f;
constexpr double kTolerance = 0.02;

int64_t CountOf(const ir::TensorDesc& desc) {
  return desc.shape.NumElements().value_or(0);
}

// Bytes of the type for float values.
std::vector<std::byte> Encoded(const ir::TensorDesc& desc,
                               const Floats& values) {
  std::vector<std::byte> out;
  const auto append = [&](auto value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    out.insert(out.end(), bytes, bytes + sizeof value);
  };
  for (const float value : values) {
    if (desc.type == ir::DataType::kFloat32) append(value);
    if (desc.type == ir::DataType::kInt32) append(static_cast<int32_t>(value));
    if (desc.type == ir::DataType::kBool8) {
      append(static_cast<uint8_t>(value != 0));
    }
  }
  return out;
}

// Sum over outputs of cotangent * output.
double Objective(const ir::Graph& graph, const Tensors& inputs,
                 const Tensors& cotangents) {
  const Tensors outputs = EvaluateFloats(graph, inputs);
  double sum = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    for (size_t k = 0; k < outputs[i].size(); ++k) {
      sum += static_cast<double>(outputs[i][k]) * cotangents[i][k];
    }
  }
  return sum;
}

std::vector<double> CentralDifferences(const ir::Graph& graph, Tensors inputs,
                                       int input, const Tensors& cotangents) {
  std::vector<double> out;
  for (float& value : inputs[input]) {
    const float kept = value;
    value = kept + kStep;
    const double above = Objective(graph, inputs, cotangents);
    value = kept - kStep;
    const double below = Objective(graph, inputs, cotangents);
    value = kept;
    out.push_back((above - below) / (2.0 * kStep));
  }
  return out;
}

AssertionResult IsNear(const Floats& found, const std::vector<double>& expected,
                       const std::string& what) {
  if (found.size() != expected.size()) {
    return AssertionFailure() << what << " has " << found.size()
                              << " elements, expected " << expected.size();
  }
  double largest = 1e-3;
  for (const double value : expected) {
    largest = std::max(largest, std::fabs(value));
  }
  for (size_t i = 0; i < found.size(); ++i) {
    if (std::fabs(found[i] - expected[i]) <= kTolerance * largest) continue;
    return AssertionFailure()
           << what << " is " << found[i] << " at " << i << ", differences give "
           << expected[i] << " (the largest is " << largest << ")";
  }
  return AssertionSuccess();
}

// Inputs whose values are numbers that may be changed.
std::vector<int> FloatInputs(const ir::Graph& graph,
                             const std::vector<int>& wrt) {
  std::vector<int> out = wrt;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const ir::Value& value = graph.value(graph.inputs()[i]);
    if (value.name.rfind("cotangent/", 0) == 0) {
      out.push_back(static_cast<int>(i));
    }
  }
  return out;
}

AssertionResult CheckOnce(const ir::Graph& graph, const Tensors& inputs,
                          const std::vector<int>& wrt, ir::Graph* gradients,
                          Tensors* gradient_inputs) {
  Result<ir::Graph> vjp = compiler::Vjp(graph, ops::BuiltinOperators(), wrt);
  if (!vjp.ok()) return AssertionFailure() << vjp.status().ToString();
  ir::Graph forward = graph;
  const Status inferred =
      compiler::InferGraph(&forward, ops::BuiltinOperators());
  if (!inferred.ok()) return AssertionFailure() << inferred.ToString();
  Tensors cotangents;
  uint32_t seed = 1000;
  for (const ir::ValueId id : forward.outputs()) {
    cotangents.push_back(SpacedValues(
        {.shape = forward.value(id).desc.shape, .low = -1, .high = 1}, seed++));
  }
  *gradient_inputs = inputs;
  gradient_inputs->insert(gradient_inputs->end(), cotangents.begin(),
                          cotangents.end());
  const Tensors found = EvaluateFloats(*vjp, *gradient_inputs);
  *gradients = *std::move(vjp);
  for (size_t i = 0; i < wrt.size(); ++i) {
    AssertionResult near = IsNear(
        found[i], CentralDifferences(forward, inputs, wrt[i], cotangents),
        "the gradient of input " + std::to_string(wrt[i]));
    if (!near) return near << "\n" << gradients->Dump();
  }
  return AssertionSuccess();
}

}  // namespace

std::vector<float> SpacedValues(const GradientInput& input, uint32_t seed) {
  if (!input.values.empty()) return input.values;
  const auto count = static_cast<size_t>(*input.shape.NumElements());
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::minstd_rand random(seed + 1);
  for (size_t i = count; i > 1; --i) {
    std::swap(order[i - 1], order[random() % i]);
  }
  // Steps of 1 / 32 where they fit, a third of one beside those of the inputs
  // before and behind.
  const double room = input.high - input.low;
  const double step = std::min(1.0 / 32, room / static_cast<double>(count));
  const double middle = step == 1.0 / 32
                            ? std::round((input.low + input.high) * 16) / 32
                            : (input.low + input.high) / 2;
  const double stride =
      step == 1.0 / 32
          ? step * std::max(1.0, std::floor(room / step /
                                            static_cast<double>(count)))
          : step;
  std::vector<float> out;
  for (const size_t i : order) {
    const double place =
        static_cast<double>(i) - std::floor(static_cast<double>(count) / 2);
    const double shift = 1.0 / 64 + (seed % 2 == 0 ? 0 : 1.0 / 96);
    out.push_back(static_cast<float>(middle + place * stride +
                                     (step == 1.0 / 32 ? shift : 0)));
  }
  return out;
}

ir::Graph GraphOf(const GradientCase& node) {
  ir::Graph graph("checked");
  ir::Node made;
  made.schema = ops::BuiltinOperators().Find("tim." + node.op);
  made.name = node.op;
  made.attributes = node.attributes;
  int number = 0;
  for (const GradientInput& input : node.inputs) {
    ir::TensorDesc desc;
    desc.type = input.type;
    desc.shape = input.shape;
    const ir::ValueId id = graph.AddValue(desc, ir::Role::kInput,
                                          "input " + std::to_string(number++));
    graph.value(id).is_scalar = input.is_scalar;
    graph.AddInput(id);
    made.inputs.push_back(id);
  }
  for (int i = 0; i < node.outputs; ++i) {
    ir::TensorDesc desc;
    desc.type = ir::DataType::kFloat32;
    if (i == 0) desc.shape = node.declared;
    const ir::ValueId id = graph.AddValue(desc);
    graph.value(id).shape_declared = desc.shape.ranked();
    made.outputs.push_back(id);
    graph.AddOutput(id);
  }
  graph.AddNode(std::move(made));
  return graph;
}

Tensors EvaluateFloats(const ir::Graph& graph, const Tensors& inputs) {
  std::vector<std::vector<std::byte>> bytes;
  std::vector<ir::ConstTensor> read;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const ir::TensorDesc& desc = graph.value(graph.inputs()[i]).desc;
    bytes.push_back(Encoded(desc, inputs.at(i)));
    read.push_back({&desc, bytes.back().data()});
  }
  Tensors out;
  for (const ir::ValueId id : graph.outputs()) {
    out.emplace_back(static_cast<size_t>(CountOf(graph.value(id).desc)));
  }
  std::vector<ir::MutableTensor> written;
  for (size_t i = 0; i < out.size(); ++i) {
    written.push_back({&graph.value(graph.outputs()[i]).desc, out[i].data()});
  }
  const Status status = ir::Evaluate(graph, read, written);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return out;
}

AssertionResult GradientsAgree(const GradientCase& node) {
  ir::Graph graph = GraphOf(node);
  Tensors inputs;
  std::vector<int> wrt;
  for (const GradientInput& input : node.inputs) {
    if (input.wanted) wrt.push_back(static_cast<int>(inputs.size()));
    inputs.push_back(SpacedValues(input, static_cast<uint32_t>(inputs.size())));
  }
  for (int order = 1; order <= node.order; ++order) {
    ir::Graph gradients;
    Tensors gradient_inputs;
    AssertionResult agree =
        CheckOnce(graph, inputs, wrt, &gradients, &gradient_inputs);
    if (!agree) return agree << "\n" << node.op << ", order " << order;
    graph = std::move(gradients);
    inputs = std::move(gradient_inputs);
    wrt = FloatInputs(graph, wrt);
  }
  return AssertionSuccess();
}

}  // namespace tim::testing
