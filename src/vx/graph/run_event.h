// The inside of the public RunEvent.
#ifndef TIM_VX_GRAPH_RUN_EVENT_H_
#define TIM_VX_GRAPH_RUN_EVENT_H_

#include <memory>
#include <utility>

#include "runtime/run_event.h"
#include "tim/vx/run_event.h"

namespace tim::vx {

class RunEvent::Impl {
 public:
  explicit Impl(std::shared_ptr<runtime::RunEvent> made)
      : run(std::move(made)) {}

  const std::shared_ptr<runtime::RunEvent> run;
};

}  // namespace tim::vx

#endif  // TIM_VX_GRAPH_RUN_EVENT_H_
