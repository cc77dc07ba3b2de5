// The steps of a custom operation.
#include <algorithm>
#include <map>
#include <utility>

#include "vx/operation/op_impl.h"
#include "vx/user/custom_arguments.h"
#include "vx/user/custom_operator.h"

namespace tim::vx {
namespace {

using ops::KernelArg;
using OperandKind = ir::LoweredOperand::Kind;

// A tensor by kind and index, and the first and last kernel that gets it.
using Uses =
    std::map<std::pair<KernelArg::Kind, uint32_t>, std::pair<int, int>>;

Uses UsesOf(const std::vector<CustomKernel>& kernels) {
  Uses uses;
  for (int i = 0; i < static_cast<int>(kernels.size()); ++i) {
    for (const KernelArg& arg : kernels[i].args) {
      const auto [use, added] =
          uses.try_emplace({arg.kind(), arg.index()}, i, i);
      use->second.second = i;
    }
  }
  return uses;
}

// Sizes as SetUpLaunch() has checked them.
void SetSizes(const CustomKernel& kernel, ir::UserLaunch* launch) {
  launch->range.dimensions = static_cast<int>(kernel.global.size());
  for (size_t i = 0; i < kernel.global.size(); ++i) {
    launch->range.global[i] = static_cast<int64_t>(kernel.global[i]);
    launch->range.local[i] =
        kernel.local.empty() ? 0 : static_cast<int64_t>(kernel.local[i]);
  }
}

}  // namespace

Status CustomOperator::KeepOutputs(const ir::KernelNode& node,
                                   ir::UserSteps* lowered) const {
  using Kind = ir::LoweredOperand::Kind;
  for (size_t i = 0; i < kept_.size(); ++i) {
    const int from = static_cast<int>(input_count_ + i);
    const ir::TensorDesc& state = node.inputs[from];
    const ir::TensorDesc& output = node.outputs[kept_[i]];
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(state));
    TIM_ASSIGN_OR_RETURN(const int64_t written, ir::ByteSize(output));
    if (bytes != written) {
      return InvalidArgument(
          "output ", kept_[i], " is a VARIABLE of shape ",
          state.shape.ToString(), ", SetupShapeInfor() gave it ",
          output.shape.ToString(), ", which takes ", written,
          " bytes in place of ", bytes, "; declare the operator's shape");
    }
    lowered->steps.push_back(
        {.action = ir::Copy{bytes},
         .operands = {{Kind::kInput, from}, {Kind::kOutput, kept_[i]}},
         .written = {false, true}});
    lowered->in_place.push_back({.input = from, .output = kept_[i]});
  }
  return OkStatus();
}

ir::UserTensorArg CustomOperator::TensorArgument(const ir::KernelNode& node,
                                                 const ops::KernelArg& arg,
                                                 bool first, bool last) const {
  using Kind = ops::KernelArg::Kind;
  const uint32_t i = arg.index();
  ir::UserTensorArg tensor;
  tensor.name = StrCat(ToString(arg.kind()), " ", i);
  tensor.written = arg.kind() == Kind::kOutput || arg.kind() == Kind::kScratch;
  tensor.kept = tensor.written && !first;
  tensor.readable = tensor.kept;
  tensor.open = tensor.written && !last;
  const ir::TensorDesc* desc = nullptr;
  switch (arg.kind()) {
    case Kind::kInput:
      if (!specs_.present[i]) tensor.operand = ir::kAbsentOperand;
      desc = &node.inputs[i];
      break;
    case Kind::kOutput:
      tensor.zeroed = first && i < zeroed_.size() && zeroed_[i];
      tensor.kept |=
          std::count(kept_.begin(), kept_.end(), static_cast<int>(i)) != 0;
      desc = &node.outputs[i];
      break;
    case Kind::kScratch:
      tensor.zeroed = first && means_.scratch[i].zeroed;
      tensor.readable = true;
      tensor.open = true;
      desc = &means_.scratch[i].desc;
      break;
    default:
      desc = &means_.tables[i].desc;
  }
  if (tensor.operand == ir::kAbsentOperand) return tensor;
  tensor.type = desc->type;
  tensor.dims = desc->shape.dims();
  return tensor;
}

ir::LoweredStep CustomOperator::LowerKernel(const ir::KernelNode& node,
                                            int part) const {
  static constexpr OperandKind kKinds[] = {
      OperandKind::kInput, OperandKind::kOutput, OperandKind::kScratch,
      OperandKind::kPacked};
  const Uses uses = UsesOf(kernels_);
  const CustomKernel& kernel = kernels_[part];
  ir::LoweredStep step;
  ir::UserLaunch launch = launch_;
  launch.function = kernel.function;
  launch.part = part;
  SetSizes(kernel, &launch);
  for (const KernelArg& arg : kernel.args) {
    const uint32_t i = arg.index();
    if (arg.kind() == KernelArg::Kind::kScalar) {
      launch.arguments.emplace_back(scalars_[i]);
      continue;
    }
    if (arg.kind() == KernelArg::Kind::kLocal) {
      launch.arguments.emplace_back(
          ir::LocalArg{.bytes = means_.locals[i], .name = StrCat("local ", i)});
      continue;
    }
    const auto [first, last] = uses.at({arg.kind(), i});
    ir::UserTensorArg tensor =
        TensorArgument(node, arg, part == first, part == last);
    if (tensor.operand != ir::kAbsentOperand) {
      tensor.operand = static_cast<int>(step.operands.size());
      step.operands.push_back(
          {kKinds[static_cast<int>(arg.kind())], static_cast<int>(i)});
      step.written.push_back(tensor.written);
    }
    launch.arguments.emplace_back(std::move(tensor));
  }
  step.action = std::move(launch);
  return step;
}

Result<ir::UserSteps> CustomOperator::Lower(const ir::KernelNode& node) const {
  ir::UserSteps lowered;
  TIM_RETURN_IF_ERROR(KeepOutputs(node, &lowered));
  const int begin = static_cast<int>(lowered.steps.size());
  const Uses uses = UsesOf(kernels_);
  for (size_t i = 0; i < means_.scratch.size(); ++i) {
    TIM_ASSIGN_OR_RETURN(const int64_t bytes,
                         ir::ByteSize(means_.scratch[i].desc));
    const auto [first, last] =
        uses.at({KernelArg::Kind::kScratch, static_cast<uint32_t>(i)});
    lowered.scratch.push_back(
        {.bytes = bytes, .first = begin + first, .last = begin + last});
  }
  for (const CustomTable& table : means_.tables) {
    lowered.tables.push_back(table.data);
  }
  for (int part = 0; part < static_cast<int>(kernels_.size()); ++part) {
    lowered.steps.push_back(LowerKernel(node, part));
  }
  return lowered;
}

}  // namespace tim::vx
