// The devices of this process, and what runs on them: what IDevice::Enumerate()
// and IDevice::CreateExecutor() make.  The constructors are those of earlier
// versions of TIM-VX.
#ifndef TIM_VX_PLATFORM_NATIVE_H_
#define TIM_VX_PLATFORM_NATIVE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "tim/vx/export.h"
#include "tim/vx/platform/platform.h"

namespace tim {
namespace vx {
namespace platform {

class RunLock;

class TIM_VX_API NativeDevice
    : public IDevice,
      public std::enable_shared_from_this<NativeDevice> {
 public:
  class Impl;
  explicit NativeDevice(std::unique_ptr<Impl> impl);
  ~NativeDevice() override;

  std::shared_ptr<IExecutor> CreateExecutor(
      const int32_t core_index = 0, const int32_t core_count = -1,
      const std::shared_ptr<Context>& context = nullptr) override;
  std::string Name() const override;
  bool Submit(const std::shared_ptr<Graph>& graph) override;
  bool Trigger(bool async = false, async_callback cb = nullptr) override;
  void WaitDeviceIdle() override;
  bool DeviceExit() override;

  /// As IDevice::Enumerate().
  static std::vector<std::shared_ptr<IDevice>> Enumerate();

 private:
  friend class NativeExecutor;
  std::unique_ptr<Impl> impl_;
};

class TIM_VX_API NativeExecutor
    : public IExecutor,
      public std::enable_shared_from_this<NativeExecutor> {
 public:
  /// On all cores of a device of Enumerate().  Whatever is called of an
  /// executor that cannot be made fails for that reason.
  explicit NativeExecutor(const std::shared_ptr<IDevice>& device,
                          const std::shared_ptr<Context>& context = nullptr);
  NativeExecutor(const std::shared_ptr<IDevice>& device, int32_t core_index,
                 int32_t core_count, const std::shared_ptr<Context>& context);
  ~NativeExecutor() override;

  bool Submit(const std::shared_ptr<IExecutable>& executable,
              const std::shared_ptr<IExecutable>& ref,
              bool after = true) override;
  bool Trigger(bool async = false) override;
  bool Trigger(bool async, IDevice::async_callback callback) override;
  std::shared_ptr<IExecutable> Compile(
      const std::shared_ptr<Graph>& graph) override;

  class Impl;
  Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

class TIM_VX_API NativeExecutable : public IExecutable {
 public:
  /// Of what Graph::CompileToBinary() wrote, for an executor of this library.
  NativeExecutable(const std::shared_ptr<IExecutor>& executor,
                   const std::vector<char>& nb_buf, size_t inputs,
                   size_t outputs);
  ~NativeExecutable() override;

  void SetInput(const std::shared_ptr<ITensorHandle>& th) override;
  void SetOutput(const std::shared_ptr<ITensorHandle>& th) override;
  void SetInputs(
      const std::vector<std::shared_ptr<ITensorHandle>>& ths) override;
  void SetOutputs(
      const std::vector<std::shared_ptr<ITensorHandle>>& ths) override;
  std::vector<std::shared_ptr<ITensorHandle>> GetOutputs() override;
  std::vector<std::shared_ptr<ITensorHandle>> Getinputs() override;
  bool Submit(const std::shared_ptr<IExecutable>& ref,
              bool after = true) override;
  bool Trigger(bool async = false) override;
  bool Verify() override;
  std::shared_ptr<ITensorHandle> AllocateTensor(const TensorSpec& tensor_spec,
                                                void* data = nullptr,
                                                uint32_t size = 0) override;

  class Impl;

 private:
  explicit NativeExecutable(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Made by CreateExecutableSet().  Inputs and outputs are set on its members.
class TIM_VX_API ExecutableSet : public IExecutable {
 public:
  explicit ExecutableSet(
      const std::vector<std::shared_ptr<IExecutable>>& executables);

  void SetInput(const std::shared_ptr<ITensorHandle>& th) override;
  void SetOutput(const std::shared_ptr<ITensorHandle>& th) override;
  void SetInputs(
      const std::vector<std::shared_ptr<ITensorHandle>>& ths) override;
  void SetOutputs(
      const std::vector<std::shared_ptr<ITensorHandle>>& ths) override;
  /// Of all members, one after the other.
  std::vector<std::shared_ptr<ITensorHandle>> GetOutputs() override;
  std::vector<std::shared_ptr<ITensorHandle>> Getinputs() override;
  bool Submit(const std::shared_ptr<IExecutable>& ref,
              bool after = true) override;
  bool Trigger(bool async = false) override;
  bool Verify() override;
  std::shared_ptr<ITensorHandle> AllocateTensor(const TensorSpec& tensor_spec,
                                                void* data = nullptr,
                                                uint32_t size = 0) override;
  const std::vector<std::shared_ptr<IExecutable>>& Executables() const {
    return executables_;
  }

 protected:
  std::vector<std::shared_ptr<IExecutable>> executables_;
};

class TIM_VX_API NativeTensorHandle : public ITensorHandle {
 public:
  /// Of any graph's tensor.
  explicit NativeTensorHandle(const std::shared_ptr<Tensor>& tensor);
  /// Of an executable's: copies hold `running`.
  NativeTensorHandle(const std::shared_ptr<Tensor>& tensor,
                     std::shared_ptr<RunLock> running);

  bool CopyDataToTensor(const void* data, uint32_t size_in_bytes) override;
  bool CopyDataFromTensor(void* data) override;
  TensorSpec& GetSpec() override;

 private:
  std::shared_ptr<RunLock> running_;
  TensorSpec none_;  // of a handle without a tensor
};

}  // namespace platform
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_PLATFORM_NATIVE_H_
