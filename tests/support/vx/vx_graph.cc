#include "tests/support/vx/vx_graph.h"

#include "base/options.h"
#include "device/host/host_device.h"
#include "runtime/device_pool.h"
#include "vx/graph/context_impl.h"

namespace tim::testing {

std::shared_ptr<vx::Context> HostContext() { return ContextOn("host"); }

std::shared_ptr<vx::Context> ContextOn(const std::string& device) {
  auto devices = runtime::SelectDevices(device, GetOptions().on_device);
  if (!devices.ok()) return nullptr;
  return vx::CreateContext(*std::move(devices));
}

std::shared_ptr<vx::Graph> HostGraph() { return HostContext()->CreateGraph(); }

ReluGraph::ReluGraph(const vx::ShapeType& shape, std::shared_ptr<vx::Graph> on)
    : graph(std::move(on)),
      input(graph->CreateTensor(Floats(shape, vx::TensorAttribute::INPUT))),
      output(graph->CreateTensor(Floats(shape, vx::TensorAttribute::OUTPUT))),
      relu(graph->CreateOperation<vx::ops::Relu>()) {
  (*relu).BindInput(input).BindOutput(output);
}

::testing::AssertionResult CompileFailsWith(vx::Graph& graph,
                                            const std::string& text) {
  if (graph.Compile()) {
    return ::testing::AssertionFailure() << "Compile() gives true";
  }
  for (const std::string& said : {vx::LastError(), graph.ErrorMessage()}) {
    if (said.find(text) != std::string::npos) continue;
    return ::testing::AssertionFailure()
           << "'" << said << "' does not contain '" << text << "'";
  }
  return ::testing::AssertionSuccess();
}

}  // namespace tim::testing
