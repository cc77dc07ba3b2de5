// The programs of one device in this process: each is built once.
#ifndef TIM_DEVICE_OPENCL_PROGRAM_PROGRAM_SET_H_
#define TIM_DEVICE_OPENCL_PROGRAM_PROGRAM_SET_H_

#include <cstdint>
#include <future>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "device/opencl/driver/cl_api.h"
#include "device/opencl/program/program_source.h"

namespace tim::device {

/// Any thread.  PoCL 3.1 builds one program at a time in a process, whatever
/// the context, and starts no kernel while it builds one for its work-groups:
/// runs would wait for what is built behind them.
class ProgramSet {
 public:
  ProgramSet(cl::Context context, cl::Device device)
      : context_(std::move(context)), device_(std::move(device)) {}

  using Built = Result<cl::Program>;

  /// One per source, in order.  What is missing is built in parallel; what
  /// another thread builds is waited for.  Failures are not kept, exceptions of
  /// `store` among them.
  std::vector<Built> Get(std::span<const ProgramSource> sources,
                         BinaryStore& store);
  Built Get(const ProgramSource& source, BinaryStore& store);

 private:
  using Futures = std::vector<std::shared_future<Built>>;
  struct Entry {
    std::shared_future<Built> built;
    uint64_t last_use = 0;
  };
  // A program that this call has to build.
  struct Task {
    const ProgramSource* source = nullptr;
    std::promise<Built> promise;
    bool finished = false;
  };

  Futures Claim(std::span<const ProgramSource> sources,
                std::vector<Task>* tasks);
  Result<Futures> Build(std::span<const ProgramSource> sources,
                        BinaryStore& store);
  void Finish(Task& task, Built built);
  void DropOldest();

  const cl::Context context_;
  const cl::Device device_;
  std::mutex mutex_;
  std::map<std::string, Entry> entries_;
  uint64_t uses_ = 0;
};

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_PROGRAM_PROGRAM_SET_H_
