// Where graphs are made: the devices of this process.
#ifndef TIM_VX_CONTEXT_H_
#define TIM_VX_CONTEXT_H_

#include <memory>
#include <string>
#include <utility>

#include "tim/vx/error.h"
#include "tim/vx/export.h"
#include "tim/vx/graph.h"

namespace tim {
namespace vx {

class CompileOption;

/// The devices that graphs run on.  Any number of contexts may exist; all of
/// one process share its devices.  Any thread.  A graph outlives its context.
///
/// Processes that are forked (multiprocessing, pre-fork servers): OpenCL's
/// drivers do not work in a process that was forked off one that had used them,
/// by Create(), IDevice::Enumerate() or lite::Execution::Create().  There
/// Create(), Compile(), Run() and whatever else needs the driver fail at once,
/// with LastError(); what is destroyed, also by exit(), releases nothing of the
/// driver; and graphs on the host work.  Fork before OpenCL is first used, or
/// start the process anew (posix_spawn(), exec()).  Objects that other threads
/// were changing when the process forked are not for the new process.
class TIM_VX_API Context {
 public:
  virtual ~Context() = default;

  /// A new empty graph with a copy of CompileOption::DefaultOptions.
  virtual std::shared_ptr<Graph> CreateGraph() = 0;
  virtual std::shared_ptr<Graph> CreateGraph(const CompileOption& options) = 0;

  /// True: there is no vector engine beside OpenCL.
  virtual bool isClOnly() = 0;
  /// False: there is no stream processor.
  virtual bool hasSP() = 0;

  /// As Graph::Override(), for all graphs of the context, from their next
  /// Compile() on.  What a graph overrides by itself goes before it.  Graphs
  /// that compile on several threads call `factory` on these, several at a
  /// time.
  template <typename Op>
  void Override(Graph::Replacement factory) {
    SetOverride(Op::OpName(), std::move(factory));
  }
  /// \param operator_name "Relu", "user.Gate", or "Gate" of a user's.
  void Override(const char* operator_name, Graph::Replacement factory) {
    SetOverride(operator_name, std::move(factory));
  }

  /// What graphs run on, for people: "opencl: <device name>" or "host".  An
  /// addition to TIM-VX.
  virtual std::string DeviceName() const = 0;

  /// Devices are chosen by the environment variable TIMCL_DEVICE: `host`,
  /// `opencl` (the first OpenCL device), `opencl:<n>`, or a list of them as
  /// CreateOn() takes it, with TIMCL_POLICY as its policy.  Unset: the first
  /// OpenCL device, or, where there is none, the host, with one warning.
  /// Like every variable of this library it is read once in a process, when the
  /// library is first used: a later setenv() has no effect.  Graphs of one
  /// process run on several devices by CompileOption::setDeviceId() or
  /// tim::vx::platform, where the variable is unset.
  /// Null, with LastError(), where the device asked for does not exist, and in
  /// a process forked off one that had used OpenCL, but for `host`.
  static std::shared_ptr<Context> Create();

  /// A context whose graphs are divided among several devices; an addition to
  /// TIM-VX.  The variables TIMCL_DEVICE and TIMCL_POLICY have no effect on it.
  /// \param devices names with "," between, the preferred one first:
  ///     `host`, `opencl` (= `opencl:0`), `opencl:N`, `opencl:N/K` (K
  ///     sub-devices of equal size), `opencl:N/numa` (a sub-device per memory
  ///     domain), `opencl:N/K.S` (number S of the K), `KIND:N` of a plug-in,
  ///     `auto` (the usable device of the highest score) or `all`. The
  ///     host is always there as the last resort.
  /// \param policy "key=value" with ";" between: docs/devices.md lists them.
  /// Null, with LastError(), where a name is no device, a device is named twice
  /// or the policy has an unknown key or value.
  static std::shared_ptr<Context> CreateOn(const std::string& devices,
                                           const std::string& policy = "");

 private:
  virtual void SetOverride(const char* operator_name,
                           Graph::Replacement factory) = 0;
};

}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_CONTEXT_H_
