// Runs a compiled graph without the parts that build graphs.
#ifndef TIM_LITE_EXECUTION_H_
#define TIM_LITE_EXECUTION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tim/lite/handle.h"
#include "tim/vx/export.h"

namespace tim {
namespace lite {

class TIM_VX_API Execution {
 public:
  virtual ~Execution() = default;

  /// Loads what tim::vx::Graph::CompileToBinary() wrote.
  /// Not implemented yet: null, with tim::vx::LastError().
  static std::shared_ptr<Execution> Create(const void* executable,
                                           size_t executable_size);

  /// Uses `buffer` in place; null where `in_idx` is out of range.
  virtual std::shared_ptr<Handle> CreateInputHandle(uint32_t in_idx,
                                                    uint8_t* buffer,
                                                    size_t size) = 0;
  virtual std::shared_ptr<Handle> CreateOutputHandle(uint32_t out_idx,
                                                     uint8_t* buffer,
                                                     size_t size) = 0;
  /// Each handle knows its index.
  virtual Execution& BindInputs(
      const std::vector<std::shared_ptr<Handle>>& handles) = 0;
  virtual Execution& BindOutputs(
      const std::vector<std::shared_ptr<Handle>>& handles) = 0;
  virtual Execution& UnBindInput(const std::shared_ptr<Handle>& handle) = 0;
  virtual Execution& UnBindOutput(const std::shared_ptr<Handle>& handle) = 0;
  /// Runs and waits for the results.
  virtual bool Trigger() = 0;
};

}  // namespace lite
}  // namespace tim

#endif  // TIM_LITE_EXECUTION_H_
