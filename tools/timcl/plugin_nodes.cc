// Makes nodes, their content, and what is expected of them.
#include "tools/timcl/plugin_nodes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/half.h"
#include "compiler/compiler.h"
#include "ir/evaluate.h"
#include "ir/op_schema.h"

namespace tim::tool {
namespace {

ir::TensorDesc DescOf(ir::DataType type, std::vector<int64_t> dims) {
  ir::TensorDesc desc;
  desc.type = type;
  desc.shape = ir::Shape(std::move(dims));
  if (type == ir::DataType::kUint8) {
    desc.quantization = ir::Quantization::PerTensor(0.05f, 3);
  }
  return desc;
}

std::vector<float> Floats(CheckedPlugin& plugin, int64_t count) {
  return RandomFloats(plugin, static_cast<size_t>(count));
}

// Element `i` of random content.
void Fill(CheckedPlugin& plugin, const ir::TensorDesc& desc, Bytes* bytes) {
  const size_t count = bytes->size();
  if (desc.type == ir::DataType::kFloat32) {
    const auto floats = Floats(plugin, static_cast<int64_t>(count / 4));
    std::memcpy(bytes->data(), floats.data(), floats.size() * 4);
  } else if (desc.type == ir::DataType::kFloat16) {
    const auto floats = Floats(plugin, static_cast<int64_t>(count / 2));
    for (size_t i = 0; i < floats.size(); ++i) {
      const uint16_t half = FloatToHalf(floats[i]);
      std::memcpy(bytes->data() + 2 * i, &half, sizeof(half));
    }
  } else {
    for (size_t i = 0; i < count; ++i) {
      // Small integers, in the lowest byte of each element.
      const auto size = static_cast<size_t>(ir::Info(desc.type).bits + 7) / 8;
      (*bytes)[i] = i % size == 0
                        ? static_cast<std::byte>(plugin.random() % 100)
                        : std::byte{0};
    }
  }
}

class CaseMaker {
 public:
  CaseMaker(CheckedPlugin& plugin, const ir::OpRegistry& operators,
            const std::string& op)
      : plugin_(plugin),
        operators_(operators),
        op_(op),
        schema_(operators.Find(op)) {}

  std::vector<NodeCase> All() {
    if (schema_ == nullptr) return {};
    static constexpr ir::DataType kTypes[] = {
        ir::DataType::kFloat32, ir::DataType::kFloat16, ir::DataType::kInt32,
        ir::DataType::kUint8};
    for (const ir::DataType type : kTypes) {
      for (const int64_t extent : {1, 31, 32, 33, 100}) {
        for (int rank = 1; rank <= 4; ++rank) {
          std::vector<int64_t> dims(static_cast<size_t>(rank), 2);
          dims[0] = extent;
          if (rank > 1) dims[1] = 3;
          Same(type, dims);
        }
        if (op_ == "tim.Conv2d") Convolution(type, extent);
        if (op_ == "tim.FullyConnected") Products(type, extent);
      }
    }
    return std::move(cases_);
  }

 private:
  // All inputs of one shape.
  void Same(ir::DataType type, const std::vector<int64_t>& dims) {
    if (schema_->inputs.required > 3) return;
    ir::Graph graph("case");
    std::vector<ir::ValueId> inputs;
    for (int i = 0; i < std::max(1, schema_->inputs.required); ++i) {
      inputs.push_back(Input(&graph, DescOf(type, dims)));
    }
    Finish(std::move(graph), std::move(inputs), type, {},
           ir::Shape(dims).ToString());
  }

  void Convolution(ir::DataType type, int64_t extent) {
    if (type != ir::DataType::kFloat32) return;
    for (const int64_t kernel : {1, 3}) {
      ir::Graph graph("case");
      const ir::ValueId x = Input(&graph, DescOf(type, {extent, 7, 5, 2}));
      const ir::ValueId w = Constant(&graph, {kernel, kernel, 5, 6});
      const ir::ValueId b = Constant(&graph, {6});
      Finish(std::move(graph), {x, w, b}, type, {{"padding", int64_t{2}}},
             StrCat("[", extent, ", 7, 5, 2] by ", kernel, " x ", kernel));
    }
  }

  void Products(ir::DataType type, int64_t extent) {
    if (type != ir::DataType::kFloat32) return;
    ir::Graph graph("case");
    const ir::ValueId x = Input(&graph, DescOf(type, {extent, 3}));
    const ir::ValueId w = Constant(&graph, {extent, 9});
    const ir::ValueId b = Constant(&graph, {9});
    Finish(std::move(graph), {x, w, b}, type, {}, StrCat("[", extent, ", 3]"));
  }

  ir::ValueId Input(ir::Graph* graph, const ir::TensorDesc& desc) {
    const ir::ValueId id = graph->AddValue(desc, ir::Role::kInput);
    graph->value(id).shape_declared = true;
    graph->AddInput(id);
    return id;
  }
  ir::ValueId Constant(ir::Graph* graph, std::vector<int64_t> dims) {
    const ir::TensorDesc desc = DescOf(ir::DataType::kFloat32, std::move(dims));
    const auto floats = Floats(plugin_, *desc.shape.NumElements());
    return graph->AddConstant(
        desc, ir::MakeConstant(floats.data(), floats.size() * 4));
  }

  // The compiler does not ask operators that are made of others.
  bool IsTaken(const ir::Graph& graph, const ir::Node& node) const {
    if (!schema_->check) return true;
    std::vector<const ir::TensorDesc*> inputs;
    std::vector<const ir::TensorDesc*> outputs;
    for (const ir::ValueId id : node.inputs) {
      inputs.push_back(id == ir::kNone ? nullptr : &graph.value(id).desc);
    }
    for (const ir::ValueId id : node.outputs) {
      outputs.push_back(id == ir::kNone ? nullptr : &graph.value(id).desc);
    }
    return schema_->check({node, inputs, outputs}).ok();
  }

  // Nodes that the operator does not take are no cases.
  void Finish(ir::Graph graph, std::vector<ir::ValueId> inputs,
              ir::DataType type, ir::AttributeMap attributes,
              const std::string& shape) {
    ir::Node node;
    node.name = op_;
    node.schema = schema_;
    node.attributes = std::move(attributes);
    node.inputs = std::move(inputs);
    ir::TensorDesc out;
    out.type = type;
    out.quantization = DescOf(type, {1}).quantization;
    node.outputs = {graph.AddValue(out)};
    graph.AddOutput(node.outputs[0]);
    const ir::NodeId id = graph.AddNode(std::move(node));
    if (!compiler::InferGraph(&graph, operators_).ok()) return;
    if (!graph.HasNode(id) || graph.NodeIds().size() != 1) return;
    if (!IsTaken(graph, graph.node(id))) return;
    cases_.push_back({StrCat(op_, " ", ir::ToString(type), " ", shape),
                      std::move(graph), id});
  }

  CheckedPlugin& plugin_;
  const ir::OpRegistry& operators_;
  const std::string op_;
  const ir::OpSchema* const schema_;
  std::vector<NodeCase> cases_;
};

double ToleranceOf(ir::DataType type) {
  return type == ir::DataType::kFloat32 ? 1e-4 : 1e-2;
}

std::optional<double> FloatAt(ir::DataType type, const Bytes& bytes, size_t i) {
  if (type == ir::DataType::kFloat32) {
    float value = 0;
    std::memcpy(&value, bytes.data() + 4 * i, sizeof(value));
    return value;
  }
  if (type != ir::DataType::kFloat16) return std::nullopt;
  uint16_t half = 0;
  std::memcpy(&half, bytes.data() + 2 * i, sizeof(half));
  return HalfToFloat(half);
}

}  // namespace

std::vector<NodeCase> NodeCases(CheckedPlugin& plugin,
                                const ir::OpRegistry& operators,
                                const std::string& op) {
  return CaseMaker(plugin, operators, op).All();
}

std::vector<float> RandomFloats(CheckedPlugin& plugin, size_t count) {
  std::vector<float> floats(count);
  for (float& one : floats) {
    one = static_cast<float>(plugin.random() % 2001) / 1000.0f - 1;
  }
  return floats;
}

std::vector<Bytes> RandomInputs(CheckedPlugin& plugin, const ir::Graph& graph) {
  std::vector<Bytes> inputs;
  for (const ir::ValueId id : graph.inputs()) {
    const ir::TensorDesc& desc = graph.value(id).desc;
    const auto bytes = ir::ByteSize(desc);
    Bytes content(static_cast<size_t>(bytes.ok() ? *bytes : 0));
    Fill(plugin, desc, &content);
    inputs.push_back(std::move(content));
  }
  return inputs;
}

Result<std::vector<Bytes>> Evaluated(const ir::Graph& graph,
                                     const std::vector<Bytes>& inputs) {
  std::vector<ir::ConstTensor> from;
  for (size_t i = 0; i < inputs.size(); ++i) {
    from.push_back({&graph.value(graph.inputs()[i]).desc, inputs[i].data()});
  }
  std::vector<Bytes> results;
  std::vector<ir::MutableTensor> to;
  for (const ir::ValueId id : graph.outputs()) {
    TIM_ASSIGN_OR_RETURN(const int64_t bytes,
                         ir::ByteSize(graph.value(id).desc));
    results.emplace_back(static_cast<size_t>(bytes));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    to.push_back({&graph.value(graph.outputs()[i]).desc, results[i].data()});
  }
  TIM_RETURN_IF_ERROR(ir::Evaluate(graph, from, to));
  return results;
}

Status Compare(const ir::TensorDesc& desc, const Bytes& actual,
               const Bytes& expected) {
  if (actual.size() != expected.size()) {
    return InvalidArgument(actual.size(), " bytes, expected ", expected.size());
  }
  if (!ir::IsFloat(desc.type)) {
    const auto differs =
        std::mismatch(actual.begin(), actual.end(), expected.begin());
    if (differs.first == actual.end()) return OkStatus();
    return InvalidArgument("byte ", differs.first - actual.begin(), " is ",
                           static_cast<int>(*differs.first), ", expected ",
                           static_cast<int>(*differs.second));
  }
  const int64_t count = *desc.shape.NumElements();
  for (size_t i = 0; std::cmp_less(i, count); ++i) {
    const auto a = FloatAt(desc.type, actual, i);
    const auto e = FloatAt(desc.type, expected, i);
    if (!a || !e) return OkStatus();
    const double most = ToleranceOf(desc.type) * std::max(1.0, std::abs(*e));
    if (std::abs(*a - *e) <= most || (std::isnan(*a) && std::isnan(*e))) {
      continue;
    }
    return InvalidArgument("element ", i, " is ", *a, ", expected ", *e);
  }
  return OkStatus();
}

}  // namespace tim::tool
