// Writes TFLite files with FlatBuffers' builder.
#include "tests/models/tflite_file.h"

#include <algorithm>

namespace tim::testing {

int TfliteFile::Add(FileTensor tensor) {
  if (buffers_.empty()) buffers_.push_back(fbs::CreateBuffer(builder_));
  uint32_t buffer = 0;
  if (!tensor.data.empty()) {
    buffer = static_cast<uint32_t>(buffers_.size());
    buffers_.push_back(fbs::CreateBufferDirect(builder_, &tensor.data));
  }
  flatbuffers::Offset<fbs::QuantizationParameters> quantization;
  if (!tensor.scales.empty()) {
    quantization = fbs::CreateQuantizationParametersDirect(
        builder_, &tensor.scales, &tensor.zero_points, 0, tensor.axis);
  }
  tensors_.push_back(fbs::CreateTensorDirect(
      builder_, &tensor.shape, tensor.type, buffer, tensor.name.c_str(),
      quantization, tensor.is_variable, tensor.sparsity,
      tensor.open_shape.empty() ? nullptr : &tensor.open_shape));
  return static_cast<int>(tensors_.size()) - 1;
}

int TfliteFile::Activation(const std::string& name,
                           std::vector<int32_t> shape) {
  FileTensor tensor;
  tensor.name = name;
  tensor.shape = std::move(shape);
  return Add(std::move(tensor));
}

void TfliteFile::Operator(int code, const std::vector<int32_t>& inputs,
                          const std::vector<int32_t>& outputs,
                          fbs::Options type,
                          flatbuffers::Offset<void> options) {
  codes_.push_back(fbs::CreateOperatorCode(
      builder_, static_cast<int8_t>(std::min(code, 127)), 0, 1, code));
  operators_.push_back(fbs::CreateOperatorDirect(
      builder_, static_cast<uint32_t>(codes_.size()) - 1, &inputs, &outputs,
      type, options));
}

void TfliteFile::Composite(int subgraph, const std::vector<int32_t>& inputs,
                           const std::vector<int32_t>& outputs) {
  codes_.push_back(fbs::CreateOperatorCode(builder_, 127, 0, 1, 206));
  operators_.push_back(fbs::CreateOperatorDirect(
      builder_, static_cast<uint32_t>(codes_.size()) - 1, &inputs, &outputs,
      fbs::Options::NONE, 0, nullptr, 0, 0, 0, fbs::MoreOptions::Composite,
      fbs::CreateCompositeDirect(builder_, "test.composite", subgraph)
          .Union()));
}

void TfliteFile::Custom(const std::string& name,
                        const std::vector<int32_t>& inputs,
                        const std::vector<int32_t>& outputs,
                        const std::vector<uint8_t>& options) {
  codes_.push_back(
      fbs::CreateOperatorCodeDirect(builder_, 32, name.c_str(), 1, 32));
  operators_.push_back(fbs::CreateOperatorDirect(
      builder_, static_cast<uint32_t>(codes_.size()) - 1, &inputs, &outputs,
      fbs::Options::NONE, 0, &options));
}

void TfliteFile::EndSubgraph(const std::vector<int32_t>& inputs,
                             const std::vector<int32_t>& outputs) {
  subgraphs_.push_back(fbs::CreateSubgraphDirect(builder_, &tensors_, &inputs,
                                                 &outputs, &operators_));
  tensors_.clear();
  operators_.clear();
}

void TfliteFile::Signature(const std::string& key, uint32_t subgraph,
                           const std::map<std::string, uint32_t>& inputs,
                           const std::map<std::string, uint32_t>& outputs) {
  const auto named = [this](const std::map<std::string, uint32_t>& names) {
    std::vector<flatbuffers::Offset<fbs::NamedTensor>> made;
    for (const auto& [name, tensor] : names) {
      made.push_back(
          fbs::CreateNamedTensorDirect(builder_, name.c_str(), tensor));
    }
    return made;
  };
  const auto all_inputs = named(inputs);
  const auto all_outputs = named(outputs);
  signatures_.push_back(fbs::CreateSignatureDirect(
      builder_, &all_inputs, &all_outputs, key.c_str(), subgraph));
}

std::vector<uint8_t> TfliteFile::Finish() {
  fbs::FinishModelBuffer(
      builder_, fbs::CreateModelDirect(builder_, 3, &codes_, &subgraphs_,
                                       "test", &buffers_, &signatures_));
  return {builder_.GetBufferPointer(),
          builder_.GetBufferPointer() + builder_.GetSize()};
}

std::vector<uint8_t> SmallTfliteFile() {
  TfliteFile file;
  const int x = file.Activation("x", {1, 2, 2, 2});
  const int weights = file.Floats({2, 1, 1, 2}, {1, 2, -1, 0});
  const int bias = file.Floats({2}, {0.5, 10});
  const int image = file.Activation("image", {1, 2, 2, 2});
  file.Operator(3, {x, weights, bias}, {image}, fbs::Options::Conv2d,
                fbs::CreateConv2d(file.builder(), fbs::Padding::SAME, 1, 1,
                                  fbs::Activation::RELU6)
                    .Union());
  const int pooled = file.Activation("pooled", {1, 1, 1, 2});
  file.Operator(
      17, {image}, {pooled}, fbs::Options::Pool2d,
      fbs::CreatePool2d(file.builder(), fbs::Padding::VALID, 2, 2, 2, 2)
          .Union());
  const int matrix = file.Floats({3, 2}, {1, 0, 0, 1, 1, 1});
  const int y = file.Activation("y", {1, 3});
  file.Operator(9, {pooled, matrix, -1}, {y}, fbs::Options::FullyConnected,
                fbs::CreateFullyConnected(file.builder()).Union());
  file.EndSubgraph({x}, {y});
  return file.Finish();
}

}  // namespace tim::testing
