// How a device scatters, with the same bits on every one and without atomics:
//   1. the output becomes a copy of the data, or zeros;
//   2. each update's place is found;
//   3. the updates of each place are linked in their order.  A work-item owns a
//      range of places and walks all updates for it, so that nothing is shared;
//      as many ranges as a CPU has cores, thousands on a GPU;
//   4. the first update of a place walks its list for the slice, 16 elements
//      per work-item, with the values in registers, and rounds once.
// Where updates replace, only the last one of a place is kept in 3.
// Memory beside the tensors: an int for each place and two for each update.
#include <algorithm>
#include <utility>

#include "base/checked_math.h"
#include "ir/typed_kernel.h"
#include "ops/elements/convert.h"
#include "ops/elements/operands.h"
#include "ops/indexing/scatter.h"

namespace tim::ops {
namespace {

constexpr char kListsSource[] = "ops/indexing/scatter_lists.cl";

// Scratch memory, in the order of the launches.
enum Scratch { kPlaces, kHeads, kNexts };

const char* FunctionOf(Reduction reduction) {
  constexpr const char* kNames[] = {"REPLACE", "ADD", "MULTIPLY", "MAXIMUM",
                                    "MINIMUM"};
  return kNames[static_cast<int64_t>(reduction)];
}

struct Problem {
  Reduction reduction = Reduction::kNone;
  ScatterShape shape;
};

Result<Problem> Analyze(const ScatterOp& op, const ir::KernelNode& node) {
  const ir::TensorDesc& to = node.outputs[0];
  TIM_RETURN_IF_ERROR(CheckKernelIndices(node.inputs[op.indices]));
  for (const int input : {op.data, op.updates}) {
    if (input < 0) continue;
    const ir::TensorDesc& from = node.inputs[input];
    TIM_RETURN_IF_ERROR(
        CheckConvert(from, to, kernels::ConvertRuleOf(from, to)));
  }
  const Reduction reduction = op.ReductionOf(node.attributes());
  if (reduction != Reduction::kNone) {
    TIM_RETURN_IF_ERROR(CheckKernelOperands(node));
  }
  const ir::Shape& indices = node.inputs[op.indices].shape;
  return Problem{.reduction = reduction,
                 .shape = ScatterShapeOf(
                     op.data < 0 ? ir::Shape(node.attributes().Ints("shape"))
                                 : node.inputs[op.data].shape,
                     indices)};
}

Status AppendBegin(const ScatterOp& op, const ir::KernelNode& node,
                   int64_t count, const ir::DeviceInfo& device,
                   ir::Lowering* lowering) {
  const ir::TensorDesc& to = node.outputs[0];
  if (op.data >= 0) {
    // What is combined later is read from the output where it is equal.
    return AppendConvertRows(
        node,
        {.input = op.data,
         .run = count,
         .y_stride = count,
         .in_place = ir::SameElements(node.inputs[op.data], to)},
        device, lowering);
  }
  Launch launch(kListsSource, "scatter_fill");
  launch.Option(StrCat("-DWORD=", BitsType(to.type)));
  launch.Output("y", node, 0)
      .Int("count", count)
      .Long("bits", RealBits(to, 0.0f));
  return launch.Items(CeilDiv(count, 16)).AppendTo(lowering);
}

Status AppendPlaces(const ScatterOp& op, const ir::KernelNode& node,
                    const ScatterShape& shape, ir::Lowering* lowering) {
  const ir::TensorDesc& indices = node.inputs[op.indices];
  Launch launch(kListsSource, "scatter_places");
  AddIndexOptions(indices, op.rule(), &launch);
  launch.Input("indices", node, op.indices)
      .Scratch("places", shape.updates * 4, 4)
      .Packed("coordinate", PackCoordinate(shape.coordinate), 4);
  launch.Int("coordinate_length", static_cast<int64_t>(shape.coordinate.size()))
      .Int("updates", shape.updates)
      .InputQuantization("index", indices);
  return launch.Items(shape.updates).AppendTo(lowering);
}

Status AppendLists(const Problem& problem, const ir::DeviceInfo& device,
                   ir::Lowering* lowering) {
  const auto& [reduction, shape] = problem;
  const bool cpu = device.device_class == ir::DeviceClass::kCpu;
  const bool last = reduction == Reduction::kNone;
  const int64_t most = cpu ? device.compute_units : 4096;
  const int64_t share = CeilDiv(shape.slices, std::min(shape.slices, most));
  const int64_t owners = CeilDiv(shape.slices, share);
  Launch launch(kListsSource, last ? "scatter_last" : "scatter_lists");
  launch.EarlierScratch("places", kPlaces, 4)
      .Scratch("heads", shape.slices * 4, 4);
  if (!last) launch.Scratch("nexts", shape.updates * 4, 4);
  launch.Int("updates", shape.updates)
      .Int("slices", shape.slices)
      .Int("share", share);
  if (cpu) return launch.Global(owners).Local(1).AppendTo(lowering);
  return launch.Items(owners).AppendTo(lowering);
}

// What a list begins with: zeros, the output, or data that differ from it.
const char* InitialOf(const ScatterOp& op, const ir::KernelNode& node) {
  if (op.data < 0) return "ZERO";
  return ir::SameElements(node.inputs[op.data], node.outputs[0]) ? "OUTPUT"
                                                                 : "INPUT";
}

Status AppendReplace(const ScatterOp& op, const ir::KernelNode& node,
                     const ScatterShape& shape, ir::Lowering* lowering) {
  const ir::TensorDesc& from = node.inputs[op.updates];
  const ir::TensorDesc& to = node.outputs[0];
  const kernels::ConvertRule rule = kernels::ConvertRuleOf(from, to);
  Launch launch("ops/indexing/scatter_replace.cl", "scatter_replace");
  AddConvertOptions(from, to, rule, &launch);
  launch.Input("x", node, op.updates).Output("y", node, 0);
  launch.EarlierScratch("places", kPlaces, 4)
      .EarlierScratch("heads", kHeads, 4);
  launch.Int("updates", shape.updates).Int("run", shape.run);
  AddConvertArguments(from, to, rule, &launch);
  return launch.Items(shape.updates * CeilDiv(shape.run, 16))
      .AppendTo(lowering);
}

Status AppendCombine(const ScatterOp& op, const Problem& problem,
                     const ir::KernelNode& node, ir::Lowering* lowering) {
  const auto& [reduction, shape] = problem;
  const ir::TensorDesc& from = node.inputs[op.updates];
  const ir::TensorDesc& to = node.outputs[0];
  const std::string initial = InitialOf(op, node);
  // Read only where the list begins with it.
  const int data_input = initial == "INPUT" ? op.data : op.updates;
  const ir::TensorDesc& data = node.inputs[data_input];
  Launch launch("ops/indexing/scatter_combine.cl", "scatter_combine");
  launch.Type("IN1", data).Type("IN0", from).Type("OUT", to);
  launch.Option(StrCat("-DFUNCTION=", FunctionOf(reduction)))
      .Option("-DINITIAL=" + initial);
  if (IsPlainScatter(op, node.inputs, to)) launch.Option("-DPLAIN");
  launch.Input("data", node, data_input)
      .Input("x", node, op.updates)
      .Output("y", node, 0);
  launch.EarlierScratch("places", kPlaces, 4)
      .EarlierScratch("heads", kHeads, 4)
      .EarlierScratch("nexts", kNexts, 4);
  launch.Int("updates", shape.updates)
      .Int("run", shape.run)
      .InputQuantization("data", data)
      .InputQuantization("x", from)
      .OutputQuantization("y", to);
  return launch.Items(shape.updates * CeilDiv(shape.run, 16))
      .AppendTo(lowering);
}

Result<ir::Lowering> Lower(const ScatterOp& op, const Problem& problem,
                           const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const auto& [reduction, shape] = problem;
  ir::Lowering lowering;
  TIM_RETURN_IF_ERROR(
      AppendBegin(op, node, shape.slices * shape.run, device, &lowering));
  TIM_RETURN_IF_ERROR(AppendPlaces(op, node, shape, &lowering));
  TIM_RETURN_IF_ERROR(AppendLists(problem, device, &lowering));
  TIM_RETURN_IF_ERROR(reduction == Reduction::kNone
                          ? AppendReplace(op, node, shape, &lowering)
                          : AppendCombine(op, problem, node, &lowering));
  return lowering;
}

}  // namespace

ir::KernelDef ScatterKernel(const ScatterOp& op, std::string name) {
  return ir::TypedKernel<Problem>{
      .op = StrCat("tim.", op.name),
      .name = std::move(name),
      .analyze = [op](const ir::KernelNode& node,
                      const ir::DeviceInfo&) { return Analyze(op, node); },
      .cost =
          [](const Problem&, const ir::KernelNode& node,
             const ir::DeviceInfo& device) {
            constexpr double kFurtherLaunches = 3;
            return ElementwiseCost(node, device, prices::kScatter) +
                   kFurtherLaunches * device.launch_us;
          },
      .lower =
          [op](const Problem& problem, const ir::KernelNode& node,
               const ir::DeviceInfo& device) {
            return Lower(op, problem, node, device);
          }};
}

}  // namespace tim::ops
