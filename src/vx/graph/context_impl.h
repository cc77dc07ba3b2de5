// Contexts, and the factory that tests use to choose devices.
#ifndef TIM_VX_GRAPH_CONTEXT_IMPL_H_
#define TIM_VX_GRAPH_CONTEXT_IMPL_H_

#include <memory>
#include <string>
#include <utility>

#include "tim/vx/compile_option.h"
#include "tim/vx/context.h"
#include "vx/core/context_state.h"

namespace tim::vx {

class ContextImpl final : public Context {
 public:
  explicit ContextImpl(std::shared_ptr<const ContextState> state)
      : state_(std::move(state)) {}

  std::shared_ptr<Graph> CreateGraph() override;
  std::shared_ptr<Graph> CreateGraph(const CompileOption& options) override;
  bool isClOnly() override { return true; }
  bool hasSP() override { return false; }
  std::string DeviceName() const override;

  const std::shared_ptr<const ContextState>& state() const { return state_; }

 private:
  void SetOverride(const char* operator_name,
                   Graph::Replacement factory) override;

  std::shared_ptr<const ContextState> state_;
};

/// A context on the devices given; devices[0] is the host.
std::shared_ptr<Context> CreateContext(Devices devices,
                                       ContextOptions options = {});

}  // namespace tim::vx

#endif  // TIM_VX_GRAPH_CONTEXT_IMPL_H_
