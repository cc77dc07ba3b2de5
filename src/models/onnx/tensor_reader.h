// Elements of tensors in ONNX files, where they lie as far as that goes.
#ifndef TIM_MODELS_ONNX_TENSOR_READER_H_
#define TIM_MODELS_ONNX_TENSOR_READER_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "base/status.h"
#include "models/build/constant_budget.h"
#include "models/build/value.h"
#include "models/onnx/messages.h"

namespace tim::models::onnx {

/// Reads tensors of one file and of those that it names.
class TensorReader {
 public:
  /// \param owner keeps the bytes of the file, which arrays share.
  /// \param folder of external data; empty: there is none.
  /// \param budget is told of the files that are opened, and outlives the
  ///     reader; may be null.
  TensorReader(std::shared_ptr<const void> owner, std::string folder,
               ConstantBudget* budget = nullptr)
      : owner_(std::move(owner)), folder_(std::move(folder)), budget_(budget) {}

  /// The elements; of float64 and bfloat16 as float32, with a warning.  Fails,
  /// with the tensor's name, where they are not as many as the extents say, of
  /// a type that is not taken, or lie where nothing may be read.
  Result<HostArray> Read(const TensorMessage& tensor);
  /// The same, with the zeros that are not stored.
  Result<HostArray> Read(const SparseMessage& sparse);

  /// Tells the budget of the file that the tensor's elements are in, if it is
  /// another one.  Read() says what is wrong with it.
  void AddFileOf(const TensorMessage& tensor);

  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  struct Stored;
  Result<Stored> ReadStored(const TensorMessage& tensor);
  Status ReadExternal(int64_t bytes, Stored* stored);
  Result<std::shared_ptr<const MappedFile>> Open(const std::string& location);
  Result<HostArray> Decode(const TensorMessage& tensor);

  std::shared_ptr<const void> owner_;
  std::string folder_;
  ConstantBudget* budget_;
  std::map<std::string, std::shared_ptr<const MappedFile>> files_;
  std::vector<std::string> warnings_;
};

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_TENSOR_READER_H_
