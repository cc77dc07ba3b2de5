// The graph that an importer builds, as a C++ program.
#ifndef TIM_MODELS_BUILD_SOURCE_RECORDER_H_
#define TIM_MODELS_BUILD_SOURCE_RECORDER_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "base/status.h"
#include "tim/vx/tensor.h"
#include "tim/vx/types.h"

namespace tim::models {

// Arguments of operations as C++ expressions.
std::string Literal(bool value);
std::string Literal(int8_t value);
std::string Literal(int32_t value);
std::string Literal(uint32_t value);
std::string Literal(int64_t value);
std::string Literal(float value);
std::string Literal(double value);
std::string Literal(const std::string& value);
std::string Literal(const char* value);
std::string Literal(vx::DataType value);
std::string Literal(vx::QuantType value);
std::string Literal(vx::PadType value);
std::string Literal(vx::PoolType value);
std::string Literal(vx::RoundType value);
std::string Literal(vx::ResizeType value);
std::string Literal(vx::DataLayout value);
std::string Literal(const vx::Quantization& value);
/// The program's variable of a tensor.
std::string Literal(const std::shared_ptr<vx::Tensor>& value);

/// "ops::Softmax": the program has a using-directive of tim::vx.
std::string ClassName(const std::type_info& type);
/// "std::vector<int32_t>{1, 2}", of what stands for a type and its elements.
std::string ListLiteral(const std::string& type,
                        const std::vector<std::string>& elements);

/// Other enumerations, those of classes of operators.
template <typename Enum, std::enable_if_t<std::is_enum_v<Enum>, int> = 0>
std::string Literal(Enum value) {
  return "static_cast<" + ClassName(typeid(Enum)) + ">(" +
         Literal(static_cast<int32_t>(value)) + ")";
}

template <typename T>
std::string Literal(const std::vector<T>& values) {
  std::vector<std::string> elements;
  for (const T value : values) elements.push_back(Literal(value));
  return ListLiteral("std::vector<" + ClassName(typeid(T)) + ">", elements);
}
template <typename T, size_t size>
std::string Literal(const std::array<T, size>& values) {
  std::vector<std::string> elements;
  for (const T& value : values) elements.push_back(Literal(value));
  return ListLiteral("std::array<" + ClassName(typeid(T)) + ", " +
                         Literal(static_cast<int32_t>(size)) + ">",
                     elements);
}

/// "ops::Softmax>(1.0f, 0)": what follows "CreateOperation<".
template <typename Op, typename... Args>
std::string CallText(const Args&... args) {
  std::string list;
  ((list += (list.empty() ? "" : ", ") + Literal(args)), ...);
  return ClassName(typeid(Op)) + ">(" + list + ")";
}

/// Collects statements and weights; one per graph.  Failures are told by
/// Write().
class SourceRecorder {
 public:
  /// `data` of a constant, else null.
  void AddTensor(vx::Tensor& tensor, const vx::TensorSpec& spec,
                 const std::shared_ptr<const void>& data);
  /// Name of the tensor in the model, for a comment.
  void NameTensor(vx::Tensor& tensor, const std::string& name);
  /// A tensor that has been added gets this quantization.
  void QuantizeTensor(vx::Tensor& tensor, const vx::Quantization& quantization);
  /// \param call of CallText(); empty: there can be no program.
  /// \param name of the model's node, for a comment.
  void AddOperation(const std::string& call,
                    const std::vector<std::shared_ptr<vx::Tensor>>& inputs,
                    const std::vector<std::shared_ptr<vx::Tensor>>& outputs,
                    const std::string& name = "");
  /// The program compiles what tim::transform::LayoutInference() makes of the
  /// graph.
  void UseLayoutInference() { uses_layout_inference_ = true; }

  /// Writes `path` and, beside it with the suffix ".weights", the constants.
  Status Write(const std::string& path) const;

 private:
  struct Constant {
    std::shared_ptr<const void> data;
    uint64_t bytes = 0;
    uint64_t offset = 0;
    bool is_first = false;  ///< Of those that share the bytes.
  };
  struct KnownTensor {
    vx::TensorSpec spec;
    bool is_scalar = false;
    std::string name;
    std::optional<Constant> constant;
  };
  /// A tensor that is made, or an operation.
  struct Statement {
    std::optional<uint32_t> tensor;
    std::string call;
    std::string name;
    std::vector<std::optional<uint32_t>> inputs;
    std::vector<std::optional<uint32_t>> outputs;
  };

  std::optional<uint32_t> NumberOf(const std::shared_ptr<vx::Tensor>& tensor);
  std::string TensorText(uint32_t number) const;
  std::string OperationText(const Statement& statement) const;
  std::string Ports(const char* name, vx::TensorAttribute attribute) const;
  std::string Program(const std::string& weights) const;
  Status WriteWeights(const std::string& path) const;

  std::map<uint32_t, KnownTensor> tensors_;
  std::vector<Statement> statements_;
  /// Places of earlier constants in the file of weights, by their bytes.
  std::map<std::pair<const void*, uint64_t>, uint64_t> offsets_;
  uint64_t weight_bytes_ = 0;
  bool uses_custom_operators_ = false;
  bool uses_layout_inference_ = false;
  /// Why there is no program.
  Status problem_;
};

}  // namespace tim::models

#endif  // TIM_MODELS_BUILD_SOURCE_RECORDER_H_
