// Messages of ONNX for tests, and runs of what the importer makes of them.
#include "tests/models/onnx_model_maker.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/build/value.h"
#include "tim/vx/context.h"
#include "tim/vx/graph.h"

namespace tim::models::onnx {
namespace {

void Fill(::onnx::NodeProto* node, const std::string& op,
          const std::vector<std::string>& inputs,
          const std::vector<std::string>& outputs) {
  node->set_op_type(op);
  for (const std::string& input : inputs) node->add_input(input);
  for (const std::string& output : outputs) node->add_output(output);
}

::onnx::AttributeProto* AddAttribute(
    ::onnx::NodeProto* node, const std::string& name,
    ::onnx::AttributeProto_AttributeType type) {
  ::onnx::AttributeProto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(type);
  return attribute;
}

template <typename T>
::onnx::TensorProto RawTensor(const std::string& name, int type,
                              const std::vector<int64_t>& dims,
                              const std::vector<T>& values) {
  ::onnx::TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(type);
  for (const int64_t extent : dims) tensor.add_dims(extent);
  tensor.set_raw_data(values.data(), values.size() * sizeof(T));
  return tensor;
}

template <typename T>
std::vector<T> RunAs(const Model& model,
                     const std::vector<std::vector<float>>& inputs) {
  if (!model) {
    ADD_FAILURE() << model.error;
    return {};
  }
  if (model.inputs.size() != inputs.size() || model.outputs.empty()) {
    ADD_FAILURE() << "the model has " << model.inputs.size() << " inputs";
    return {};
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(
                  ByteSizeOf(model.inputs[i].type, model.inputs[i].dims)),
              inputs[i].size() * sizeof(float));
    EXPECT_TRUE(model.inputs[i].tensor->CopyDataToTensor(inputs[i].data()));
  }
  EXPECT_TRUE(model.graph->Compile()) << model.graph->ErrorMessage();
  EXPECT_TRUE(model.graph->Run()) << model.graph->ErrorMessage();
  const Port& port = model.outputs.front();
  const auto bytes = static_cast<size_t>(ByteSizeOf(port.type, port.dims));
  std::vector<T> values(bytes / sizeof(T));
  EXPECT_TRUE(port.tensor->CopyDataFromTensor(values.data()));
  return values;
}

}  // namespace

::onnx::NodeProto* AddNode(::onnx::GraphProto* graph, const std::string& op,
                           const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs,
                           const std::string& name) {
  ::onnx::NodeProto* node = graph->add_node();
  node->set_name(name);
  Fill(node, op, inputs, outputs);
  return node;
}

::onnx::NodeProto* AddNode(::onnx::FunctionProto* function,
                           const std::string& op,
                           const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs) {
  ::onnx::NodeProto* node = function->add_node();
  Fill(node, op, inputs, outputs);
  return node;
}

void SetAttribute(::onnx::NodeProto* node, const std::string& name, int64_t i) {
  AddAttribute(node, name, ::onnx::AttributeProto::INT)->set_i(i);
}

void SetAttribute(::onnx::NodeProto* node, const std::string& name, float f) {
  AddAttribute(node, name, ::onnx::AttributeProto::FLOAT)->set_f(f);
}

void SetAttribute(::onnx::NodeProto* node, const std::string& name,
                  const std::vector<int64_t>& ints) {
  auto* attribute = AddAttribute(node, name, ::onnx::AttributeProto::INTS);
  for (const int64_t i : ints) attribute->add_ints(i);
}

void SetAttribute(::onnx::NodeProto* node, const std::string& name,
                  const ::onnx::TensorProto& tensor) {
  *AddAttribute(node, name, ::onnx::AttributeProto::TENSOR)->mutable_t() =
      tensor;
}

::onnx::GraphProto* AddGraph(::onnx::NodeProto* node, const std::string& name) {
  return AddAttribute(node, name, ::onnx::AttributeProto::GRAPH)->mutable_g();
}

void AddInput(::onnx::GraphProto* graph, const std::string& name, int type,
              const std::vector<std::string>& extents) {
  ::onnx::ValueInfoProto* input = graph->add_input();
  input->set_name(name);
  auto* tensor = input->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  auto* shape = tensor->mutable_shape();
  for (const std::string& extent : extents) {
    auto* dim = shape->add_dim();
    const bool is_number =
        extent.find_first_not_of("-0123456789") == std::string::npos;
    if (is_number) {
      dim->set_dim_value(std::stoll(extent));
    } else if (extent != "?") {
      dim->set_dim_param(extent);
    }
  }
}

void AddOutput(::onnx::GraphProto* graph, const std::string& name, int type) {
  ::onnx::ValueInfoProto* output = graph->add_output();
  output->set_name(name);
  output->mutable_type()->mutable_tensor_type()->set_elem_type(type);
}

void AddBodyInput(::onnx::GraphProto* graph, const std::string& name) {
  graph->add_input()->set_name(name);
}

void AddBodyOutput(::onnx::GraphProto* graph, const std::string& name) {
  graph->add_output()->set_name(name);
}

::onnx::TensorProto FloatTensor(const std::string& name,
                                const std::vector<int64_t>& dims,
                                const std::vector<float>& values) {
  return RawTensor(name, ::onnx::TensorProto::FLOAT, dims, values);
}

::onnx::TensorProto IntTensor(const std::string& name,
                              const std::vector<int64_t>& dims,
                              const std::vector<int64_t>& values) {
  return RawTensor(name, ::onnx::TensorProto::INT64, dims, values);
}

::onnx::TensorProto BoolTensor(const std::string& name, bool value) {
  return RawTensor(name, ::onnx::TensorProto::BOOL, {},
                   std::vector<uint8_t>{value});
}

::onnx::ModelProto EmptyModel(int opset) {
  ::onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(opset);
  model.mutable_graph()->set_name("tested");
  return model;
}

Model Parse(const ::onnx::ModelProto& model, const OnnxOptions& options) {
  static const std::shared_ptr<vx::Context> context = vx::Context::Create();
  const std::string bytes = model.SerializeAsString();
  return ParseOnnx(context, bytes.data(), bytes.size(), options);
}

std::vector<float> FloatsOf(const Model& model,
                            const std::vector<std::vector<float>>& inputs) {
  return RunAs<float>(model, inputs);
}

std::vector<int64_t> IntsOf(const Model& model,
                            const std::vector<std::vector<float>>& inputs) {
  return RunAs<int64_t>(model, inputs);
}

}  // namespace tim::models::onnx
