// Svdf: filters of rank 1 over features and time; see svdf.cl.
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/doubts/sums.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/launch/launch.h"
#include "ops/launch/prices.h"
#include "ops/recurrent/sequence.h"

namespace tim::ops {
namespace {

enum Input { kInput, kState, kFeature, kTime, kBias };
constexpr int kOutput = 0;
constexpr int kNextState = 1;

struct SvdfShape {
  int64_t width = ir::kUnknownDim;
  int64_t batch = ir::kUnknownDim;
  int64_t memory = ir::kUnknownDim;
  int64_t rank = 1;
  int64_t units = 1;
  int64_t filters() const { return rank * units; }
};

SvdfShape SvdfShapeOf(const ir::AttributeMap& attributes,
                      const ir::Shape& input, const ir::Shape& time) {
  SvdfShape out;
  if (input.ranked()) {
    out.width = input[0];
    out.batch = input[1];
  }
  if (time.ranked()) out.memory = time[0];
  out.rank = attributes.Int("rank");
  out.units = attributes.Int("num_units");
  return out;
}

Status CheckAttributes(const ir::AttributeMap& attributes) {
  for (const char* name : {"rank", "num_units"}) {
    const int64_t value = attributes.Int(name);
    if (value >= 1 && value <= INT32_MAX) continue;
    return InvalidArgument(name, " is ", value, ", expected at least 1");
  }
  return OkStatus();
}

int64_t TimesOrUnknown(int64_t a, int64_t b) {
  return a == ir::kUnknownDim || b == ir::kUnknownDim ? ir::kUnknownDim : a * b;
}

Status InferSvdf(ir::InferContext& context) {
  TIM_RETURN_IF_ERROR(CheckAttributes(context.attributes()));
  TIM_RETURN_IF_ERROR(CheckRank(context, kInput, 2));
  TIM_RETURN_IF_ERROR(CheckRank(context, kTime, 2));
  const SvdfShape shape = SvdfShapeOf(
      context.attributes(), context.shape(kInput), context.shape(kTime));
  const int64_t filters = shape.filters();
  TIM_RETURN_IF_ERROR(CheckMatrix(context, kFeature, shape.width, filters));
  TIM_RETURN_IF_ERROR(CheckMatrix(context, kTime, shape.memory, filters));
  const ir::Shape state({TimesOrUnknown(shape.memory, filters), shape.batch});
  TIM_RETURN_IF_ERROR(CheckElements(context, kState, state));
  TIM_RETURN_IF_ERROR(CheckElements(context, kBias, ir::Shape({shape.units})));
  SetOutput(context, kOutput, ir::Shape({shape.units, shape.batch}));
  SetOutput(context, kNextState, state);
  return OkStatus();
}

Status EvalSvdf(const ir::EvalContext& context) {
  const SvdfShape shape =
      SvdfShapeOf(context.attributes(), context.inputs[kInput].desc->shape,
                  context.inputs[kTime].desc->shape);
  const std::vector<float> input = InputReals(context, kInput);
  const std::vector<float> state = InputReals(context, kState);
  const std::vector<float> time = InputReals(context, kTime);
  const std::vector<float> bias = InputReals(context, kBias);
  const StepMatrix feature(context, kFeature, -1);
  StepWriter output(context, kOutput);
  StepWriter next_state(context, kNextState);
  std::vector<float> next(static_cast<size_t>(shape.memory));
  for (int64_t n = 0; n < shape.batch; ++n) {
    for (int64_t u = 0; u < shape.units; ++u) {
      float total = 0;
      for (int64_t r = 0; r < shape.rank; ++r) {
        const int64_t f = u * shape.rank + r;
        const int64_t begin = (n * shape.filters() + f) * shape.memory;
        float sum = 0;
        for (int64_t m = 0; m < shape.memory; ++m) {
          next[m] = m < shape.memory - 1
                        ? state[begin + m + 1]
                        : feature.Product(input.data() + n * shape.width, f);
          sum += next[m] * time[f * shape.memory + m];
        }
        next_state.Store(begin, next);
        total += sum;
      }
      output.Store(n * shape.units + u,
                   {bias.empty() ? total : total + bias[u]});
    }
  }
  return OkStatus();
}

ir::ComputeEstimate EstimateSvdf(const ir::NodeView& view) {
  const SvdfShape shape =
      SvdfShapeOf(view.node.attributes, view.inputs[kInput]->shape,
                  view.inputs[kTime]->shape);
  return SequenceEstimate(
      view, 2.0 * static_cast<double>((shape.width + shape.memory) *
                                      shape.filters() * shape.batch));
}

std::vector<std::string> FindDoubts(const ir::NodeView& view) {
  Doubts doubts;
  AddBareBiasDoubt(view, kInput, kFeature, kBias, &doubts);
  AddCodesDoubt(view, {kInput, kState, kFeature, kTime}, {0, 1}, &doubts);
  const int64_t length = view.node.attributes.Int("spectrogram_length");
  const ir::Shape& time = view.inputs[kTime]->shape;
  if (length != 0 && time.IsStatic() && time[0] != length) {
    doubts.push_back(StrCat("attribute 'spectrogram_length' is ", length,
                            ", which has no effect: input 3 is ",
                            time.ToString(), ", a memory of ", time[0],
                            " values; give that number"));
  }
  return doubts;
}

ir::OpSchema SvdfSchema() {
  ir::OpSchema schema;
  schema.name = "Svdf";
  schema.inputs = {4, 5};
  schema.outputs = {1, 2};
  schema.attributes = {
      {"rank", ir::AttributeType::kInt},
      {"num_units", ir::AttributeType::kInt},
      {"spectrogram_length", ir::AttributeType::kInt, int64_t{0}}};
  schema.check = CheckSequenceTypes;
  schema.doubts = FindDoubts;
  schema.infer_shapes = InferSvdf;
  schema.eval = EvalSvdf;
  schema.memory_estimate = InputRealBytes;
  schema.compute_estimate = EstimateSvdf;
  return schema;
}

Status CheckSvdfKernel(const ir::KernelNode& node, const ir::DeviceInfo&) {
  return CheckKernelOperands(node);
}

Result<ir::Lowering> LowerSvdf(const ir::KernelNode& node,
                               const ir::DeviceInfo& device) {
  const SvdfShape shape = SvdfShapeOf(
      node.attributes(), node.inputs[kInput].shape, node.inputs[kTime].shape);
  const bool has_bias = node.has_input(kBias);
  const bool has_next = HasOutput(*node.anchor, kNextState);
  Launch launch("ops/recurrent/svdf.cl", "svdf");
  launch.Policy(node.attributes())
      .Type("IN", node.inputs[kInput])
      .Type("STATE", node.inputs[kState])
      .Type("FEATURE", node.inputs[kFeature])
      .Type("TIME", node.inputs[kTime])
      .Type("OUT", node.outputs[kOutput])
      .Input("in", node, kInput)
      .Input("state", node, kState)
      .Input("feature", node, kFeature)
      .Input("times", node, kTime);
  if (has_bias) {
    launch.Type("BIAS", node.inputs[kBias]).Input("bias", node, kBias);
  }
  launch.Output("out", node, kOutput);
  if (has_next) {
    launch.Type("NEXT", node.outputs[kNextState])
        .Output("next", node, kNextState);
  }
  Launch::Fields numbers = {{"width", shape.width},
                            {"memory", shape.memory},
                            {"rank", shape.rank},
                            {"units", shape.units},
                            {"batch", shape.batch}};
  AddInputNumbers("in", node.inputs[kInput], &numbers);
  AddInputNumbers("state", node.inputs[kState], &numbers);
  AddInputNumbers("feature", node.inputs[kFeature], &numbers);
  AddInputNumbers("times", node.inputs[kTime], &numbers);
  if (has_bias) AddInputNumbers("bias", node.inputs[kBias], &numbers);
  AddOutputNumbers("out", node.outputs[kOutput], &numbers);
  if (has_next) AddOutputNumbers("next", node.outputs[kNextState], &numbers);
  return launch.Struct("s", numbers)
      .Tiles(device, shape.units, shape.batch)
      .Build();
}

}  // namespace

TIM_OPERATOR(svdf) {
  registry.Add(SvdfSchema());
  registry.Add(ir::PlainKernel{
      .op = "tim.Svdf",
      .name = "svdf",
      .analyze = CheckSvdfKernel,
      .cost =
          [](const ir::KernelNode& node, const ir::DeviceInfo& device) {
            return ElementwiseCost(node, device, prices::kSvdf);
          },
      .lower = LowerSvdf});
}

}  // namespace tim::ops
