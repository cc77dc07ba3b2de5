// A .tflite file as tables whose offsets and indices are right.
#ifndef TIM_MODELS_TFLITE_READER_H_
#define TIM_MODELS_TFLITE_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"
#include "models/build/value.h"
#include "models/tflite/schema_generated.h"

namespace tim::models::tflite {

/// Elements of a FlatBuffers vector, none where it is absent.
template <typename T>
std::span<const T> Items(const flatbuffers::Vector<T>* vector) {
  if (vector == nullptr || vector->size() == 0) return {};
  return {vector->data(), vector->size()};
}

/// A file that FlatBuffers' verifier has passed, with every index of a tensor,
/// a buffer, an operator code or a subgraph inside of what it counts in.  Its
/// subgraphs and their tensors are not null.
class File {
 public:
  /// `keeper` keeps the bytes, which begin at a multiple of 16.
  static Result<File> Open(std::span<const std::byte> bytes,
                           std::shared_ptr<const void> keeper);

  const fbs::Model& model() const { return *model_; }
  int64_t size() const { return static_cast<int64_t>(bytes_.size()); }
  const std::shared_ptr<const void>& keeper() const { return keeper_; }
  /// The bytes of a tensor's buffer; empty: it has none.
  std::span<const std::byte> BufferOf(const fbs::Tensor& tensor) const;
  /// Number of the operator in the format's list; -1: a custom one.
  int CodeOf(const fbs::Operator& node) const;
  /// "CONV_2D", or the name of a custom operator.
  std::string NameOf(const fbs::Operator& node) const;

 private:
  Status CheckBuffers() const;
  Status CheckSubgraph(const fbs::Subgraph& subgraph) const;
  Status CheckSignatures() const;

  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> keeper_;
  const fbs::Model* model_ = nullptr;
};

/// Type, dims, name and quantization that the file gives a tensor.  Fails on
/// types that no graph has and on quantizations that are none.
Result<Value> DeclaredOf(const fbs::Tensor& tensor);

/// The elements of a tensor with a buffer: sparse ones made dense, INT4 as
/// INT8.  `value` is its DeclaredOf(), whose type follows.
Status ReadConstant(const File& file, const fbs::Tensor& tensor, Value* value);

/// The operator's name in the format; null: a number that has none.
const char* OperatorName(int code);

}  // namespace tim::models::tflite

#endif  // TIM_MODELS_TFLITE_READER_H_
