// Where graphs are made: the devices of this process.
#ifndef TIM_VX_CONTEXT_H_
#define TIM_VX_CONTEXT_H_

#include <memory>
#include <string>

#include "tim/vx/error.h"
#include "tim/vx/export.h"

namespace tim {
namespace vx {

class CompileOption;
class Graph;

/// The devices that graphs run on.  Any number of contexts may exist; all of
/// one process share its devices.  Any thread.  A graph outlives its context.
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

  /// What graphs run on, for people: "opencl: <device name>" or "host".  An
  /// addition to TIM-VX.
  virtual std::string DeviceName() const = 0;

  /// Devices are chosen by the environment variable TIMCL_DEVICE: `host`,
  /// `opencl` (the first OpenCL device) or `opencl:<n>`.  Unset: the first
  /// OpenCL device, or, where there is none, the host, with one warning.
  /// Null, with LastError(), where the device asked for does not exist.
  static std::shared_ptr<Context> Create();
};

}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_CONTEXT_H_
