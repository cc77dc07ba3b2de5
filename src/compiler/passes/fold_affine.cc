#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/passes/passes.h"
#include "ir/node_descs.h"

namespace tim::compiler {
namespace {

using ir::Graph;
using ir::Node;

constexpr int kWeights = 1;
constexpr int kBias = 2;

bool IsFloat32(const Graph& graph, const std::vector<ir::ValueId>& values) {
  return std::all_of(values.begin(), values.end(), [&](ir::ValueId id) {
    return id == ir::kNone ||
           graph.value(id).desc.type == ir::DataType::kFloat32;
  });
}

// An operator of one output, all in float32 and of known rank, whose device
// nobody has chosen.
bool IsPlainFloat(const Module& module, const Node& node) {
  return !node.composite && node.outputs.size() == 1 &&
         node.outputs[0] != ir::kNone && !node.inputs.empty() &&
         std::count(node.inputs.begin(), node.inputs.end(), ir::kNone) == 0 &&
         IsFloat32(module.graph, node.inputs) &&
         IsFloat32(module.graph, node.outputs) &&
         HasRankedOperands(module.graph, node) && !IsPinned(module, node.id);
}

const float* FloatsOf(const ir::Value& constant) {
  return reinterpret_cast<const float*>(constant.constant->bytes.data());
}

bool IsConstant(const Graph& graph, ir::ValueId id) {
  return graph.value(id).constant != nullptr;
}

// How the node's weights and bias stand, where they can change.
std::optional<ir::SumChannels> ChannelsOf(const Module& module,
                                          const Node& node) {
  const Graph& graph = module.graph;
  if (!IsPlainFloat(module, node) || !node.schema->sum_channels ||
      node.inputs.size() <= kWeights ||
      !IsConstant(graph, node.inputs[kWeights])) {
    return std::nullopt;
  }
  if (node.inputs.size() > kBias && !IsConstant(graph, node.inputs[kBias])) {
    return std::nullopt;
  }
  return node.schema->sum_channels(ir::NodeDescs(graph, node).view());
}

// The node that alone reads `value`, if that is an affine function of it.
struct Reader {
  ir::NodeId node = ir::kNone;
  ir::ChannelAffine affine;
};
std::optional<Reader> AffineReaderOf(const Module& module, ir::ValueId value) {
  const Graph& graph = module.graph;
  const std::vector<ir::Use>& uses = graph.value(value).uses;
  if (uses.size() != 1 || graph.IsLiveOut(value)) return std::nullopt;
  const Node& node = graph.node(uses[0].node);
  if (!IsPlainFloat(module, node) || !node.schema->channel_affine) {
    return std::nullopt;
  }
  std::vector<ir::ConstTensor> constants;
  for (const ir::ValueId id : node.inputs) {
    const ir::Value& input = graph.value(id);
    constants.push_back(
        {&input.desc, input.constant ? input.constant->bytes.data() : nullptr});
  }
  auto affine =
      node.schema->channel_affine(ir::NodeDescs(graph, node).view(), constants);
  if (!affine || affine->input != uses[0].index) return std::nullopt;
  return Reader{node.id, *std::move(affine)};
}

// Factors and summands for each of `channels`.
ir::ChannelAffine Expanded(ir::ChannelAffine affine, int64_t channels) {
  if (affine.axis >= 0) return affine;
  affine.scales.assign(channels, affine.scales[0]);
  affine.offsets.assign(channels, affine.offsets[0]);
  return affine;
}

ir::ValueId AddFloats(Graph& graph, ir::TensorDesc desc, std::string name,
                      const std::vector<float>& values) {
  return graph.AddConstant(
      std::move(desc),
      ir::MakeConstant(values.data(), values.size() * sizeof(float)),
      std::move(name));
}

void RemoveIfUnused(Graph& graph, ir::ValueId id) {
  if (graph.value(id).uses.empty() && !graph.IsLiveOut(id)) {
    graph.RemoveValue(id);
  }
}

void ReplaceConstant(Graph& graph, ir::NodeId id, int input,
                     const std::vector<float>& values) {
  const ir::ValueId old = graph.node(id).inputs[input];
  const ir::Value& value = graph.value(old);
  graph.SetInput(id, input, AddFloats(graph, value.desc, value.name, values));
  RemoveIfUnused(graph, old);
}

void ScaleWeights(Graph& graph, ir::NodeId id, int axis,
                  const std::vector<float>& scales) {
  const ir::Value& weights = graph.value(graph.node(id).inputs[kWeights]);
  const ir::Shape& shape = weights.desc.shape;
  const int64_t step = shape.Product(0, axis);
  const float* const old = FloatsOf(weights);
  std::vector<float> values(old, old + shape.Product(0, shape.rank()));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] *= scales[static_cast<int64_t>(i) / step % shape[axis]];
  }
  ReplaceConstant(graph, id, kWeights, values);
}

void ChangeBias(Graph& graph, ir::NodeId id, const ir::ChannelAffine& affine) {
  std::vector<float> values = affine.offsets;
  if (graph.node(id).inputs.size() > kBias) {
    const float* const old =
        FloatsOf(graph.value(graph.node(id).inputs[kBias]));
    for (size_t c = 0; c < values.size(); ++c) {
      values[c] = old[c] * affine.scales[c] + affine.offsets[c];
    }
    return ReplaceConstant(graph, id, kBias, values);
  }
  ir::TensorDesc desc;
  desc.type = ir::DataType::kFloat32;
  desc.shape = ir::Shape({static_cast<int64_t>(values.size())});
  const ir::ValueId bias = AddFloats(graph, std::move(desc), "", values);
  graph.node(id).inputs.push_back(ir::kNone);
  graph.SetInput(id, kBias, bias);
}

bool HasOtherThan(const std::vector<float>& values, float neutral) {
  return std::any_of(values.begin(), values.end(),
                     [&](float value) { return value != neutral; });
}

// Whether weights and bias are as many as the affine function has channels.
bool Fits(const Graph& graph, const Node& node, const ir::SumChannels& channels,
          const ir::ChannelAffine& affine) {
  if (affine.axis >= 0 && affine.axis != channels.axis) return false;
  const ir::Shape& output = graph.value(node.outputs[0]).desc.shape;
  const ir::Shape& weights = graph.value(node.inputs[kWeights]).desc.shape;
  const int64_t count = output[channels.axis];
  if (weights[channels.weights_axis] != count) return false;
  if (node.inputs.size() > kBias) {
    return graph.value(node.inputs[kBias]).desc.shape.NumElements() == count;
  }
  return !HasOtherThan(affine.offsets, 0.0f) ||
         node.schema->InputArity(node.attributes).limit > kBias;
}

// Lets the node compute what the reader of its output makes of that; false
// where there is no such reader.
bool FoldOne(Module& module, ir::NodeId id) {
  Graph& graph = module.graph;
  const auto channels = ChannelsOf(module, graph.node(id));
  if (!channels) return false;
  const ir::ValueId sum = graph.node(id).outputs[0];
  const auto reader = AffineReaderOf(module, sum);
  if (!reader || !Fits(graph, graph.node(id), *channels, reader->affine)) {
    return false;
  }
  const ir::ValueId result = graph.node(reader->node).outputs[0];
  if (graph.value(result).desc.shape != graph.value(sum).desc.shape) {
    return false;
  }
  const ir::ChannelAffine affine =
      Expanded(reader->affine, graph.value(sum).desc.shape[channels->axis]);
  if (HasOtherThan(affine.scales, 1.0f)) {
    ScaleWeights(graph, id, channels->weights_axis, affine.scales);
  }
  if (graph.node(id).inputs.size() > kBias ||
      HasOtherThan(affine.offsets, 0.0f)) {
    ChangeBias(graph, id, affine);
  }
  const std::vector<ir::ValueId> operands = graph.node(reader->node).inputs;
  graph.RemoveNode(reader->node);
  graph.SetOutput(id, 0, result);
  for (const ir::ValueId operand : operands) {
    if (graph.HasValue(operand)) RemoveIfUnused(graph, operand);
  }
  return true;
}

}  // namespace

Status FoldAffine(Module& module) {
  for (const ir::NodeId id : module.graph.NodeIds()) {
    if (!module.graph.HasNode(id)) continue;
    while (FoldOne(module, id)) {
    }
  }
  return OkStatus();
}

}  // namespace tim::compiler
