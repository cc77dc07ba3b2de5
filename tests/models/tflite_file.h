// TFLite files that tests write.
#ifndef TIM_TESTS_MODELS_TFLITE_FILE_H_
#define TIM_TESTS_MODELS_TFLITE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/tflite/schema_generated.h"

namespace tim::testing {

namespace fbs = models::tflite::fbs;

/// A tensor of a file, by its number from 0 on.
struct FileTensor {
  fbs::TensorType type = fbs::TensorType::FLOAT32;
  std::vector<int32_t> shape;
  std::string name;
  std::vector<uint8_t> data;  ///< Empty: no constant.
  std::vector<float> scales;
  std::vector<int64_t> zero_points;
  int axis = 0;  ///< Axis that several scales run along.
  bool is_variable = false;
  std::vector<int32_t> open_shape;
  flatbuffers::Offset<fbs::Sparsity> sparsity;
};

/// The bytes of `values`.
template <typename T>
std::vector<uint8_t> BytesOf(const std::vector<T>& values) {
  const auto* begin = reinterpret_cast<const uint8_t*>(values.data());
  return {begin, begin + values.size() * sizeof(T)};
}

/// A model of one subgraph, or of several: each is added, then begun anew.
class TfliteFile {
 public:
  int Add(FileTensor tensor);
  int Activation(const std::string& name, std::vector<int32_t> shape);
  template <typename T>
  int Constant(fbs::TensorType type, std::vector<int32_t> shape,
               const std::vector<T>& values) {
    FileTensor tensor;
    tensor.type = type;
    tensor.shape = std::move(shape);
    tensor.data = BytesOf(values);
    return Add(std::move(tensor));
  }
  int Floats(std::vector<int32_t> shape, const std::vector<float>& values) {
    return Constant(fbs::TensorType::FLOAT32, std::move(shape), values);
  }
  int Ints(const std::vector<int32_t>& values) {
    return Constant(fbs::TensorType::INT32,
                    {static_cast<int32_t>(values.size())}, values);
  }

  /// An operator by its number in the format; `options` of builder().
  void Operator(int code, const std::vector<int32_t>& inputs,
                const std::vector<int32_t>& outputs,
                fbs::Options type = fbs::Options::NONE,
                flatbuffers::Offset<void> options = 0);
  /// An operator that subgraph `subgraph` says in other ones.
  void Composite(int subgraph, const std::vector<int32_t>& inputs,
                 const std::vector<int32_t>& outputs);
  void Custom(const std::string& name, const std::vector<int32_t>& inputs,
              const std::vector<int32_t>& outputs,
              const std::vector<uint8_t>& options);
  void EndSubgraph(const std::vector<int32_t>& inputs,
                   const std::vector<int32_t>& outputs);
  void Signature(const std::string& key, uint32_t subgraph,
                 const std::map<std::string, uint32_t>& inputs,
                 const std::map<std::string, uint32_t>& outputs);

  flatbuffers::FlatBufferBuilder& builder() { return builder_; }
  /// The file, after EndSubgraph().
  std::vector<uint8_t> Finish();

 private:
  flatbuffers::FlatBufferBuilder builder_;
  std::vector<flatbuffers::Offset<fbs::Buffer>> buffers_;
  std::vector<flatbuffers::Offset<fbs::Tensor>> tensors_;
  std::vector<flatbuffers::Offset<fbs::OperatorCode>> codes_;
  std::vector<flatbuffers::Offset<fbs::Operator>> operators_;
  std::vector<flatbuffers::Offset<fbs::Subgraph>> subgraphs_;
  std::vector<flatbuffers::Offset<fbs::Signature>> signatures_;
};

/// CONV_2D, RELU6, MAX_POOL_2D and FULLY_CONNECTED on an image "x" [1, 2, 2,
/// 2].
std::vector<uint8_t> SmallTfliteFile();

}  // namespace tim::testing

#endif  // TIM_TESTS_MODELS_TFLITE_FILE_H_
