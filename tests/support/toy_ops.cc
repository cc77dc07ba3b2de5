#include "tests/support/toy_ops.h"

#include <cstring>

#include "ir/typed_kernel.h"

namespace tim::testing {
namespace {

using ir::AttributeMap;
using ir::KernelNode;
using ir::Layout;
using ir::LayoutTuple;
using ir::OpSchema;
using ir::PlainKernel;

constexpr int kChannelAxis = 2;
constexpr int64_t kBlock = 16;

// A schema of elementwise arithmetic on float32.
template <typename Function>
OpSchema Schema(const std::string& name, int inputs, double flops,
                Function function) {
  OpSchema schema;
  schema.domain = "toy";
  schema.name = name;
  schema.inputs = {inputs, inputs};
  schema.infer_shapes = [](ir::InferContext& context) {
    ir::TensorDesc& out = context.outputs[0].desc;
    if (out.type == ir::DataType::kUnknown) {
      out.type = context.inputs[0].desc->type;
    }
    out.shape = context.shape(0);
    return OkStatus();
  };
  schema.eval = [function](const ir::EvalContext& context) {
    const int64_t n = *context.inputs[0].desc->shape.NumElements();
    const auto* a = static_cast<const float*>(context.inputs[0].data);
    const auto* b = context.inputs.size() > 1
                        ? static_cast<const float*>(context.inputs[1].data)
                        : nullptr;
    auto* y = static_cast<float*>(context.outputs[0].data);
    for (int64_t i = 0; i < n; ++i) {
      y[i] = function(context.node, a[i], b, i);
    }
    return OkStatus();
  };
  schema.memory_estimate = [](const ir::NodeView&) { return int64_t{0}; };
  schema.compute_estimate = [flops](const ir::NodeView& view) {
    const auto n = view.inputs[0]->shape.NumElements();
    return ir::ComputeEstimate{.flops = flops * n.value_or(0)};
  };
  return schema;
}

Result<ir::Lowering> LowerTo(const KernelNode& node, const std::string& name) {
  using Kind = ir::LoweredOperand::Kind;
  ir::LoweredStep step;
  ir::KernelLaunch launch;
  launch.source = "toy.cl";
  launch.function = name;
  for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
    step.operands.push_back({Kind::kInput, i});
    step.written.push_back(false);
  }
  step.operands.push_back({Kind::kOutput, 0});
  step.written.push_back(true);
  for (size_t i = 0; i < step.operands.size(); ++i) {
    launch.arguments.emplace_back(
        ir::TensorArg{.operand = static_cast<int>(i)});
  }
  launch.range.global = {*node.outputs[0].shape.NumElements(), 1, 1};
  step.action = launch;
  ir::Lowering lowering;
  lowering.steps.push_back(step);
  lowering.applied = static_cast<int>(node.epilogue.size());
  return lowering;
}

PlainKernel Kernel(const std::string& op, const std::string& name,
                   double cost) {
  PlainKernel kernel;
  kernel.op = "toy." + op;
  kernel.name = name;
  kernel.analyze = [](const KernelNode&, const ir::DeviceInfo&) {
    return OkStatus();
  };
  kernel.cost = [cost](const KernelNode&, const ir::DeviceInfo&) {
    return cost;
  };
  kernel.lower = [name](const KernelNode& node, const ir::DeviceInfo&) {
    return LowerTo(node, name);
  };
  return kernel;
}

LayoutTuple Blocked(const KernelNode& node) {
  const Layout layout = Layout::Blocked(kChannelAxis, kBlock);
  return {std::vector(node.inputs.size(), layout), {layout}};
}

bool HasChannels(const KernelNode& node) {
  return node.inputs[0].shape.rank() > kChannelAxis;
}

void AddHeavy(ir::OpRegistry& registry) {
  registry.Add(Schema(
      "Heavy", 1, 1000,
      [](const ir::Node&, float x, const float*, int64_t) { return x + 1; }));
  const auto accepts_bump = [](const KernelNode& node, const ir::DeviceInfo&) {
    for (const ir::EpilogueStep& step : node.epilogue) {
      if (step.node->schema->name != "Bump") {
        return Unimplemented("epilogue ", step.node->schema->name);
      }
    }
    return node.epilogue.size() < 2 ? OkStatus()
                                    : Unimplemented("a longer epilogue");
  };
  PlainKernel dense = Kernel("Heavy", "heavy_dense", 1000);
  dense.takes_epilogue = true;
  dense.analyze = accepts_bump;
  PlainKernel blocked = Kernel("Heavy", "heavy_blocked", 100);
  blocked.takes_epilogue = true;
  blocked.analyze = [accepts_bump](const KernelNode& node,
                                   const ir::DeviceInfo& device) {
    if (!HasChannels(node)) return Unimplemented("rank below 3");
    return accepts_bump(node, device);
  };
  blocked.layouts = [](const KernelNode& node, const ir::DeviceInfo&) {
    return std::vector{Blocked(node)};
  };
  registry.Add(dense);
  registry.Add(blocked);
}

void AddBump(ir::OpRegistry& registry) {
  OpSchema bump = Schema(
      "Bump", 1, 1, [](const ir::Node& node, float x, const float*, int64_t) {
        return x + node.attributes.Float("by");
      });
  bump.attributes = {
      {.name = "by", .type = ir::AttributeType::kFloat, .default_value = 1.0}};
  registry.Add(bump);
  PlainKernel kernel = Kernel("Bump", "bump", 10);
  kernel.layouts = [](const KernelNode& node, const ir::DeviceInfo&) {
    std::vector tuples = {ir::DenseLayouts(node)};
    if (HasChannels(node)) tuples.push_back(Blocked(node));
    return tuples;
  };
  registry.Add(kernel);
}

void AddWeighted(ir::OpRegistry& registry) {
  registry.Add(Schema("Weighted", 2, 1,
                      [](const ir::Node&, float x, const float* w, int64_t) {
                        return x * w[0];
                      }));
  PlainKernel kernel = Kernel("Weighted", "weighted", 10);
  kernel.lower = [](const KernelNode& node,
                    const ir::DeviceInfo&) -> Result<ir::Lowering> {
    using Kind = ir::LoweredOperand::Kind;
    TIM_ASSIGN_OR_RETURN(ir::Lowering lowering, LowerTo(node, "weighted"));
    const auto weights = node.constants[1];
    lowering.steps[0].operands[1] = {Kind::kPacked, 0};
    lowering.packed.push_back(
        {.id = "twice",
         .sources = {1},
         .bytes = static_cast<int64_t>(2 * weights->bytes.size()),
         .pack = [weights](std::span<std::byte> out) {
           const auto& bytes = weights->bytes;
           std::memcpy(out.data(), bytes.data(), bytes.size());
           std::memcpy(out.data() + bytes.size(), bytes.data(), bytes.size());
           return OkStatus();
         }});
    return lowering;
  };
  registry.Add(kernel);
}

void AddReorder(ir::OpRegistry& registry) {
  OpSchema schema =
      Schema("Reorder", 1, 0,
             [](const ir::Node&, float x, const float*, int64_t) { return x; });
  schema.domain = "tim";
  registry.Add(schema);
  PlainKernel kernel = Kernel("Reorder", "reorder", 5);
  kernel.op = "tim.Reorder";
  kernel.layouts = [](const KernelNode& node, const ir::DeviceInfo&) {
    const LayoutTuple dense = ir::DenseLayouts(node);
    const LayoutTuple blocked = Blocked(node);
    return std::vector<LayoutTuple>{{dense.inputs, blocked.outputs},
                                    {blocked.inputs, dense.outputs}};
  };
  registry.Add(kernel);
}

void AddReshape(ir::OpRegistry& registry) {
  OpSchema schema =
      Schema("Reshape", 1, 0,
             [](const ir::Node&, float x, const float*, int64_t) { return x; });
  schema.domain = "tim";
  schema.attributes = {{.name = "shape", .type = ir::AttributeType::kInts}};
  schema.infer_shapes = [](ir::InferContext& context) {
    context.outputs[0].desc.type = context.inputs[0].desc->type;
    context.outputs[0].desc.shape =
        ir::Shape(context.attributes().Ints("shape"));
    return OkStatus();
  };
  schema.is_view = [](const ir::NodeView&) { return true; };
  registry.Add(schema);
}

// As users' kernels do: a copy of the old value, which the kernel does not get.
void AddKeep(ir::OpRegistry& registry) {
  registry.Add(Schema(
      "Keep", 2, 1, [](const ir::Node&, float x, const float* old, int64_t i) {
        return i % 2 == 0 ? 2 * x : old[i];
      }));
  PlainKernel kernel = Kernel("Keep", "keep", 10);
  kernel.lower = [](const KernelNode& node,
                    const ir::DeviceInfo&) -> Result<ir::Lowering> {
    using Kind = ir::LoweredOperand::Kind;
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(node.outputs[0]));
    KernelNode first = node;
    first.inputs.resize(1);
    TIM_ASSIGN_OR_RETURN(ir::Lowering lowering, LowerTo(first, "keep"));
    lowering.steps.insert(lowering.steps.begin(),
                          {.action = ir::Copy{bytes},
                           .operands = {{Kind::kInput, 1}, {Kind::kOutput, 0}},
                           .written = {false, true}});
    lowering.in_place = {{.input = 1, .output = 0}};
    return lowering;
  };
  registry.Add(kernel);
}

ir::OpRegistry MakeRegistry() {
  ir::OpRegistry registry;
  AddHeavy(registry);
  AddBump(registry);
  AddWeighted(registry);
  AddKeep(registry);
  AddReorder(registry);
  AddReshape(registry);
  registry.Add(Schema(
      "Twice", 1, 1,
      [](const ir::Node&, float x, const float*, int64_t) { return 2 * x; }));
  registry.Add(Kernel("Twice", "twice", 10));
  registry.Add(Schema("Sum", 2, 1,
                      [](const ir::Node&, float x, const float* b, int64_t i) {
                        return x + b[i];
                      }));
  registry.Add(Kernel("Sum", "sum", 10));
  OpSchema slow =
      Schema("Slow", 1, 1,
             [](const ir::Node&, float x, const float*, int64_t) { return x; });
  slow.surplus_inputs = 2;
  registry.Add(slow);
  OpSchema same =
      Schema("Same", 1, 0,
             [](const ir::Node&, float x, const float*, int64_t) { return x; });
  same.is_identity = [](const ir::NodeView&) { return true; };
  registry.Add(same);
  return registry;
}

ir::TensorDesc Float(ir::Shape shape) {
  ir::TensorDesc desc;
  desc.type = ir::DataType::kFloat32;
  desc.shape = std::move(shape);
  return desc;
}

}  // namespace

const ir::OpRegistry& ToyOperators() {
  static const ir::OpRegistry* const registry =
      new ir::OpRegistry(MakeRegistry());
  return *registry;
}

compiler::CompileOptions ToyOptions() {
  compiler::CompileOptions options;
  options.devices.resize(2);
  options.devices[0].runs_eval = true;
  options.devices[1].kind = "opencl";
  options.devices[1].name = "data";
  options.devices[1].max_allocation_bytes = int64_t{1} << 30;
  return options;
}

ir::ValueId ToyGraph::Input(ir::Shape shape) {
  const ir::ValueId id =
      graph_.AddValue(Float(std::move(shape)), ir::Role::kInput);
  graph_.AddInput(id);
  return id;
}

ir::ValueId ToyGraph::State(ir::Shape shape) {
  return graph_.AddValue(Float(std::move(shape)), ir::Role::kState);
}

ir::ValueId ToyGraph::Constant(ir::Shape shape, float value) {
  const std::vector<float> data(*shape.NumElements(), value);
  return graph_.AddConstant(
      Float(std::move(shape)),
      ir::MakeConstant(data.data(), data.size() * sizeof(float)));
}

ir::ValueId ToyGraph::Op(const std::string& op, std::vector<ir::ValueId> inputs,
                         AttributeMap attributes) {
  ir::Node node;
  node.name = StrCat(op, "#", graph_.node_id_limit());
  node.schema = ToyOperators().Find("toy." + op);
  node.attributes = std::move(attributes);
  node.inputs = std::move(inputs);
  const ir::ValueId output = graph_.AddValue(ir::TensorDesc());
  node.outputs = {output};
  graph_.AddNode(std::move(node));
  return output;
}

Result<ir::Plan> ToyGraph::Compile(
    const compiler::CompileOptions& options) const {
  return compiler::Compile(graph_, ToyOperators(), options);
}

int CountKernels(const ir::Plan& plan, const std::string& function) {
  int count = 0;
  for (const ir::Step& step : plan.steps) {
    const auto* launch = std::get_if<ir::KernelLaunch>(&step.action);
    count += launch != nullptr && launch->function == function;
  }
  return count;
}

}  // namespace tim::testing
