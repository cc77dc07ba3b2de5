#include "ops/recurrent/sequence_kernel.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/launch/device_class.h"
#include "ops/launch/loop_launches.h"
#include "ops/launch/prices.h"
#include "ops/launch/register_tile.h"

namespace tim::ops {
namespace {

constexpr int64_t kBlock = 16;
// Of the loops in groups.
constexpr int64_t kGroup = 64;
constexpr int64_t kLargeGroup = 256;

constexpr int64_t kFloatBytes = sizeof(float);

int64_t Padded(int64_t units) { return AlignUp(units, kBlock); }

int64_t PackedFloatsOf(const LoopLowering::Matrix& matrix) {
  return Padded(matrix.units) * (matrix.depth + 1);
}

// As sequence_pack does.
class MatrixPacking {
 public:
  MatrixPacking(const ir::KernelNode& node, int weights, int bias)
      : weights_(node.inputs[weights]), weights_data_(node.constants[weights]) {
    if (bias < 0 || !node.has_input(bias)) return;
    bias_ = node.inputs[bias];
    bias_data_ = node.constants[bias];
  }

  std::string Id() const {
    return StrCat("step_matrix ", weights_.ToString(), " ",
                  bias_data_ ? bias_.ToString() : "");
  }

  Status operator()(std::span<std::byte> out) const {
    std::fill(out.begin(), out.end(), std::byte{0});
    auto* const to = reinterpret_cast<float*>(out.data());
    const int64_t depth = weights_.shape[0];
    const int64_t units = weights_.shape[1];
    const auto place = [&](int64_t unit, int64_t k) {
      return unit / kBlock * (depth + 1) * kBlock + k * kBlock + unit % kBlock;
    };
    const kernels::ElementReader weights(
        {&weights_, weights_data_->bytes.data()});
    for (int64_t unit = 0; unit < units; ++unit) {
      for (int64_t k = 0; k < depth; ++k) {
        to[place(unit, k)] = weights.Real(unit * depth + k);
      }
    }
    if (bias_data_ == nullptr) return OkStatus();
    const kernels::ElementReader bias({&bias_, bias_data_->bytes.data()});
    for (int64_t unit = 0; unit < units; ++unit) {
      to[place(unit, depth)] = bias.Real(unit);
    }
    return OkStatus();
  }

 private:
  ir::TensorDesc weights_;
  ir::TensorDesc bias_;
  std::shared_ptr<const ir::ConstantData> weights_data_;
  std::shared_ptr<const ir::ConstantData> bias_data_;
};

// A constant as float32, for kernels that pack what is not constant beside it.
ir::PackedConstant Reals(const ir::KernelNode& node, int input) {
  const ir::TensorDesc& desc = node.inputs[input];
  const int64_t count = desc.shape.NumElements().value_or(0);
  ir::PackedConstant out;
  out.id = StrCat("reals ", desc.ToString());
  out.sources = {input};
  out.bytes = count * kFloatBytes;
  out.pack = [desc, count, data = node.constants[input]](
                 std::span<std::byte> bytes) -> Status {
    const kernels::ElementReader reader({&desc, data->bytes.data()});
    auto* const to = reinterpret_cast<float*>(bytes.data());
    for (int64_t i = 0; i < count; ++i) to[i] = reader.Real(i);
    return OkStatus();
  };
  return out;
}

// Adds the operand and its type; what it is quantized by.
ir::TensorDesc AddReals(const ir::KernelNode& node, int input,
                        const std::string& name, const std::string& type,
                        Launch* launch) {
  ir::TensorDesc desc = node.inputs[input];
  if (node.constants[input] == nullptr) {
    launch->Type(type, desc).Input(name, node, input);
    return desc;
  }
  desc.type = ir::DataType::kFloat32;
  desc.quantization = {};
  launch->Type(type, desc).Packed(name, Reals(node, input), kFloatBytes);
  return desc;
}

bool IsExact(const ir::KernelNode& node) {
  return std::any_of(
      node.outputs.begin(), node.outputs.end(),
      [](const ir::TensorDesc& output) { return ir::IsInteger(output.type); });
}

// Constant weights and biases are read on the host, whatever their types.
Status CheckOperands(const ir::KernelNode& node,
                     std::initializer_list<int> read) {
  ir::KernelNode on_device = node;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (std::find(read.begin(), read.end(), static_cast<int>(i)) !=
        read.end()) {
      continue;
    }
    if (node.constants[i] != nullptr) on_device.present[i] = false;
  }
  return CheckKernelOperands(on_device);
}

}  // namespace

Status CheckLoopKernel(const ir::KernelNode& node, const ir::DeviceInfo& device,
                       LoopForm form, std::initializer_list<int> read,
                       int64_t rows, int64_t units) {
  if (form == LoopForm::kVectors) {
    TIM_RETURN_IF_ERROR(CheckCpu(device));
  } else {
    TIM_RETURN_IF_ERROR(CheckWorkGroup(device, {kGroup}));
  }
  if (rows > std::numeric_limits<int32_t>::max() / Padded(units)) {
    return Unimplemented(rows, " rows of ", units,
                         " products are more than kernels count");
  }
  return CheckOperands(node, read);
}

double LoopCost(const ir::KernelNode& node, const ir::DeviceInfo& device,
                LoopForm form) {
  return ElementwiseCost(node, device,
                         form == LoopForm::kVectors
                             ? prices::kSequenceLoop
                             : prices::kSequenceLoopSimt);
}

LoopLowering::LoopLowering(const ir::KernelNode& node,
                           const ir::DeviceInfo& device, LoopForm form)
    : node_(node), device_(device), form_(form) {}

Result<LoopLowering::Matrix> LoopLowering::Pack(int weights, int bias,
                                                ir::Lowering* lowering) const {
  const ir::TensorDesc& desc = node_.inputs[weights];
  Matrix out;
  out.depth = desc.shape[0];
  out.units = desc.shape[1];
  const int64_t bytes = PackedFloatsOf(out) * kFloatBytes;
  const bool has_bias = bias >= 0 && node_.has_input(bias);
  if (node_.constants[weights] != nullptr &&
      (!has_bias || node_.constants[bias] != nullptr)) {
    MatrixPacking packing(node_, weights, bias);
    out.packed.emplace();
    out.packed->id = packing.Id();
    out.packed->sources = {weights};
    if (has_bias) out.packed->sources.push_back(bias);
    out.packed->bytes = bytes;
    out.packed->pack = std::move(packing);
    return out;
  }
  Launch launch("ops/recurrent/sequence.cl", "sequence_pack");
  const ir::TensorDesc of_weights =
      AddReals(node_, weights, "weights", "W", &launch);
  ir::TensorDesc of_bias;
  if (has_bias) of_bias = AddReals(node_, bias, "bias", "B", &launch);
  launch.Scratch("packed", bytes, kFloatBytes)
      .InputQuantization("weights", of_weights);
  if (has_bias) launch.InputQuantization("bias", of_bias);
  launch.Int("depth", out.depth)
      .Int("units", out.units)
      .Int("padded", Padded(out.units))
      .Tiles(device_, Padded(out.units), out.depth + 1);
  TIM_RETURN_IF_ERROR(launch.AppendTo(lowering));
  out.scratch = static_cast<int>(lowering->scratch.size()) - 1;
  return out;
}

void LoopLowering::AddMatrix(std::string name, const Matrix& matrix,
                             Launch* launch) {
  if (matrix.packed) {
    launch->Packed(std::move(name), *matrix.packed, kFloatBytes);
  } else {
    launch->EarlierScratch(std::move(name), matrix.scratch, kFloatBytes);
  }
}

// So that every processor has work.
int64_t LoopLowering::RowsOf(int64_t batch) const {
  if (form_ == LoopForm::kGroups) return 1;
  return RowsInRegisters(batch, device_);
}

void LoopLowering::AddForm(int64_t rows, Launch* launch) const {
  launch->Option(StrCat("-DUNITS=", form_ == LoopForm::kVectors ? kBlock : 1))
      .Option(StrCat("-DROWS=", rows));
  if (IsExact(node_)) launch->Option("-DEXACT");
}

Result<int> LoopLowering::Products(int index, const Matrix& matrix,
                                   const SequenceShape& sequence,
                                   ir::Lowering* lowering) const {
  const ir::TensorDesc& x = node_.inputs[index];
  const int64_t padded = Padded(matrix.units);
  const int64_t rows = sequence.rows();
  const int64_t of_item = RowsOf(rows);
  Launch launch("ops/recurrent/sequence.cl", "sequence_products");
  AddForm(of_item, &launch);
  launch.Type("X", x).Input("x", node_, index);
  AddMatrix("weights", matrix, &launch);
  launch.Scratch("out", rows * padded * kFloatBytes, kFloatBytes)
      .InputQuantization("x", x)
      .Int("depth", matrix.depth)
      .Int("padded", padded)
      .Int("rows", rows);
  if (form_ == LoopForm::kVectors) {
    launch.Tiles(device_, CeilDiv(rows, of_item), padded / kBlock);
  } else {
    launch.Tiles(device_, padded, CeilDiv(rows, of_item));
  }
  TIM_RETURN_IF_ERROR(launch.AppendTo(lowering));
  return static_cast<int>(lowering->scratch.size()) - 1;
}

bool LoopLowering::IsDivided(const Loop& loop) const {
  const auto units = static_cast<double>(loop.units);
  const double flops = 2.0 * loop.gates * units * units *
                       static_cast<double>(loop.sequence.batch);
  return form_ == LoopForm::kVectors &&
         StepsAreLaunches(flops, loop.sequence.steps, device_);
}

Status LoopLowering::AppendStates(const Loop& loop, int64_t rows,
                                  ir::Lowering* lowering) const {
  const int64_t padded = Padded(loop.units);
  const int64_t sequences = AlignUp(loop.sequence.batch, rows);
  const bool has_state = loop.state >= 0 && node_.has_input(loop.state);
  Launch launch("ops/recurrent/sequence.cl", "sequence_states");
  launch.Option(StrCat("-DROWS=", rows));
  if (has_state) {
    launch.Type("STATE", node_.inputs[loop.state])
        .Input("state", node_, loop.state);
  }
  launch.Scratch("memory", sequences * loop.vectors * padded * kFloatBytes,
                 kFloatBytes);
  if (has_state) launch.InputQuantization("state", node_.inputs[loop.state]);
  return launch.Int("units", loop.units)
      .Int("padded", padded)
      .Int("batch", loop.sequence.batch)
      .Int("vectors", loop.vectors)
      .Int("sequences", sequences)
      .Items(sequences * padded)
      .AppendTo(lowering);
}

Launch LoopLowering::NewLoop(std::string name) const {
  if (form_ == LoopForm::kGroups) name += "_simt";
  return Launch(StrCat("ops/recurrent/", name, ".cl"), name);
}

Status LoopLowering::AppendLoop(const Loop& loop, Launch* launch,
                                ir::Lowering* lowering) const {
  const SequenceShape& sequence = loop.sequence;
  const int64_t padded = Padded(loop.units);
  const bool divided = IsDivided(loop);
  const int64_t rows =
      divided ? RowsOfStep(sequence.batch, device_) : RowsOf(sequence.batch);
  const int64_t groups = CeilDiv(sequence.batch, rows);
  const bool has_state =
      !divided && loop.state >= 0 && node_.has_input(loop.state);
  const bool has_out = HasOutput(*node_.anchor, loop.out);
  const bool has_last = HasOutput(*node_.anchor, loop.last);
  AddForm(rows, launch);
  launch->Policy(node_.attributes());
  if (has_state) {
    launch->Type("STATE", node_.inputs[loop.state])
        .Input("state", node_, loop.state);
  }
  if (has_out) {
    launch->Type("OUT", node_.outputs[loop.out]).Output("out", node_, loop.out);
  }
  if (has_last) {
    launch->Type("LAST", node_.outputs[loop.last])
        .Output("last", node_, loop.last);
  }
  if (divided) {
    TIM_RETURN_IF_ERROR(AppendStates(loop, rows, lowering));
    const int memory = static_cast<int>(lowering->scratch.size()) - 1;
    launch->Option("-DDIVIDED").EarlierScratch("memory", memory, kFloatBytes);
  } else {
    launch->Scratch("memory",
                    groups * rows * loop.vectors * padded * kFloatBytes,
                    kFloatBytes);
  }
  if (has_state) launch->InputQuantization("state", node_.inputs[loop.state]);
  if (has_out) launch->OutputQuantization("out", node_.outputs[loop.out]);
  if (has_last) launch->OutputQuantization("last", node_.outputs[loop.last]);
  launch->Int("units", loop.units)
      .Int("padded", padded)
      .Int("batch", sequence.batch)
      .Int("steps", sequence.steps)
      .Int("begin", 0)
      .Int("end", divided ? 1 : sequence.steps)
      .Int("batch_stride", sequence.batch_stride())
      .Int("step_stride", sequence.step_stride())
      .Int("reversed", loop.reversed ? 1 : 0)
      .Int("out_batch_stride", loop.every_step ? sequence.batch_stride() : 1)
      .Int("out_step_stride", loop.every_step ? sequence.step_stride() : 0)
      .Int("out_width", loop.out_width)
      .Int("out_column", loop.out_column)
      .Int("first_stored", loop.every_step ? 0 : sequence.steps - 1);
  if (divided) {
    launch->Global(groups, padded / kBlock).Local(1);
    return AppendStepLaunches(*launch, loop.parts, sequence.steps, lowering);
  }
  if (form_ == LoopForm::kVectors) {
    launch->Global(groups).Local(1);
  } else {
    const int64_t most = std::min(kLargeGroup, device_.max_work_group_size);
    const int64_t local =
        padded > kGroup && most == kLargeGroup ? most : kGroup;
    launch->Global(groups * local).Local(local);
  }
  return launch->AppendTo(lowering);
}

void LoopLowering::AddFunction(const std::string& name,
                               const StepFunction& function, Launch* launch) {
  const ir::Pointwise formula{.macro = function.macro,
                              .header = function.header};
  launch->Formula(name, formula)
      .Option(StrCat("-D", name, "_A=", function.a))
      .Option(StrCat("-D", name, "_B=", function.b));
}

}  // namespace tim::ops
