// A tensor of a graph.
#ifndef TIM_VX_TENSOR_TENSOR_IMPL_H_
#define TIM_VX_TENSOR_TENSOR_IMPL_H_

#include <memory>
#include <string>
#include <variant>

#include "ir/tensor_desc.h"
#include "tim/vx/tensor.h"
#include "vx/core/given_name.h"
#include "vx/core/graph_core.h"
#include "vx/tensor/tensor_storage.h"

namespace tim::vx {

inline constexpr uint32_t kNoTensorId = 0xFFFFFFFF;

class TensorImpl final : public Tensor {
 public:
  /// Never null; problem() tells why the tensor is unusable.  `data` may be
  /// null.
  static std::shared_ptr<TensorImpl> Create(std::shared_ptr<GraphCore> core,
                                            const TensorSpec& spec,
                                            const void* data);
  /// INPUT or OUTPUT on memory of the client.
  static std::shared_ptr<TensorImpl> CreateOn(std::shared_ptr<GraphCore> core,
                                              const TensorSpec& spec,
                                              void* memory);
  /// The same on the DMA buffer of a file descriptor.
  static std::shared_ptr<TensorImpl> CreateOnDmaBuffer(
      std::shared_ptr<GraphCore> core, const TensorSpec& spec, int64_t fd);
  /// CONSTANT, on data of the size of `spec`.
  static std::shared_ptr<TensorImpl> CreateConstant(
      std::shared_ptr<GraphCore> core, const TensorSpec& spec,
      std::shared_ptr<const ir::ConstantData> data);
  /// CONSTANT, on bytes of the client: CreateSharedConstant().
  static std::shared_ptr<TensorImpl> CreateShared(
      std::shared_ptr<GraphCore> core, const TensorSpec& spec,
      const std::shared_ptr<const void>& data);
  static std::shared_ptr<TensorImpl> CreateUnusable(
      std::shared_ptr<GraphCore> core, const TensorSpec& spec, Status problem);

  TensorImpl(std::shared_ptr<GraphCore> core, const TensorSpec& spec)
      : core_(std::move(core)), spec_(spec), attribute_(spec.attr_) {}

  const ShapeType& GetShape() override { return spec_.shape_; }
  DataType GetDataType() override { return spec_.datatype_; }
  const Quantization& GetQuantization() override { return spec_.quantization_; }
  TensorSpec& GetSpec() override { return spec_; }
  uint32_t GetId() override { return id_; }
  bool CopyDataToTensor(const void* data, uint32_t size_in_bytes) override;
  bool CopyDataFromTensor(void* data) override;
  bool SwapHandle(void* new_ptr, bool is_new_ptr_malloc_by_ovxlib,
                  void** old_ptr) override;
  bool SwapHandle(std::shared_ptr<Tensor> tensor) override;
  bool SwapHandleWithCache(std::shared_ptr<Tensor> tensor) override;
  bool FlushCacheForHandle() override;
  bool InvalidateCacheForHandle() override;
  void* map(bool invalidate_cpu_cache) override;
  void unmap() override;
  bool IsPlaceHolder() override { return false; }
  bool IsConstTensor() override { return attribute_ == CONSTANT; }
  void SetScalar(int8_t is_scalar) override;
  bool IsScalar() override { return is_scalar_; }
  bool SaveTensorToTextByFp32(std::string filename) override;
  void* ConvertTensorToData(uint8_t* tensorData) override;
  float* ConvertTensorToFloat32Data() override;

  const GraphCore* core() const { return core_.get(); }
  TensorAttribute attribute() const { return attribute_; }
  /// "t3", or "t3 'mask'" of one that has a name.
  std::string Name() const { return Named(StrCat("t", id_), spec_.name_); }
  /// Not ok: the tensor could not be made.
  const Status& problem() const { return problem_; }
  /// Changes with everything that Compile() takes from the tensor.
  uint64_t revision() const { return revision_; }
  bool needs_data() const { return needs_data_; }

  /// What the graph declares: storage's type and shape, unknown where the
  /// producer decides, and the quantization of now.
  Result<ir::TensorDesc> DeclaredDesc() const;
  /// Of a TRANSIENT tensor the shape at its creation, which it keeps where the
  /// producer makes as many elements; unknown where there is none.
  ir::Shape PreferredShape() const;
  /// The shape of a TRANSIENT tensor is declared, as an OUTPUT's is.
  void DeclareShape() { shape_counts_ = true; }
  /// What Compile() found: into the spec, and storage where there was none.
  Status StoreInferred(const ir::TensorDesc& desc);

  HandleStorage* handle() { return std::get_if<HandleStorage>(&storage_); }
  /// After a run of the graph.  What it writes of an OUTPUT has content; what
  /// it might have written and did not has none, but for memory of the client.
  enum class RunResult { kWritten, kFailed };
  void SetRun(RunResult result);
  /// Null where the tensor's memory is no DMA buffer.
  DmaMapping* mapping() const;
  const ConstantStorage* constant() const {
    return std::get_if<ConstantStorage>(&storage_);
  }
  ConstantStorage* constant() {
    return std::get_if<ConstantStorage>(&storage_);
  }
  StateStorage* state() { return std::get_if<StateStorage>(&storage_); }

 private:
  Status Initialise(const void* data);
  Status CheckSpec();
  Status CheckMemory() const;
  Status MakeStorage();
  Status AllocateHandle();
  Status CheckOnMemory();
  Status CheckShared(const void* data);
  /// Of CopyDataToTensor(); says once that the size is not the tensor's.
  Status CheckSize(uint32_t size_in_bytes);
  Status Write(const void* data);
  Status CopyBytes(void* destination, const void* source,
                   DmaMapping::Access access) const;
  Status Read(void* data) const;
  /// Fails where there is nothing to be read yet.
  Status CheckContent(const char* what) const;
  Result<std::vector<std::byte>> Bytes() const;
  Result<std::vector<float>> RealValues() const;
  Status CheckSwap(TensorImpl* other);
  Status NotPossible(const char* what, const char* rule) const;
  bool Report(const Status& status) { return Fail(*core_, status); }

  std::shared_ptr<GraphCore> core_;
  TensorSpec spec_;  ///< Live: clients may edit it.
  TensorAttribute attribute_;
  uint32_t id_ = kNoTensorId;
  ir::TensorDesc desc_;  ///< Of storage; as created for TRANSIENT tensors.
  int64_t bytes_ = 0;
  std::variant<std::monostate, HandleStorage, ConstantStorage, StateStorage>
      storage_;
  Status problem_;
  uint64_t revision_ = 0;
  bool is_scalar_ = false;
  bool shape_counts_ = false;  ///< DeclareShape()
  bool shape_open_ = false;    ///< OUTPUT without a shape: inference decides.
  bool type_open_ = false;     ///< TRANSIENT, UNKNOWN at creation.
  bool needs_data_ = false;    ///< CONSTANT that nobody wrote yet.
  bool size_doubted_ = false;  ///< CheckSize() has said it.
};

/// TensorImpl::Name(); "t" and the number of another.
std::string NameOf(Tensor& tensor);

}  // namespace tim::vx

#endif  // TIM_VX_TENSOR_TENSOR_IMPL_H_
