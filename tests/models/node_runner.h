// One node of an ONNX model, built and run by itself.
#ifndef TIM_TESTS_MODELS_NODE_RUNNER_H_
#define TIM_TESTS_MODELS_NODE_RUNNER_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "models/build/graph_builder.h"
#include "models/build/value.h"
#include "models/onnx/node.h"
#include "models/onnx/operator_families.h"
#include "tests/support/status_macros.h"
#include "tim/vx/context.h"
#include "tim/vx/graph.h"

namespace tim::models::onnx {

/// The host computes, unless TIMCL_DEVICE says otherwise: the numbers of these
/// tests do not depend on kernels, and PoCL would compile each of them.
inline const int kHostByDefault = setenv("TIMCL_DEVICE", "host", 0);

/// A node of a family's operator:
///
///     NodeRunner(AddReductions, "ArgMax", 13)
///         .With("axis", 1)
///         .Input<float>({1, 3, 2}, {1, 3})
///         .Run();
class NodeRunner {
 public:
  using Family = void (*)(OperatorTable* table);

  NodeRunner(Family family, const std::string& op, int opset,
             const std::string& domain = "") {
    family(&table_);
    node_.name = "tested";
    node_.op = op;
    node_.domain = domain;
    node_.opset = opset;
    node_.wanted_outputs = {true};
  }

  NodeRunner& With(const std::string& attribute, Attribute value) {
    node_.attributes[attribute] = std::move(value);
    return *this;
  }
  /// An operand that the graph is given when it runs.
  NodeRunner& Input(HostArray array, vx::Quantization quantization = {}) {
    operands_.push_back({std::move(array), std::move(quantization), kGiven});
    return *this;
  }
  template <typename T>
  NodeRunner& Input(const std::vector<T>& values, const Dims& dims) {
    return Input(ArrayOf(values, dims));
  }
  /// An operand that is known at import.
  NodeRunner& Constant(HostArray array, vx::Quantization quantization = {}) {
    operands_.push_back({std::move(array), std::move(quantization), kKnown});
    return *this;
  }
  template <typename T>
  NodeRunner& Constant(const std::vector<T>& values, const Dims& dims) {
    return Constant(ArrayOf(values, dims));
  }
  /// An optional operand that has no name.
  NodeRunner& Absent() {
    operands_.push_back({{}, {}, kNone});
    return *this;
  }
  /// Outputs by place: whether they have a name; {true} where it is not called.
  NodeRunner& Wants(std::vector<bool> outputs) {
    node_.wanted_outputs = std::move(outputs);
    return *this;
  }

  /// Builds the node, compiles and runs the graph: the wanted outputs, in
  /// order.  Once per runner.
  Result<std::vector<HostArray>> Run() {
    TIM_RETURN_IF_ERROR(Build());
    if (!graph_->OpVector().empty()) {
      const std::vector<Port>& inputs = builder_->inputs();
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (!inputs[i].tensor->CopyDataToTensor(given_[i].data.get())) {
          return InvalidArgument("input ", i, ": ", graph_->ErrorMessage());
        }
      }
      if (!graph_->Compile() || !graph_->Run()) {
        return InvalidArgument(graph_->ErrorMessage());
      }
    }
    std::vector<HostArray> results;
    size_t port = 0;
    for (size_t i = 0; i < node_.wanted_outputs.size(); ++i) {
      if (!node_.wanted_outputs[i]) continue;
      if (node_.outputs[i].constant != nullptr) {
        results.push_back(*node_.outputs[i].constant);
        continue;
      }
      TIM_ASSIGN_OR_RETURN(HostArray result,
                           Content(builder_->outputs()[port++]));
      results.push_back(std::move(result));
    }
    return results;
  }

  /// The node after Run(): what its function has set.
  const Node& node() const { return node_; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  const std::shared_ptr<vx::Graph>& graph() const { return graph_; }

 private:
  enum Kind { kGiven, kKnown, kNone };
  struct Operand {
    HostArray array;
    vx::Quantization quantization;
    Kind kind;
  };

  Status Build() {
    const OperatorTable::Entry* entry = table_.Find(node_.domain, node_.op);
    if (entry == nullptr) return NotFound("no operator ", node_.op);
    if (node_.opset < entry->first) {
      return Unimplemented("opset ", node_.opset, " of ", node_.op);
    }
    context_ = vx::Context::Create();
    graph_ = context_->CreateGraph();
    builder_ = std::make_unique<GraphBuilder>(graph_);
    node_.builder = builder_.get();
    node_.warnings = &warnings_;
    for (const Operand& operand : operands_) {
      TIM_RETURN_IF_ERROR(AddOperand(operand));
    }
    node_.outputs.resize(node_.wanted_outputs.size());
    TIM_RETURN_IF_ERROR(entry->function(node_));
    for (size_t i = 0; i < node_.wanted_outputs.size(); ++i) {
      if (!node_.wanted_outputs[i]) continue;
      if (i >= node_.outputs.size() || node_.outputs[i].IsAbsent()) {
        return FailedPrecondition("output ", i, " was not set");
      }
      if (node_.outputs[i].constant != nullptr) continue;
      TIM_RETURN_IF_ERROR(
          builder_->AddOutput(StrCat("output", i), node_.outputs[i]));
    }
    return OkStatus();
  }

  Status AddOperand(const Operand& operand) {
    Value value;
    const std::string name = StrCat("input", node_.inputs.size());
    if (operand.kind == kKnown) {
      value = builder_->Constant(operand.array, name, operand.quantization);
    } else if (operand.kind == kGiven) {
      TIM_ASSIGN_OR_RETURN(
          value, builder_->AddInput(name, operand.array.type,
                                    operand.array.dims, operand.quantization));
      given_.push_back(operand.array);
    }
    node_.inputs.push_back(std::move(value));
    return OkStatus();
  }

  static Result<HostArray> Content(const Port& port) {
    HostArray array;
    array.type = port.type;
    array.dims = port.dims;
    array.bytes = static_cast<size_t>(ByteSizeOf(port.type, port.dims));
    auto memory = std::make_shared<std::vector<int64_t>>(array.bytes / 8 + 1);
    if (!port.tensor->CopyDataFromTensor(memory->data())) {
      return InvalidArgument("output ", port.name, " has no content");
    }
    array.data = std::shared_ptr<const void>(memory, memory->data());
    return array;
  }

  OperatorTable table_;
  Node node_;
  std::vector<Operand> operands_;
  std::vector<HostArray> given_;
  std::vector<std::string> warnings_;
  std::shared_ptr<vx::Context> context_;
  std::shared_ptr<vx::Graph> graph_;
  std::unique_ptr<GraphBuilder> builder_;
};

/// `values` as elements of BOOL8.
inline HostArray BoolArray(const std::vector<uint8_t>& values, Dims dims) {
  HostArray array = ArrayOf(values, std::move(dims));
  array.type = vx::DataType::BOOL8;
  return array;
}

/// The floats of output 0; empty, with a failure, where there is none.
inline std::vector<float> FloatsOf(NodeRunner& runner) {
  const auto results = runner.Run();
  EXPECT_OK(results);
  if (!results.ok()) return {};
  const auto values = Floats(results.value()[0]);
  EXPECT_OK(values);
  return values.ok() ? values.value() : std::vector<float>();
}

/// The integers or truth values of output 0.
inline std::vector<int64_t> IntsOf(NodeRunner& runner) {
  const auto results = runner.Run();
  EXPECT_OK(results);
  if (!results.ok()) return {};
  const auto values = Integers(results.value()[0]);
  EXPECT_OK(values);
  return values.ok() ? values.value() : std::vector<int64_t>();
}

}  // namespace tim::models::onnx

#endif  // TIM_TESTS_MODELS_NODE_RUNNER_H_
