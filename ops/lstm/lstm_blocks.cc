#include "ops/lstm/lstm_blocks.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "base/checked_math.h"
#include "base/hash.h"
#include "kernels/elements.h"
#include "ops/elements/shapes.h"
#include "ops/launch/loop_launches.h"

namespace tim::ops {
namespace {

using In = LstmInput;
using Plan = LstmPlan;
using Part = LstmPart;
using Block = LstmBlock;

constexpr char kSource[] = "ops/lstm/lstm_arrange.cl";

int64_t PlaceOf(const Plan& plan, const Part& part, int64_t k, int64_t u) {
  const int64_t vector = u / plan.lanes;
  if (plan.simt) {
    return part.begin + (k * part.gates + part.gate) * part.vectors + vector;
  }
  return part.begin +
         ((vector * part.gates + part.gate) * part.depth + k) * plan.lanes +
         u % plan.lanes;
}

Block WeightsBlock(const Plan& plan, const char* name, int first,
                   int64_t depth) {
  Block out;
  out.name = name;
  out.floats = plan.vectors * plan.lanes * plan.gates() * depth;
  for (int64_t gate = plan.first_gate; gate < kLstmGates; ++gate) {
    out.parts.push_back({.input = first + static_cast<int>(gate),
                         .depth = depth,
                         .gate = gate - plan.first_gate,
                         .gates = plan.gates(),
                         .count = plan.node.units,
                         .vectors = plan.vectors});
  }
  return out;
}

Block ProjectionBlock(const Plan& plan) {
  return {.name = "projection",
          .floats = plan.output_vectors * plan.lanes * plan.node.units,
          .parts = {{.input = In::kProjection,
                     .depth = plan.node.units,
                     .count = plan.node.outputs,
                     .vectors = plan.output_vectors}}};
}

// Biases, peepholes, layer-norm weights, the projection's bias.
Block ParametersBlock(const Plan& plan, const ir::KernelNode& node) {
  const int64_t step = plan.vectors * plan.lanes;
  Block out;
  out.name = "parameters";
  out.floats = plan.parameters() * step + plan.output_vectors * plan.lanes;
  const auto add = [&](int input, int64_t parameter, bool sum) {
    if (!node.has_input(input)) return;
    out.parts.push_back({.input = input,
                         .begin = parameter * step,
                         .count = plan.node.units,
                         .vectors = plan.vectors,
                         .add = sum});
  };
  for (int64_t gate = plan.first_gate; gate < kLstmGates; ++gate) {
    const int64_t place = gate - plan.first_gate;
    add(In::kBias + static_cast<int>(gate), place, false);
    add(In::kRecurrentBias + static_cast<int>(gate), place, true);
    add(In::kNorm + static_cast<int>(gate), plan.gates() + 3 + place, false);
  }
  for (int i = 0; i < 3; ++i) add(In::kPeephole + i, plan.gates() + i, false);
  if (node.has_input(In::kProjectionBias)) {
    out.parts.push_back({.input = In::kProjectionBias,
                         .begin = plan.parameters() * step,
                         .count = plan.node.outputs,
                         .vectors = plan.output_vectors});
  }
  out.number = plan.node.forget_bias;
  out.begin = (kForgetGate - plan.first_gate) * step;
  out.units = plan.node.units;
  return out;
}

bool IsConstant(const Block& block, const ir::KernelNode& node) {
  return std::all_of(
      block.parts.begin(), block.parts.end(),
      [&](const Part& part) { return node.constants[part.input] != nullptr; });
}

void AddNumber(const Block& block, float* out) {
  for (int64_t i = 0; i < block.units; ++i)
    out[block.begin + i] += block.number;
}

std::string HashOf(const ir::Quantization& quantization) {
  if (!quantization.per_channel()) return "";
  const auto& scales = quantization.scales;
  const auto& zeros = quantization.zero_points;
  return StrCat(
      HashBytes(scales.data(), scales.size() * sizeof(scales[0])).ToString(),
      HashBytes(zeros.data(), zeros.size() * sizeof(zeros[0])).ToString());
}

// Constants as real values, and what they depend on beside their bytes.
ir::PackedConstant Pack(const Plan& plan, const Block& block,
                        const ir::KernelNode& node) {
  struct Source {
    ir::TensorDesc desc;
    std::shared_ptr<const ir::ConstantData> data;
  };
  std::vector<Source> sources;
  ir::PackedConstant out;
  out.id = StrCat("lstm gates ", block.name, " ", plan.lanes, " ", plan.gates(),
                  " ", plan.node.units, " ", block.number);
  for (const Part& part : block.parts) {
    out.sources.push_back(part.input);
    sources.push_back({node.inputs[part.input], node.constants[part.input]});
    out.id += StrCat(" ", part.begin, " ", part.add, " ",
                     sources.back().desc.ToString(), " ",
                     HashOf(sources.back().desc.quantization));
  }
  out.bytes = block.floats * int64_t{sizeof(float)};
  out.pack = [plan, block,
              sources = std::move(sources)](std::span<std::byte> bytes) {
    std::memset(bytes.data(), 0, bytes.size());
    auto* floats = reinterpret_cast<float*>(bytes.data());
    for (size_t i = 0; i < sources.size(); ++i) {
      const Part& part = block.parts[i];
      const kernels::ElementReader reader(
          {&sources[i].desc, sources[i].data->bytes.data()});
      for (int64_t u = 0; u < part.count; ++u) {
        for (int64_t k = 0; k < part.depth; ++k) {
          float& to = floats[PlaceOf(plan, part, k, u)];
          const float real = reader.Real(u * part.depth + k);
          to = part.add ? to + real : real;
        }
      }
    }
    AddNumber(block, floats);
    return OkStatus();
  };
  return out;
}

Status AppendArrange(const Plan& plan, const Part& part,
                     const ir::KernelNode& node, int scratch,
                     ir::Lowering* lowering) {
  const ir::TensorDesc& desc = node.inputs[part.input];
  TIM_RETURN_IF_ERROR(LstmLaunch(plan, kSource, "lstm_arrange")
                          .Type("IN", desc)
                          .Input("x", node, part.input)
                          .EarlierScratch("floats", scratch, sizeof(float))
                          .InputQuantization("x", desc)
                          .Int("begin", part.begin)
                          .Int("depth", part.depth)
                          .Int("gate", part.gate)
                          .Int("gates", part.gates)
                          .Int("units", part.count)
                          .Int("vectors", part.vectors)
                          .Int("add", part.add ? 1 : 0)
                          .Items(part.count * part.depth)
                          .AppendTo(lowering));
  MarkScratchWritten(lowering);
  return OkStatus();
}

Status CheckQuantization(const Block& block, const ir::KernelNode& node) {
  if (IsConstant(block, node)) return OkStatus();
  for (const Part& part : block.parts) {
    const ir::TensorDesc& desc = node.inputs[part.input];
    if (!desc.quantized() || !desc.quantization.per_channel()) continue;
    return Unimplemented("input ", part.input,
                         " is quantized per channel beside operands that are "
                         "no constants, which has no kernel");
  }
  return OkStatus();
}

}  // namespace

LstmPlan LstmPlanOf(const ir::KernelNode& node, bool simt) {
  const AnchorView view(node);
  LstmPlan plan;
  plan.node = LstmNodeOf(node.attributes(), view.view().inputs);
  plan.simt = simt;
  plan.lanes = simt ? 1 : 16;
  plan.vectors = CeilDiv(plan.node.units, plan.lanes);
  plan.output_vectors = CeilDiv(plan.node.outputs, plan.lanes);
  plan.first_gate = plan.node.input_gate ? kInputGate : kForgetGate;
  return plan;
}

LstmBlocks LstmBlocksOf(const LstmPlan& plan, const ir::KernelNode& node) {
  const LstmNode& of = plan.node;
  LstmBlocks out;
  out.weights = WeightsBlock(plan, "weights", In::kWeights, of.width);
  if (of.aux_width > 0) {
    out.aux = WeightsBlock(plan, "aux_weights", In::kAuxWeights, of.aux_width);
  }
  out.recurrent = WeightsBlock(plan, "recurrent", In::kRecurrent, of.outputs);
  out.parameters = ParametersBlock(plan, node);
  if (of.projection) out.projection = ProjectionBlock(plan);
  return out;
}

Status CheckBlockQuantization(const LstmBlocks& blocks,
                              const ir::KernelNode& node) {
  TIM_RETURN_IF_ERROR(CheckQuantization(blocks.weights, node));
  TIM_RETURN_IF_ERROR(CheckQuantization(blocks.recurrent, node));
  TIM_RETURN_IF_ERROR(CheckQuantization(blocks.parameters, node));
  if (blocks.aux) TIM_RETURN_IF_ERROR(CheckQuantization(*blocks.aux, node));
  if (!blocks.projection) return OkStatus();
  return CheckQuantization(*blocks.projection, node);
}

Result<PlacedBlock> PlacedBlock::Create(const LstmPlan& plan,
                                        const LstmBlock& block,
                                        const ir::KernelNode& node,
                                        ir::Lowering* lowering) {
  PlacedBlock out;
  out.name_ = block.name;
  if (IsConstant(block, node)) {
    out.packed_ = Pack(plan, block, node);
    return out;
  }
  TIM_RETURN_IF_ERROR(LstmLaunch(plan, kSource, "lstm_zero")
                          .Scratch("floats",
                                   block.floats * int64_t{sizeof(float)},
                                   sizeof(float))
                          .Int("count", block.floats)
                          .Items(block.floats)
                          .AppendTo(lowering));
  out.scratch_ = static_cast<int>(lowering->scratch.size()) - 1;
  for (const Part& part : block.parts) {
    TIM_RETURN_IF_ERROR(
        AppendArrange(plan, part, node, out.scratch_, lowering));
  }
  if (block.number == 0.0f) return out;
  TIM_RETURN_IF_ERROR(LstmLaunch(plan, kSource, "lstm_add")
                          .EarlierScratch("floats", out.scratch_, sizeof(float))
                          .Int("begin", block.begin)
                          .Float("value", block.number)
                          .Int("count", block.units)
                          .Items(block.units)
                          .AppendTo(lowering));
  MarkScratchWritten(lowering);
  return out;
}

void PlacedBlock::AddTo(Launch* launch) const {
  if (packed_) {
    launch->Packed(name_, *packed_, sizeof(float));
  } else {
    launch->EarlierScratch(name_, scratch_, sizeof(float));
  }
}

Launch LstmLaunch(const LstmPlan& plan, const char* source,
                  const char* function) {
  Launch launch(source, function);
  if (plan.simt) launch.Option("-DSIMT");
  return launch;
}

}  // namespace tim::ops
