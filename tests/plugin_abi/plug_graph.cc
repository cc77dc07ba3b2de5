#include "tests/plugin_abi/plug_graph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <random>

#include "base/aligned_memory.h"
#include "compiler/compiler.h"
#include "device/device_sources.h"
#include "device/host/host_device.h"
#include "ops/registered.h"
#include "runtime/compile_options.h"
#include "tests/support/devices/empty_store.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

ir::TensorDesc FloatDesc(ir::Shape shape) {
  ir::TensorDesc desc;
  desc.type = ir::DataType::kFloat32;
  desc.shape = std::move(shape);
  return desc;
}

}  // namespace

Operators Known() {
  return {std::shared_ptr<const void>(), &ops::KnownOperators()};
}

Floats SomeFloats(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  Floats floats(count);
  for (float& one : floats) {
    one = static_cast<float>(random() % 2001) / 1000.0f - 1;
  }
  return floats;
}

ir::ValueId PlugGraph::Input(ir::Shape shape) {
  const ir::ValueId id =
      graph_.AddValue(FloatDesc(std::move(shape)), ir::Role::kInput,
                      StrCat("input", graph_.inputs().size()));
  graph_.value(id).shape_declared = true;
  graph_.AddInput(id);
  return id;
}

ir::ValueId PlugGraph::Constant(ir::Shape shape) {
  const auto count = static_cast<size_t>(*shape.NumElements());
  const Floats data =
      SomeFloats(count, static_cast<uint32_t>(100 + graph_.value_id_limit()));
  return graph_.AddConstant(
      FloatDesc(std::move(shape)),
      ir::MakeConstant(data.data(), data.size() * sizeof(float)));
}

ir::ValueId PlugGraph::Op(const std::string& op,
                          std::vector<ir::ValueId> inputs,
                          ir::AttributeMap attributes) {
  ir::Node node;
  node.schema = operators_->Find(op);
  EXPECT_NE(node.schema, nullptr) << op;
  node.name = StrCat(op, "#", graph_.node_id_limit());
  node.attributes = std::move(attributes);
  node.inputs = std::move(inputs);
  ir::TensorDesc desc;
  desc.type = ir::DataType::kFloat32;
  node.outputs = {graph_.AddValue(desc)};
  const ir::ValueId output = node.outputs[0];
  graph_.AddNode(std::move(node));
  return output;
}

PlugGraph ResNetBlock(Operators operators) {
  PlugGraph graph(std::move(operators));
  const ir::ValueId x = graph.Input({9, 7, 4, 2});
  const ir::AttributeMap same = {{"padding", int64_t{2}}};
  const auto conv = [&](ir::ValueId in) {
    return graph.Op("tim.Conv2d",
                    {in, graph.Constant({3, 3, 4, 4}), graph.Constant({4})},
                    same);
  };
  const ir::ValueId inner = graph.Op("tim.Relu", {conv(x)});
  const ir::ValueId sum = graph.Op("tim.Add", {conv(inner), x});
  graph.Output(graph.Op("tim.Relu", {sum}));
  return graph;
}

Result<runtime::ReadyGraph> Ready(const PlugGraph& graph,
                                  const device::Devices& devices, bool strict,
                                  std::shared_ptr<device::BinaryStore> store,
                                  const compiler::LinkTable& links) {
  compiler::CompileOptions options = runtime::CompileOptionsFor(devices);
  options.strict = strict;
  if (links.devices() != 0) options.links = links;
  if (store == nullptr) store = std::make_shared<EmptyStore>();
  ir::Graph copy = const_cast<PlugGraph&>(graph).graph();
  TIM_ASSIGN_OR_RETURN(
      const compiler::InferredGraph inferred,
      compiler::Infer(std::move(copy), *graph.operators(), options));
  return runtime::CompileAndPrepare(inferred, options,
                                    {.devices = devices,
                                     .store = std::move(store),
                                     .operators = graph.operators()});
}

Result<Floats> Run(runtime::ReadyGraph& ready,
                   const std::vector<Floats>& inputs) {
  const ir::Plan& plan = ready.executable->plan();
  std::vector<AlignedMemory> memory;
  const auto room = [&](const ir::PlanTensor& tensor) {
    const auto bytes = ir::ByteSize(tensor.desc);
    memory.push_back(AllocateAligned(bytes.ok() ? *bytes : 0, 64));
    return memory.back().get();
  };
  std::vector<const void*> from;
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    std::byte* const at = room(plan.inputs[i]);
    std::memcpy(at, inputs[i].data(), inputs[i].size() * sizeof(float));
    from.push_back(at);
  }
  std::vector<void*> to;
  for (const ir::PlanTensor& output : plan.outputs) to.push_back(room(output));
  TIM_RETURN_IF_ERROR(ready.context->Run(from, to, nullptr));
  Floats results;
  for (size_t i = 0; i < to.size(); ++i) {
    const auto count =
        static_cast<size_t>(*plan.outputs[i].desc.shape.NumElements());
    const auto* const floats = static_cast<const float*>(to[i]);
    results.insert(results.end(), floats, floats + count);
  }
  return results;
}

Floats Expected(const PlugGraph& graph, const std::vector<Floats>& inputs) {
  auto ready = Ready(graph, {device::CreateHostDevice()});
  EXPECT_OK(ready);
  if (!ready.ok()) return {};
  const auto results = Run(*ready, inputs);
  EXPECT_OK(results);
  return results.ok() ? *results : Floats();
}

void ExpectClose(const Floats& actual, const Floats& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    ASSERT_NEAR(actual[i], expected[i], 1e-4) << "element " << i;
  }
}

std::string LibraryPath(const std::string& name) {
  for (const char* folder : {"samples/plugins/", "tests/plugin_abi/"}) {
    const std::string path = StrCat("./", folder, name);
    if (std::ifstream(path).good()) return path;
  }
  ADD_FAILURE() << name << " is not among the test's files";
  return name;
}

Result<device::Devices> HostAnd(const std::string& kind, int number) {
  const auto source = device::FindDeviceSource(kind);
  if (!source) return NotFound("no devices of kind ", kind);
  TIM_ASSIGN_OR_RETURN(auto opened, source->open(number));
  return device::Devices{device::CreateHostDevice(), std::move(opened)};
}

}  // namespace tim::testing
