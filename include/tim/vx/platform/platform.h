// Compiled graphs on chosen devices and cores, run by queues of their own.
//
//   auto device = IDevice::Enumerate()[0];
//   auto executor = device->CreateExecutor(0, 1);       // its first core
//   auto executable = executor->Compile(graph);         // the graph may go now
//   auto in = executable->AllocateTensor(input->GetSpec());
//   auto out = executable->AllocateTensor(output->GetSpec());
//   executable->SetInput(in);
//   executable->SetOutput(out);
//   in->CopyDataToTensor(data, bytes);
//   executable->Submit(executable);
//   executor->Trigger(true);                            // returns at once
//   device->WaitDeviceIdle();
//   out->CopyDataFromTensor(result);
//
// Functions that fail return false, null or nothing, and set
// tim::vx::LastError().  Objects may be destroyed in any order; an executor's
// end waits for what it was triggered to do.
#ifndef TIM_VX_PLATFORM_PLATFORM_H_
#define TIM_VX_PLATFORM_PLATFORM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
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

/// Several executables as one, which runs them in this order.  They are
/// submitted to the first one's executor.  Null where there are none, or one is
/// null.
TIM_VX_API std::shared_ptr<IExecutable> CreateExecutableSet(
    const std::vector<std::shared_ptr<IExecutable>>& executables);

/// A device that graphs can run on.  Any thread.
class TIM_VX_API IDevice {
 public:
  using device_id_t = uint32_t;
  /// Is called once, on a thread of the queue (of Trigger(false, …): before it
  /// returns) and before anything that was triggered later runs, with null
  /// where all went well, else with the reason, a C string that is valid during
  /// the call.  What it returns does not matter.  It may destroy any object,
  /// and submit and trigger more with `async`; what waits for its own queue is
  /// refused.
#ifdef __ANDROID_NDK__
  typedef bool (*async_callback)(const void*);
#else
  using async_callback = std::function<bool(const void*)>;
#endif
  using data_t = const void*;

  virtual ~IDevice() = default;
  /// A queue for `core_count` cores from `core_index` on.  An index below 0
  /// counts as 0, a count of 0 or below as all that remain; a count that is too
  /// large is cut, with a warning.  Null for an index that is not below
  /// CoreCount().  Cores are sub-devices; all of them are the device itself.
  ///
  /// \param context whose options and overrides count; its devices do not.
  ///   Null: a new one, whose graphs run on the executor's cores.
  virtual std::shared_ptr<IExecutor> CreateExecutor(
      const int32_t core_index = 0, const int32_t core_count = -1,
      const std::shared_ptr<Context>& context = nullptr) = 0;
  /// Its place in Enumerate().
  device_id_t Id() const { return device_id_; }
  /// At least 1: the compute units of a device that can be parted.
  uint32_t CoreCount() const { return core_count_; }
  /// For people: "opencl: <name>" or "host".  An addition to TIM-VX.
  virtual std::string Name() const;
  /// The next Trigger() runs the graph, on this device, after what was
  /// submitted before.  It must not be used until it has run.
  virtual bool Submit(const std::shared_ptr<Graph>& graph) = 0;
  /// Runs what was submitted, all of it even where one fails.  With `async` the
  /// call returns at once: true where the work was queued.  `cb` may be null;
  /// it is called where something was submitted.  False where nothing was, or
  /// where a run failed.
  virtual bool Trigger(bool async = false, async_callback cb = nullptr) = 0;
  /// Blocks until the device and the executors that it created have done what
  /// they were triggered to do.  The first failure of asynchronous work since
  /// the last call is then this thread's LastError().
  virtual void WaitDeviceIdle() = 0;
  /// As WaitDeviceIdle(); the device stays usable.  True.
  virtual bool DeviceExit() = 0;
  /// Nothing: these devices are not remote.
  virtual void RemoteReset() {}

  /// Every OpenCL device in the loader's order, then the host.  Each call makes
  /// new objects.  CompileOption::setDeviceId() takes the same numbers.  Where
  /// TIMCL_DEVICE is set, it wins: graphs run on the device that it names.
  static std::vector<std::shared_ptr<IDevice>> Enumerate();

 protected:
  device_id_t device_id_ = 0;
  uint32_t core_count_ = 1;
};

/// A queue of executables, with a thread of its own where its device does not
/// do them by itself.  Any thread.
class TIM_VX_API IExecutor {
 public:
  using task = std::weak_ptr<IExecutable>;

  virtual ~IExecutor() = default;
  /// The next Trigger() runs `executable`: last, where `ref` is `executable`
  /// itself, else right after or before `ref`, which must have been submitted.
  /// Verifies the executable.  The queue does not keep it alive.
  virtual bool Submit(const std::shared_ptr<IExecutable>& executable,
                      const std::shared_ptr<IExecutable>& ref,
                      bool after = true) = 0;
  /// Runs what was submitted, and empties the queue.  All of it runs even where
  /// one fails, but nothing after one that was destroyed.  With `async` the
  /// call returns at once: true where the work was queued; what runs is kept
  /// alive, or waits at its end until it has run.  False for an empty queue, or
  /// where a run failed.
  virtual bool Trigger(bool async = false) = 0;
  /// An addition to TIM-VX: `callback` as of IDevice::Trigger().
  virtual bool Trigger(bool async, IDevice::async_callback callback);
  /// A compiled copy of the graph for this executor's cores: what
  /// CompileToBinary() writes, and a graph of it.  The source may be destroyed.
  virtual std::shared_ptr<IExecutable> Compile(
      const std::shared_ptr<Graph>& graph) = 0;
  virtual std::shared_ptr<IDevice> Device() const { return device_; }
  virtual std::shared_ptr<Context> Contex() const { return context_; }
  std::shared_ptr<Context> GetContext() const { return Contex(); }
  virtual uint32_t CoreIndex() const { return core_index_; }
  virtual uint32_t CoreCount() const { return core_count_; }

 protected:
  std::vector<task> tasks_;
  std::shared_ptr<IDevice> device_;
  std::shared_ptr<Context> context_;
  uint32_t core_index_ = 0;
  uint32_t core_count_ = 0;
};

/// A compiled graph and the tensors that it reads and writes.  Any thread; runs
/// of one executable, and copies to and from its tensors, wait for each other.
class TIM_VX_API IExecutable
    : public std::enable_shared_from_this<IExecutable> {
 public:
  virtual ~IExecutable() = default;
  /// The next input or output, in the order of the source graph's
  /// InputsTensor() and OutputsTensor(), by AllocateTensor().
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
  std::vector<std::shared_ptr<ITensorHandle>> GetInputs() {
    return Getinputs();
  }
  /// Of earlier versions of TIM-VX: returns when what the executor was
  /// triggered to do so far is done, so that `ths` hold the results.
  virtual void GetOutput(
      const std::vector<std::shared_ptr<ITensorHandle>>& ths);
  /// executor->Submit(this, ref, after).
  virtual bool Submit(const std::shared_ptr<IExecutable>& ref,
                      bool after = true) = 0;
  /// Runs at once, beside the queue; with `async` behind what the executor was
  /// triggered to do.
  virtual bool Trigger(bool async = false) = 0;
  /// Whether all inputs and outputs are set and fit; makes ready to run.
  virtual bool Verify() = 0;
  /// A tensor for SetInput() or SetOutput(): `tensor_spec` is that of the
  /// source graph's, `data` (may be null) is copied as by
  /// Tensor::CopyDataToTensor(data, size).  Null where it cannot be made.
  virtual std::shared_ptr<ITensorHandle> AllocateTensor(
      const TensorSpec& tensor_spec, void* data = nullptr,
      uint32_t size = 0) = 0;
  /// The graph that it runs.
  std::shared_ptr<Graph> NBGraph() const { return nb_graph_; }
  /// Null where it was destroyed.
  std::shared_ptr<IExecutor> Executor() const { return executor_.lock(); }

 protected:
  std::weak_ptr<IExecutor> executor_;
  std::shared_ptr<Context> context_;
  std::shared_ptr<Graph> nb_graph_;
  std::vector<std::shared_ptr<ITensorHandle>> input_handles_;
  std::vector<std::shared_ptr<ITensorHandle>> output_handles_;
};

/// A tensor of an executable.
class TIM_VX_API ITensorHandle {
 public:
  virtual ~ITensorHandle() = default;
  /// As Tensor's: the whole tensor, whatever `size_in_bytes` is.
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
