// Small ONNX models in files.
#ifndef TIM_TESTS_TOOLS_ONNX_FILES_H_
#define TIM_TESTS_TOOLS_ONNX_FILES_H_

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "tests/structure/source_tree.h"

namespace tim::tool {

/// A model of floats that is made node by node.
class OnnxFile {
 public:
  OnnxFile() {
    model_.set_ir_version(8);
    model_.add_opset_import()->set_version(13);
    model_.mutable_graph()->set_name("small");
  }

  /// Extents of -1 are open, with the name "n".
  OnnxFile& Input(const std::string& name, std::vector<int64_t> dims) {
    SetPort(name, dims, model_.mutable_graph()->add_input());
    return *this;
  }
  OnnxFile& Output(const std::string& name, std::vector<int64_t> dims) {
    SetPort(name, dims, model_.mutable_graph()->add_output());
    return *this;
  }
  OnnxFile& Node(const std::string& op, std::initializer_list<const char*> from,
                 const std::string& to, const std::string& domain = "") {
    onnx::NodeProto* const node = model_.mutable_graph()->add_node();
    node->set_op_type(op);
    node->set_domain(domain);
    node->set_name("node_" + to);
    for (const char* input : from) node->add_input(input);
    node->add_output(to);
    return *this;
  }
  /// The path, which is returned.
  std::string Write(const std::string& path) const {
    structure::WriteText(path, model_.SerializeAsString());
    return path;
  }

 private:
  static void SetPort(const std::string& name, const std::vector<int64_t>& dims,
                      onnx::ValueInfoProto* port) {
    port->set_name(name);
    auto* const tensor = port->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(onnx::TensorProto::FLOAT);
    auto* const shape = tensor->mutable_shape();
    for (const int64_t dim : dims) {
      auto* const extent = shape->add_dim();
      if (dim < 0) {
        extent->set_dim_param("n");
      } else {
        extent->set_dim_value(dim);
      }
    }
  }

  onnx::ModelProto model_;
};

/// y = -relu(x) of [2,2], with the tensor "r" between.
inline std::string WriteOnnxChain(const std::string& folder) {
  return OnnxFile()
      .Input("x", {2, 2})
      .Output("y", {2, 2})
      .Node("Relu", {"x"}, "r")
      .Node("Neg", {"r"}, "y")
      .Write(folder + "/chain.onnx");
}

/// The mean of each colour of pictures [n,3,2,2] as a row [n,3].
inline std::string WriteOnnxColours(const std::string& folder) {
  return OnnxFile()
      .Input("image", {-1, 3, 2, 2})
      .Output("colours", {-1, 3})
      .Node("GlobalAveragePool", {"image"}, "pooled")
      .Node("Flatten", {"pooled"}, "colours")
      .Write(folder + "/colours.onnx");
}

}  // namespace tim::tool

#endif  // TIM_TESTS_TOOLS_ONNX_FILES_H_
