// Memory of the caller as an input or output of an Execution.
#ifndef TIM_LITE_HANDLE_H_
#define TIM_LITE_HANDLE_H_

#include "tim/vx/export.h"

namespace tim {
namespace lite {

/// Made by Execution::CreateInputHandle() and CreateOutputHandle().
class TIM_VX_API Handle {
 public:
  virtual ~Handle() = default;
  /// After inputs were written.  Nothing is needed here, nor before outputs are
  /// read: both return true.
  virtual bool Flush() = 0;
  virtual bool Invalidate() = 0;
};

}  // namespace lite
}  // namespace tim

#endif  // TIM_LITE_HANDLE_H_
