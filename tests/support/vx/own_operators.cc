#include "tests/support/vx/own_operators.h"

#include "base/options.h"
#include "ops/builtin.h"
#include "runtime/device_pool.h"
#include "vx/graph/context_impl.h"

namespace tim::testing {
namespace {

Status SameAsInput(ir::InferContext& context) {
  for (auto& output : context.outputs) {
    output.desc.type = context.inputs[0].desc->type;
    output.desc.shape = context.shape(0);
  }
  return OkStatus();
}

Status EvalPick(const ir::EvalContext& context) {
  const int64_t count = *context.inputs[0].desc->shape.NumElements();
  auto* y = static_cast<float*>(context.outputs[0].data);
  for (int64_t i = 0; i < count; ++i) {
    y[i] = 0;
    float factor = 1;
    for (const ir::ConstTensor& input : context.inputs) {
      if (input) y[i] += factor * static_cast<const float*>(input.data)[i];
      factor *= 10;
    }
  }
  return OkStatus();
}

ir::ValueId AddPick(ir::Graph& body, const ir::OpRegistry& registry,
                    std::vector<ir::ValueId> inputs) {
  ir::Node node;
  node.name = "Pick";
  node.schema = registry.Find("own.Pick");
  node.inputs = std::move(inputs);
  node.outputs = {body.AddValue(ir::TensorDesc())};
  return body.node(body.AddNode(std::move(node))).outputs[0];
}

// Does not look at what is there.
Result<ir::Graph> DecomposeMix(const ir::NodeView& view,
                               const ir::OpRegistry& registry) {
  ir::Graph body("Mix");
  std::vector<ir::ValueId> in(6, ir::kNone);
  for (size_t i = 0; i < view.inputs.size(); ++i) {
    if (i != 1 && i != 3) {
      in[i] = body.AddValue(ir::TensorDesc(), ir::Role::kInput);
    }
    body.AddInput(in[i]);
  }
  const ir::ValueId outputs[] = {
      AddPick(body, registry, {in[0], in[2], in[4]}),
      AddPick(body, registry, {in[0], ir::kNone, in[5]}), in[0]};
  for (size_t i = 0; i < view.outputs.size(); ++i) body.AddOutput(outputs[i]);
  return body;
}

ir::OpSchema MixSchema() {
  ir::OpSchema schema = PickSchema();
  schema.name = "Mix";
  schema.inputs = {1, 6};
  schema.outputs = {0, 3};
  schema.decompose = DecomposeMix;
  return schema;
}

ir::OpRegistry MakeOperators() {
  ir::OpRegistry registry(&ops::BuiltinOperators());
  registry.Add(PickSchema());
  registry.Add(MixSchema());
  return registry;
}

}  // namespace

ir::OpSchema PickSchema() {
  return {.domain = "own",
          .name = "Pick",
          .inputs = {1, 3},
          .infer_shapes = SameAsInput,
          .eval = EvalPick,
          .memory_estimate = [](const ir::NodeView&) -> int64_t { return 0; },
          .compute_estimate =
              [](const ir::NodeView&) { return ir::ComputeEstimate(); }};
}

const ir::OpRegistry& OwnOperators() {
  static const auto* const kRegistry = new ir::OpRegistry(MakeOperators());
  return *kRegistry;
}

std::shared_ptr<vx::Context> OwnContextOn(const std::string& device,
                                          const ir::OpRegistry& operators) {
  auto devices = runtime::SelectDevices(device, GetOptions().on_device);
  if (!devices.ok()) return nullptr;
  return vx::CreateContext(*std::move(devices), {.operators = &operators});
}

}  // namespace tim::testing
