// The graph that an importer builds, as a C++ program.
#ifndef TIM_MODELS_BUILD_SOURCE_RECORDER_H_
#define TIM_MODELS_BUILD_SOURCE_RECORDER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "tim/vx/tensor.h"
#include "tim/vx/types.h"

namespace tim::models {

// Arguments of operations as C++ expressions.
std::string Literal(bool value);
std::string Literal(int32_t value);
std::string Literal(uint32_t value);
std::string Literal(int64_t value);
std::string Literal(float value);
std::string Literal(const std::string& value);
std::string Literal(vx::DataType value);
std::string Literal(vx::PadType value);
std::string Literal(vx::PoolType value);
std::string Literal(vx::RoundType value);
std::string Literal(vx::ResizeType value);
std::string Literal(vx::DataLayout value);
std::string Literal(const vx::Quantization& value);
template <typename T>
std::string Literal(const std::vector<T>& values);
template <typename T, size_t size>
std::string Literal(const std::array<T, size>& values);

/// "tim::vx::ops::Softmax>(1.0f, 0)": what follows "CreateOperation<".
template <typename... Args>
std::string CallText(const char* op, const Args&... args);

/// Collects statements and weights; one per graph.
class SourceRecorder {
 public:
  /// `data` of a constant, else null.
  void AddTensor(const vx::Tensor& tensor, const vx::TensorSpec& spec,
                 const std::shared_ptr<const void>& data);
  void AddOperation(const std::string& call,
                    const std::vector<std::shared_ptr<vx::Tensor>>& inputs,
                    const std::vector<std::shared_ptr<vx::Tensor>>& outputs);
  /// Writes `path` and, beside it with the suffix ".weights", the constants.
  Status Write(const std::string& path) const;
};

}  // namespace tim::models

#endif  // TIM_MODELS_BUILD_SOURCE_RECORDER_H_
