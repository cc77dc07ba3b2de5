// Stands for an absent optional operand.
#ifndef TIM_VX_TENSOR_PLACE_HOLDER_H_
#define TIM_VX_TENSOR_PLACE_HOLDER_H_

#include "tim/vx/tensor.h"
#include "vx/core/failure.h"
#include "vx/tensor/tensor_impl.h"

namespace tim::vx {

class PlaceHolder final : public Tensor {
 public:
  const ShapeType& GetShape() override { return spec_.shape_; }
  DataType GetDataType() override { return spec_.datatype_; }
  const Quantization& GetQuantization() override { return spec_.quantization_; }
  TensorSpec& GetSpec() override { return spec_; }
  uint32_t GetId() override { return kNoTensorId; }
  bool CopyDataToTensor(const void*, uint32_t) override { return Refuse(); }
  bool CopyDataFromTensor(void*) override { return Refuse(); }
  bool SwapHandle(void*, bool, void**) override { return Refuse(); }
  bool SwapHandle(std::shared_ptr<Tensor>) override { return Refuse(); }
  bool SwapHandleWithCache(std::shared_ptr<Tensor>) override {
    return Refuse();
  }
  bool FlushCacheForHandle() override { return Refuse(); }
  bool InvalidateCacheForHandle() override { return Refuse(); }
  void* map(bool) override { return RefuseNull(); }
  void unmap() override {}
  bool IsPlaceHolder() override { return true; }
  bool IsConstTensor() override { return false; }
  void SetScalar(int8_t) override {}
  bool IsScalar() override { return false; }
  bool SaveTensorToTextByFp32(std::string) override { return Refuse(); }
  void* ConvertTensorToData(uint8_t*) override { return RefuseNull(); }
  float* ConvertTensorToFloat32Data() override {
    Refuse();
    return nullptr;
  }

 private:
  static bool Refuse() {
    return Fail(FailedPrecondition("a placeholder tensor holds no data"));
  }
  static void* RefuseNull() {
    Refuse();
    return nullptr;
  }

  TensorSpec spec_;
};

}  // namespace tim::vx

#endif  // TIM_VX_TENSOR_PLACE_HOLDER_H_
