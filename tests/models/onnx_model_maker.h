// ONNX models made by protobuf's own messages, for tests.
#ifndef TIM_TESTS_MODELS_ONNX_MODEL_MAKER_H_
#define TIM_TESTS_MODELS_ONNX_MODEL_MAKER_H_

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "tim/models/onnx.h"

namespace tim::models::onnx {

/// The host computes, unless TIMCL_DEVICE says otherwise: the numbers of these
/// tests do not depend on kernels.
inline const int kModelsOnHostByDefault = setenv("TIMCL_DEVICE", "host", 0);

/// A node with names of operands and results; "" is an absent one.
::onnx::NodeProto* AddNode(::onnx::GraphProto* graph, const std::string& op,
                           const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs,
                           const std::string& name = "");
::onnx::NodeProto* AddNode(::onnx::FunctionProto* function,
                           const std::string& op,
                           const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs);

void SetAttribute(::onnx::NodeProto* node, const std::string& name, int64_t i);
void SetAttribute(::onnx::NodeProto* node, const std::string& name, float f);
void SetAttribute(::onnx::NodeProto* node, const std::string& name,
                  const std::vector<int64_t>& ints);
void SetAttribute(::onnx::NodeProto* node, const std::string& name,
                  const ::onnx::TensorProto& tensor);
/// The graph of a new attribute.
::onnx::GraphProto* AddGraph(::onnx::NodeProto* node, const std::string& name);

/// Extents are numbers, names, or "?".
void AddInput(::onnx::GraphProto* graph, const std::string& name, int type,
              const std::vector<std::string>& extents);
void AddOutput(::onnx::GraphProto* graph, const std::string& name, int type);
/// Inputs and outputs of a body, without types.
void AddBodyInput(::onnx::GraphProto* graph, const std::string& name);

void AddBodyOutput(::onnx::GraphProto* graph, const std::string& name);

/// Elements as raw data.
::onnx::TensorProto FloatTensor(const std::string& name,
                                const std::vector<int64_t>& dims,
                                const std::vector<float>& values);
::onnx::TensorProto IntTensor(const std::string& name,
                              const std::vector<int64_t>& dims,
                              const std::vector<int64_t>& values);
::onnx::TensorProto BoolTensor(const std::string& name, bool value);

::onnx::ModelProto EmptyModel(int opset = 13);

/// Model that ParseOnnx() makes of it.
Model Parse(const ::onnx::ModelProto& model,
            const OnnxOptions& options = OnnxOptions());
/// The first output of the model for an input each, of floats; empty, with a
/// failure of the test, where it cannot be had.
std::vector<float> FloatsOf(const Model& model,
                            const std::vector<std::vector<float>>& inputs = {});
/// The same of an output of INT64.
std::vector<int64_t> IntsOf(const Model& model,
                            const std::vector<std::vector<float>>& inputs = {});

}  // namespace tim::models::onnx

#endif  // TIM_TESTS_MODELS_ONNX_MODEL_MAKER_H_
