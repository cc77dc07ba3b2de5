// ONNX models that the fuzzer begins with.
#include <onnx/onnx_pb.h>

#include <string>

#include "tests/fuzz/corpus.h"

namespace tim::testing {
namespace {

using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::ModelProto;
using onnx::NodeProto;
using onnx::TensorProto;

template <typename Owner>
NodeProto* AddNode(Owner* owner, const std::string& op,
                   const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs) {
  NodeProto* node = owner->add_node();
  node->set_op_type(op);
  for (const std::string& input : inputs) node->add_input(input);
  for (const std::string& output : outputs) node->add_output(output);
  return node;
}

AttributeProto* AddAttribute(NodeProto* node, const std::string& name,
                             onnx::AttributeProto_AttributeType type) {
  AttributeProto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(type);
  return attribute;
}

GraphProto* AddBody(NodeProto* node, const std::string& name,
                    const std::vector<std::string>& inputs,
                    const std::vector<std::string>& outputs) {
  GraphProto* body =
      AddAttribute(node, name, AttributeProto::GRAPH)->mutable_g();
  for (const std::string& input : inputs) body->add_input()->set_name(input);
  for (const std::string& output : outputs) {
    body->add_output()->set_name(output);
  }
  return body;
}

TensorProto Tensor(const std::string& name, const std::vector<int64_t>& dims,
                   const std::vector<float>& values) {
  TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(TensorProto::FLOAT);
  for (const int64_t extent : dims) tensor.add_dims(extent);
  tensor.set_raw_data(values.data(), values.size() * sizeof(float));
  return tensor;
}

TensorProto Integers(const std::string& name, const std::vector<int64_t>& dims,
                     const std::vector<int64_t>& values) {
  TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(TensorProto::INT64);
  for (const int64_t extent : dims) tensor.add_dims(extent);
  for (const int64_t value : values) tensor.add_int64_data(value);
  return tensor;
}

// A model with the input x, {1, 1, 2, 2}, and the output y.
ModelProto Empty() {
  ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(13);
  GraphProto* graph = model.mutable_graph();
  auto* input = graph->add_input();
  input->set_name("x");
  auto* type = input->mutable_type()->mutable_tensor_type();
  type->set_elem_type(TensorProto::FLOAT);
  for (const int64_t extent : {1, 1, 2, 2}) {
    type->mutable_shape()->add_dim()->set_dim_value(extent);
  }
  auto* output = graph->add_output();
  output->set_name("y");
  output->mutable_type()->mutable_tensor_type()->set_elem_type(
      TensorProto::FLOAT);
  return model;
}

ModelProto Convolution() {
  ModelProto model = Empty();
  GraphProto* graph = model.mutable_graph();
  *graph->add_initializer() = Tensor("w", {1, 1, 1, 2}, {1, -1});
  NodeProto* conv = AddNode(graph, "Conv", {"x", "w"}, {"c"});
  auto* pads = AddAttribute(conv, "pads", AttributeProto::INTS);
  for (const int64_t pad : {0, 1, 0, 0}) pads->add_ints(pad);
  AddNode(graph, "Relu", {"c"}, {"y"});
  return model;
}

ModelProto Shapes() {
  ModelProto model = Empty();
  GraphProto* graph = model.mutable_graph();
  *graph->add_initializer() = Integers("zero", {1}, {0});
  *graph->add_initializer() = Integers("minus", {1}, {-1});
  AddNode(graph, "Shape", {"x"}, {"s"});
  AddNode(graph, "Gather", {"s", "zero"}, {"n"});
  NodeProto* concat = AddNode(graph, "Concat", {"n", "minus"}, {"t"});
  AddAttribute(concat, "axis", AttributeProto::INT)->set_i(0);
  AddNode(graph, "Reshape", {"x", "t"}, {"r"});
  AddNode(graph, "Slice", {"r", "zero", "minus", "zero"}, {"z"});
  AddNode(graph, "Expand", {"r", "t"}, {"q"});
  AddNode(graph, "Softmax", {"r"}, {"y"});
  graph->add_output()->set_name("t");
  return model;
}

ModelProto Loops() {
  ModelProto model = Empty();
  GraphProto* graph = model.mutable_graph();
  *graph->add_initializer() = Integers("count", {}, {2});
  TensorProto flag;
  flag.set_name("flag");
  flag.set_data_type(TensorProto::BOOL);
  flag.add_int32_data(1);
  *graph->add_initializer() = flag;
  NodeProto* loop = AddNode(graph, "Loop", {"count", "flag", "x"}, {"s", "ys"});
  GraphProto* body =
      AddBody(loop, "body", {"i", "c", "v"}, {"c", "next", "part"});
  AddNode(body, "Add", {"v", "x"}, {"next"});
  AddNode(body, "Identity", {"next"}, {"part"});
  NodeProto* choice = AddNode(graph, "If", {"flag"}, {"y"});
  AddNode(AddBody(choice, "then_branch", {}, {"a"}), "Neg", {"s"}, {"a"});
  AddNode(AddBody(choice, "else_branch", {}, {"b"}), "Relu", {"ys"}, {"b"});
  return model;
}

ModelProto Functions() {
  ModelProto model = Empty();
  GraphProto* graph = model.mutable_graph();
  auto* sparse = graph->add_sparse_initializer();
  *sparse->mutable_values() = Tensor("w", {1}, {5});
  *sparse->mutable_indices() = Integers("", {1}, {1});
  sparse->add_dims(2);
  NodeProto* call = AddNode(graph, "Scale", {"x"}, {"h"});
  call->set_domain("f");
  AddAttribute(call, "by", AttributeProto::FLOAT)->set_f(2);
  AddNode(graph, "Add", {"h", "w"}, {"y"});
  auto* opset = model.add_opset_import();
  opset->set_domain("f");
  opset->set_version(1);
  auto* function = model.add_functions();
  function->set_name("Scale");
  function->set_domain("f");
  function->add_input("a");
  function->add_output("b");
  function->add_attribute("by");
  NodeProto* constant = AddNode(function, "Constant", {}, {"c"});
  AddAttribute(constant, "value_float", AttributeProto::FLOAT)
      ->set_ref_attr_name("by");
  AddNode(function, "Mul", {"a", "c"}, {"b"});
  return model;
}

}  // namespace

std::vector<std::vector<std::byte>> Corpus() {
  std::vector<std::vector<std::byte>> files;
  for (const ModelProto& model :
       {Convolution(), Shapes(), Loops(), Functions()}) {
    const std::string text = model.SerializeAsString();
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    files.emplace_back(bytes, bytes + text.size());
  }
  return files;
}

}  // namespace tim::testing
