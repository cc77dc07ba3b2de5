// Compiled graphs on chosen devices.
#ifndef TIM_VX_PLATFORM_PLATFORM_H_
#define TIM_VX_PLATFORM_PLATFORM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tim/vx/context.h"
#include "tim/vx/export.h"
#include "tim/vx/graph.h"
#include "tim/vx/tensor.h"

namespace tim {
namespace vx {
namespace platform {

class IDevice;
class IExecutable;
class IExecutor;
class ITensorHandle;

/// executor->Compile(graph); null where either is null.
TIM_VX_API std::shared_ptr<IExecutable> Compile(
    const std::shared_ptr<Graph>& graph,
    const std::shared_ptr<IExecutor>& executor);

class TIM_VX_API IDevice {
 public:
  using device_id_t = uint32_t;
#ifdef __ANDROID_NDK__
  typedef bool (*async_callback)(const void*);
#else
  using async_callback = std::function<bool(const void*)>;
#endif
  using data_t = const void*;

  virtual ~IDevice() = default;
  virtual std::shared_ptr<IExecutor> CreateExecutor(
      const int32_t core_index = 0, const int32_t core_count = -1,
      const std::shared_ptr<Context>& context = nullptr) = 0;
  device_id_t Id() const { return device_id_; }
  uint32_t CoreCount() const { return core_count_; }
  virtual bool Submit(const std::shared_ptr<Graph>& graph) = 0;
  virtual bool Trigger(bool async = false, async_callback cb = nullptr) = 0;
  virtual void WaitDeviceIdle() = 0;
  virtual bool DeviceExit() = 0;
  virtual void RemoteReset() {}

  /// Not implemented yet: empty, with tim::vx::LastError().
  static std::vector<std::shared_ptr<IDevice>> Enumerate();

 protected:
  device_id_t device_id_ = 0;
  uint32_t core_count_ = 1;
};

class TIM_VX_API IExecutor {
 public:
  using task = std::weak_ptr<IExecutable>;

  virtual ~IExecutor() = default;
  virtual bool Submit(const std::shared_ptr<IExecutable>& executable,
                      const std::shared_ptr<IExecutable>& ref,
                      bool after = true) = 0;
  virtual bool Trigger(bool async = false) = 0;
  virtual std::shared_ptr<IExecutable> Compile(
      const std::shared_ptr<Graph>& graph) = 0;
  virtual std::shared_ptr<IDevice> Device() const { return device_; }
  virtual std::shared_ptr<Context> Contex() const { return context_; }
  virtual uint32_t CoreIndex() const { return core_index_; }
  virtual uint32_t CoreCount() const { return core_count_; }

 protected:
  std::vector<task> tasks_;
  std::shared_ptr<IDevice> device_;
  std::shared_ptr<Context> context_;
  uint32_t core_index_ = 0;
  uint32_t core_count_ = 0;
};

class TIM_VX_API IExecutable
    : public std::enable_shared_from_this<IExecutable> {
 public:
  virtual ~IExecutable() = default;
  virtual void SetInput(const std::shared_ptr<ITensorHandle>& th) = 0;
  virtual void SetOutput(const std::shared_ptr<ITensorHandle>& th) = 0;
  virtual void SetInputs(
      const std::vector<std::shared_ptr<ITensorHandle>>& ths) = 0;
  virtual void SetOutputs(
      const std::vector<std::shared_ptr<ITensorHandle>>& ths) = 0;
  virtual std::vector<std::shared_ptr<ITensorHandle>> GetOutputs() {
    return output_handles_;
  }
  virtual std::vector<std::shared_ptr<ITensorHandle>> Getinputs() {
    return input_handles_;
  }
  virtual bool Submit(const std::shared_ptr<IExecutable>& ref,
                      bool after = true) = 0;
  virtual bool Trigger(bool async = false) = 0;
  virtual bool Verify() = 0;
  virtual std::shared_ptr<ITensorHandle> AllocateTensor(
      const TensorSpec& tensor_spec, void* data = nullptr,
      uint32_t size = 0) = 0;
  std::shared_ptr<Graph> NBGraph() const { return nb_graph_; }

 protected:
  std::weak_ptr<IExecutor> executor_;
  std::shared_ptr<Context> context_;
  std::shared_ptr<Graph> nb_graph_;
  std::vector<std::shared_ptr<ITensorHandle>> input_handles_;
  std::vector<std::shared_ptr<ITensorHandle>> output_handles_;
};

class TIM_VX_API ITensorHandle {
 public:
  virtual ~ITensorHandle() = default;
  virtual bool CopyDataToTensor(const void* data, uint32_t size_in_bytes) = 0;
  virtual bool CopyDataFromTensor(void* data) = 0;
  virtual std::shared_ptr<Tensor> GetTensor() const { return tensor_; }
  virtual TensorSpec& GetSpec() { return tensor_->GetSpec(); }

 protected:
  std::shared_ptr<Tensor> tensor_;
};

}  // namespace platform
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_PLATFORM_PLATFORM_H_
