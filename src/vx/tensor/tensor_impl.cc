// Creation, and copies to and from the host.
#include "vx/tensor/tensor_impl.h"

#include <cstring>
#include <utility>

#include "base/guarded.h"
#include "base/log.h"
#include "vx/core/failure.h"
#include "vx/tensor/element_codes.h"
#include "vx/tensor/type_convert.h"

namespace tim::vx {

std::shared_ptr<TensorImpl> TensorImpl::CreateUnusable(
    std::shared_ptr<GraphCore> core, const TensorSpec& spec, Status problem) {
  auto tensor = std::make_shared<TensorImpl>(std::move(core), spec);
  tensor->problem_ = std::move(problem);
  tensor->Report(tensor->problem_);
  tensor->core_->logged.push_back(AsFinal(tensor->problem_).message());
  return tensor;
}

std::shared_ptr<TensorImpl> TensorImpl::Create(std::shared_ptr<GraphCore> core,
                                               const TensorSpec& spec,
                                               const void* data) {
  auto tensor = std::make_shared<TensorImpl>(core, spec);
  const Status status = GuardedCall([&]() -> Status {
    TIM_RETURN_IF_ERROR(tensor->CheckSpec());
    TIM_RETURN_IF_ERROR(tensor->MakeStorage());
    return tensor->Initialise(data);
  });
  if (!status.ok()) return CreateUnusable(std::move(core), spec, status);
  tensor->id_ = core->next_tensor_id++;
  return tensor;
}

std::shared_ptr<TensorImpl> TensorImpl::CreateOn(
    std::shared_ptr<GraphCore> core, const TensorSpec& spec, void* memory) {
  auto tensor = std::make_shared<TensorImpl>(core, spec);
  const Status status = tensor->CheckOnMemory();
  if (!status.ok()) return CreateUnusable(std::move(core), spec, status);
  tensor->storage_ = HandleStorage{.memory = memory, .bytes = tensor->bytes_};
  tensor->id_ = core->next_tensor_id++;
  return tensor;
}

std::shared_ptr<TensorImpl> TensorImpl::CreateOnDmaBuffer(
    std::shared_ptr<GraphCore> core, const TensorSpec& spec, int64_t fd) {
  auto tensor = std::make_shared<TensorImpl>(core, spec);
  const Status status = GuardedCall([&]() -> Status {
    TIM_RETURN_IF_ERROR(tensor->CheckOnMemory());
    TIM_ASSIGN_OR_RETURN(auto mapping, DmaMapping::Create(fd, tensor->bytes_));
    tensor->storage_ =
        HandleStorage{.memory = core->memory.Adopt(std::move(mapping)),
                      .bytes = tensor->bytes_};
    return OkStatus();
  });
  if (!status.ok()) return CreateUnusable(std::move(core), spec, status);
  tensor->id_ = core->next_tensor_id++;
  return tensor;
}

Status TensorImpl::CheckOnMemory() {
  TIM_RETURN_IF_ERROR(CheckSpec());
  if (!shape_open_) return OkStatus();
  return InvalidArgument("a tensor on memory of the caller needs a shape");
}

std::shared_ptr<TensorImpl> TensorImpl::CreateConstant(
    std::shared_ptr<GraphCore> core, const TensorSpec& spec,
    std::shared_ptr<const ir::ConstantData> data) {
  auto tensor = std::make_shared<TensorImpl>(core, spec);
  const Status status = GuardedCall([&]() -> Status {
    TIM_RETURN_IF_ERROR(tensor->CheckSpec());
    const auto bytes = static_cast<int64_t>(data->bytes.size());
    if (spec.attr_ == CONSTANT && bytes == tensor->bytes_) return OkStatus();
    return TIM_INTERNAL("a constant of ", bytes, " bytes as ",
                        tensor->desc_.ToString());
  });
  if (!status.ok()) return CreateUnusable(std::move(core), spec, status);
  tensor->storage_ = ConstantStorage(std::move(data));
  tensor->id_ = core->next_tensor_id++;
  return tensor;
}

Status TensorImpl::CheckSpec() {
  auto desc = ToIr(spec_);
  if (!desc.ok()) return desc.status();
  desc_ = *std::move(desc);
  const int rank = desc_.shape.rank();
  if (rank > ir::kMaxRank) {
    return InvalidArgument("a tensor of rank ", rank, " ",
                           desc_.shape.ToString(), " cannot be made: at most ",
                           ir::kMaxRank, " dimensions are supported");
  }
  type_open_ = desc_.type == ir::DataType::kUnknown;
  if (attribute_ == TRANSIENT) return OkStatus();
  if (attribute_ != INPUT && attribute_ != OUTPUT && attribute_ != VARIABLE &&
      attribute_ != CONSTANT) {
    return InvalidArgument("tensor attribute ", static_cast<int>(attribute_),
                           " does not exist");
  }
  if (type_open_) {
    return InvalidArgument("data type UNKNOWN is for TRANSIENT tensors only");
  }
  shape_open_ = rank == 0 && attribute_ == OUTPUT;
  if (shape_open_) return OkStatus();
  if (rank == 0) {
    return InvalidArgument(
        "a tensor that is neither TRANSIENT nor OUTPUT "
        "needs a shape; one value is {1}");
  }
  for (const int64_t extent : desc_.shape.dims()) {
    if (extent > 0) continue;
    return InvalidArgument("shape ", desc_.shape.ToString(),
                           " has an extent of 0; only TRANSIENT tensors may "
                           "leave extents open");
  }
  TIM_ASSIGN_OR_RETURN(bytes_, ir::ByteSize(desc_));
  return OkStatus();
}

Status TensorImpl::AllocateHandle() {
  void* memory = core_->memory.Allocate(bytes_);
  if (memory == nullptr) {
    return OutOfMemory("no host memory for a tensor of ", bytes_, " bytes, ",
                       desc_.ToString());
  }
  storage_ = HandleStorage{.memory = memory,
                           .bytes = bytes_,
                           .content = attribute_ == OUTPUT
                                          ? HandleStorage::Content::kNone
                                          : HandleStorage::Content::kGiven};
  return SetZeroPoints(desc_, memory);
}

// Asked for first: allocations beyond it may seem to work until they are used.
Status TensorImpl::CheckMemory() const {
  const int64_t limit = core_->context->devices[0]->info().global_memory_bytes;
  if (bytes_ <= limit) return OkStatus();
  return OutOfMemory("a tensor of ", bytes_, " bytes, ", desc_.ToString(),
                     ", exceeds the host's memory of ", limit, " bytes");
}

Status TensorImpl::MakeStorage() {
  if (attribute_ == TRANSIENT) return OkStatus();
  TIM_RETURN_IF_ERROR(CheckMemory());
  if (attribute_ == INPUT || attribute_ == OUTPUT) {
    if (!shape_open_) return AllocateHandle();
    storage_ = HandleStorage{.content = HandleStorage::Content::kNone};
    return OkStatus();
  }
  if (attribute_ == CONSTANT) {
    storage_ = ConstantStorage();
    return OkStatus();
  }
  TIM_ASSIGN_OR_RETURN(std::vector<std::byte> zeros, ZeroBytes(desc_));
  storage_ = StateStorage(std::move(zeros));
  return OkStatus();
}

Status TensorImpl::Initialise(const void* data) {
  if (data != nullptr && attribute_ == TRANSIENT) {
    TIM_LOG(kError, "data for a TRANSIENT tensor of graph ", core_->name,
            " is ignored: the host cannot write it");
    return OkStatus();
  }
  if (data != nullptr) return Write(data);
  if (attribute_ != CONSTANT) return OkStatus();
  needs_data_ = true;
  TIM_ASSIGN_OR_RETURN(std::vector<std::byte> zeros, ZeroBytes(desc_));
  storage_ = ConstantStorage(ir::MakeConstant(zeros));
  return OkStatus();
}

Status TensorImpl::NotPossible(const char* what, const char* rule) const {
  return FailedPrecondition("tensor ", Name(), " (", desc_.ToString(),
                            ") of graph ", core_->name, ": ", what, ": ", rule);
}

DmaMapping* TensorImpl::mapping() const {
  const auto* handle = std::get_if<HandleStorage>(&storage_);
  return handle != nullptr ? core_->memory.MappingAt(handle->memory) : nullptr;
}

// `access` is what it does to the tensor's memory.
Status TensorImpl::CopyBytes(void* destination, const void* source,
                             DmaMapping::Access access) const {
  DmaMapping* dma = mapping();
  const auto in_tensor = [this](const Status& status) {
    return status.WithContext(StrCat("tensor ", Name()));
  };
  if (dma != nullptr) {
    const Status begun = dma->Begin(access);
    if (!begun.ok()) return in_tensor(begun);
  }
  std::memmove(destination, source, static_cast<size_t>(bytes_));
  if (dma == nullptr) return OkStatus();
  const Status ended = dma->End(access);
  return ended.ok() ? ended : in_tensor(ended);
}

Status TensorImpl::Write(const void* data) {
  if (data == nullptr) return NotPossible("write", "the data is null");
  if (shape_open_ && bytes_ == 0) {
    return NotPossible("write", "the shape is not known before Compile()");
  }
  if (auto* handle = std::get_if<HandleStorage>(&storage_)) {
    TIM_RETURN_IF_ERROR(
        CopyBytes(handle->memory, data, DmaMapping::Access::kWrite));
    handle->content = HandleStorage::Content::kGiven;
    return OkStatus();
  }
  if (auto* constant = std::get_if<ConstantStorage>(&storage_)) {
    auto written = ir::MakeConstant(data, static_cast<size_t>(bytes_));
    if (!constant->has_content() || constant->hash() != written->hash) {
      ++revision_;
    }
    *constant = ConstantStorage(std::move(written));
    needs_data_ = false;
    return OkStatus();
  }
  if (auto* state = std::get_if<StateStorage>(&storage_)) {
    return state->Write(data);
  }
  return NotPossible("write", "the host cannot reach a TRANSIENT tensor");
}

Status TensorImpl::CheckContent(const char* what) const {
  using Content = HandleStorage::Content;
  if (needs_data_) {
    return NotPossible(what,
                       "it was created without data, and none was given "
                       "to it since");
  }
  const auto* handle = std::get_if<HandleStorage>(&storage_);
  if (attribute_ != OUTPUT || handle == nullptr ||
      handle->content == Content::kGiven) {
    return OkStatus();
  }
  if (handle->content == Content::kFailed) {
    return NotPossible(what,
                       "the graph's last Run() has failed; its results "
                       "are there after one that succeeds");
  }
  return NotPossible(what,
                     "no Run() has written it; its results are there "
                     "after the first Run() of a graph in which an "
                     "operation writes it");
}

void TensorImpl::SetRun(RunResult result) {
  HandleStorage* const storage = handle();
  if (attribute_ != OUTPUT || storage == nullptr) return;
  if (result == RunResult::kWritten) {
    storage->content = HandleStorage::Content::kGiven;
  } else if (core_->memory.Owns(storage->memory) && mapping() == nullptr) {
    storage->content = HandleStorage::Content::kFailed;
  }
}

Status TensorImpl::Read(void* data) const {
  if (data == nullptr) return NotPossible("read", "the destination is null");
  if (shape_open_ && bytes_ == 0) {
    return NotPossible("read", "the shape is not known before Compile()");
  }
  TIM_RETURN_IF_ERROR(CheckContent("read"));
  if (const auto* handle = std::get_if<HandleStorage>(&storage_)) {
    return CopyBytes(data, handle->memory, DmaMapping::Access::kRead);
  }
  if (const auto* constant = std::get_if<ConstantStorage>(&storage_)) {
    TIM_ASSIGN_OR_RETURN(const auto content, constant->Data());
    std::memcpy(data, content->bytes.data(), static_cast<size_t>(bytes_));
    return OkStatus();
  }
  if (const auto* state = std::get_if<StateStorage>(&storage_)) {
    return state->Read(data);
  }
  return NotPossible("read", "the host cannot reach a TRANSIENT tensor");
}

Status TensorImpl::CheckSize(uint32_t size_in_bytes) {
  if (size_in_bytes == 0 || size_in_bytes == bytes_ || bytes_ == 0) {
    return OkStatus();
  }
  const std::string text =
      StrCat("tensor ", Name(), " (", desc_.ToString(), ") of graph ",
             core_->name, ": CopyDataToTensor() is given ", size_in_bytes,
             " bytes, and copies the ", bytes_,
             " that the tensor has; give their number, or 0, and memory that "
             "holds them");
  if (!core_->context->options.lenient) {
    return InvalidArgument(text, " (TIMCL_LENIENT=0)");
  }
  if (!std::exchange(size_doubted_, true)) TIM_LOG(kWarning, text);
  return OkStatus();
}

bool TensorImpl::CopyDataToTensor(const void* data, uint32_t size_in_bytes) {
  if (!problem_.ok()) return Report(problem_);
  const Status status = GuardedCall([&]() -> Status {
    TIM_RETURN_IF_ERROR(CheckSize(size_in_bytes));
    return Write(data);
  });
  return status.ok() || Report(status);
}

bool TensorImpl::CopyDataFromTensor(void* data) {
  if (!problem_.ok()) return Report(problem_);
  const Status status = GuardedCall([&] { return Read(data); });
  return status.ok() || Report(status);
}

void TensorImpl::SetScalar(int8_t is_scalar) {
  if (is_scalar_ == (is_scalar != 0)) return;
  is_scalar_ = is_scalar != 0;
  ++revision_;
}

Result<ir::TensorDesc> TensorImpl::DeclaredDesc() const {
  TIM_ASSIGN_OR_RETURN(ir::TensorDesc desc, ToIr(spec_));
  if (attribute_ == TRANSIENT) {
    if (type_open_ && desc.type == desc_.type) {
      desc.type = ir::DataType::kUnknown;
    }
    desc.shape = shape_counts_ ? desc_.shape : ir::Shape();
    return desc;
  }
  desc.type = desc_.type;
  desc.shape = shape_open_ ? ir::Shape() : desc_.shape;
  return desc;
}

ir::Shape TensorImpl::PreferredShape() const {
  const bool preferred =
      attribute_ == TRANSIENT && !shape_counts_ && desc_.shape.rank() > 0;
  return preferred ? desc_.shape : ir::Shape();
}

Status TensorImpl::StoreInferred(const ir::TensorDesc& desc) {
  if (attribute_ != TRANSIENT && !shape_open_) return OkStatus();
  const auto& dims = desc.shape.dims();
  spec_.shape_.assign(dims.begin(), dims.end());
  if (attribute_ == TRANSIENT) {
    if (type_open_) desc_.type = desc.type;
    if (type_open_) spec_.datatype_ = ToVx(desc.type);
    return OkStatus();
  }
  desc_.shape = desc.shape;
  TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(desc_));
  if (bytes == bytes_) return OkStatus();
  core_->memory.RemoveUser(handle()->memory);
  bytes_ = bytes;
  return AllocateHandle();
}

std::string NameOf(Tensor& tensor) {
  const auto* made = dynamic_cast<const TensorImpl*>(&tensor);
  return made != nullptr ? made->Name() : StrCat("t", tensor.GetId());
}

}  // namespace tim::vx
