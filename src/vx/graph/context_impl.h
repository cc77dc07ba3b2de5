// Contexts, and the factory that tests use to choose devices.
#ifndef TIM_VX_GRAPH_CONTEXT_IMPL_H_
#define TIM_VX_GRAPH_CONTEXT_IMPL_H_

#include <functional>
#include <memory>
#include <vector>

#include "device/device.h"
#include "ir/graph.h"
#include "ir/op_registry.h"
#include "runtime/device_pool.h"
#include "tim/vx/compile_option.h"
#include "tim/vx/context.h"
#include "vx/graph/overrides.h"

namespace tim::vx {

using device::Devices;

struct ContextOptions {
  /// A host step beside another device fails Compile().
  bool strict = false;
  /// What is legal and hardly meant is a warning; else it fails Compile().
  bool lenient = true;
  /// Index of the device that a node must run on, -1 for the cheapest.
  std::function<int(const ir::Node&)> placement = nullptr;
  /// Null: the built-in ones; must outlive the context's graphs.
  const ir::OpRegistry* operators = nullptr;
  /// Null: the user's program cache.
  std::shared_ptr<device::BinaryStore> programs = nullptr;
  /// What CompileOption::setDeviceId() chooses from, beside 0, which are the
  /// context's devices.  Null: it has no effect.
  std::function<Result<Devices>(uint32_t number)> devices_of = nullptr;
};

/// What the graphs of a context keep of it.
struct ContextState {
  Devices devices;  ///< [0] is the host.
  ContextOptions options;
  std::shared_ptr<Overrides> overrides = std::make_shared<Overrides>();

  const ir::OpRegistry& Operators() const;
  /// For a graph with these options.
  Result<Devices> DevicesFor(const CompileOption& compile) const;
};

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
