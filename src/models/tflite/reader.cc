// Checks the tables of a .tflite file before anything else reads them.
#include "models/tflite/reader.h"

#include <algorithm>
#include <limits>

namespace tim::models::tflite {
namespace {

constexpr int kCustom = 32;
// FlatBuffers' offsets have 31 bits; what lies behind are buffers.
constexpr size_t kMostTableBytes = (size_t{1} << 31) - 16;

Status CheckIndices(std::span<const int32_t> indices, size_t count, int least,
                    const char* whose) {
  for (const int32_t index : indices) {
    if (index < least || index >= static_cast<int64_t>(count)) {
      return InvalidArgument(whose, " name tensor ", index, " of ", count);
    }
  }
  return OkStatus();
}

}  // namespace

Result<File> File::Open(std::span<const std::byte> bytes,
                        std::shared_ptr<const void> keeper) {
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  if (bytes.size() < 16 || !fbs::ModelBufferHasIdentifier(data)) {
    return InvalidArgument("the file is no TFLite model: it has no mark TFL3");
  }
  const size_t table_bytes = std::min(bytes.size(), kMostTableBytes);
  flatbuffers::Verifier verifier(
      data, table_bytes, 64,
      static_cast<flatbuffers::uoffset_t>(table_bytes / 8 + 1));
  if (!fbs::VerifyModelBuffer(verifier)) {
    return InvalidArgument("the file's tables are damaged");
  }
  File file;
  file.bytes_ = bytes;
  file.keeper_ = std::move(keeper);
  file.model_ = fbs::GetModel(data);
  const fbs::Model& model = *file.model_;
  if (model.version() != 3) {
    return Unimplemented("the file has version ", model.version(),
                         " of TFLite's form; version 3 is taken");
  }
  if (model.subgraphs() == nullptr || model.subgraphs()->size() == 0) {
    return InvalidArgument("the file has no subgraph");
  }
  TIM_RETURN_IF_ERROR(file.CheckBuffers());
  int number = 0;
  for (const fbs::Subgraph* subgraph : *model.subgraphs()) {
    const Status status = file.CheckSubgraph(*subgraph);
    if (!status.ok()) {
      return status.WithContext(StrCat("subgraph ", number));
    }
    ++number;
  }
  TIM_RETURN_IF_ERROR(file.CheckSignatures());
  return file;
}

Status File::CheckBuffers() const {
  if (model_->buffers() == nullptr) return OkStatus();
  int number = 0;
  for (const fbs::Buffer* buffer : *model_->buffers()) {
    if (buffer->offset() > 1 &&
        (buffer->offset() > bytes_.size() ||
         buffer->size() > bytes_.size() - buffer->offset())) {
      return InvalidArgument("buffer ", number, " is bytes ", buffer->offset(),
                             " and ", buffer->size(), " more of a file of ",
                             bytes_.size());
    }
    ++number;
  }
  return OkStatus();
}

Status File::CheckSubgraph(const fbs::Subgraph& subgraph) const {
  const size_t buffers =
      model_->buffers() == nullptr ? 0 : model_->buffers()->size();
  size_t tensors = 0;
  if (subgraph.tensors() != nullptr) {
    tensors = subgraph.tensors()->size();
    for (size_t i = 0; i < tensors; ++i) {
      const fbs::Tensor& tensor =
          *subgraph.tensors()->Get(static_cast<flatbuffers::uoffset_t>(i));
      if (tensor.buffer() != 0 && tensor.buffer() >= buffers) {
        return InvalidArgument("tensor ", i, " has buffer ", tensor.buffer(),
                               " of ", buffers);
      }
    }
  }
  TIM_RETURN_IF_ERROR(
      CheckIndices(Items(subgraph.inputs()), tensors, 0, "its inputs"));
  TIM_RETURN_IF_ERROR(
      CheckIndices(Items(subgraph.outputs()), tensors, 0, "its outputs"));
  if (subgraph.operators() == nullptr) return OkStatus();
  const size_t codes = model_->codes() == nullptr ? 0 : model_->codes()->size();
  int number = 0;
  for (const fbs::Operator* node : *subgraph.operators()) {
    if (node->code_index() >= codes) {
      return InvalidArgument("operator ", number, " has code ",
                             node->code_index(), " of ", codes);
    }
    const std::string whose = StrCat("operands of operator ", number);
    TIM_RETURN_IF_ERROR(
        CheckIndices(Items(node->inputs()), tensors, -1, whose.c_str()));
    TIM_RETURN_IF_ERROR(
        CheckIndices(Items(node->outputs()), tensors, -1, whose.c_str()));
    ++number;
  }
  return OkStatus();
}

Status File::CheckSignatures() const {
  if (model_->signatures() == nullptr) return OkStatus();
  for (const fbs::Signature* signature : *model_->signatures()) {
    const std::string key =
        signature->key() == nullptr ? std::string() : signature->key()->str();
    if (signature->subgraph() >= model_->subgraphs()->size()) {
      return InvalidArgument("signature '", key, "' names subgraph ",
                             signature->subgraph(), " of ",
                             model_->subgraphs()->size());
    }
    const auto* tensors =
        model_->subgraphs()->Get(signature->subgraph())->tensors();
    const size_t count = tensors == nullptr ? 0 : tensors->size();
    for (const auto* names : {signature->inputs(), signature->outputs()}) {
      if (names == nullptr) continue;
      for (const fbs::NamedTensor* named : *names) {
        if (named->tensor() >= count) {
          return InvalidArgument("signature '", key, "' names tensor ",
                                 named->tensor(), " of ", count);
        }
      }
    }
  }
  return OkStatus();
}

std::span<const std::byte> File::BufferOf(const fbs::Tensor& tensor) const {
  if (tensor.buffer() == 0) return {};
  const fbs::Buffer& buffer = *model_->buffers()->Get(tensor.buffer());
  if (buffer.offset() > 1) {
    return bytes_.subspan(buffer.offset(), buffer.size());
  }
  return std::as_bytes(Items(buffer.data()));
}

int File::CodeOf(const fbs::Operator& node) const {
  const fbs::OperatorCode& code = *model_->codes()->Get(node.code_index());
  const int number = std::max<int>(code.small_code(), code.code());
  return number == kCustom ? -1 : number;
}

std::string File::NameOf(const fbs::Operator& node) const {
  const int number = CodeOf(node);
  if (number < 0) {
    const auto* custom = model_->codes()->Get(node.code_index())->custom_code();
    return custom == nullptr ? "CUSTOM" : custom->str();
  }
  const char* name = OperatorName(number);
  return name != nullptr ? name : StrCat("operator ", number);
}

}  // namespace tim::models::tflite
