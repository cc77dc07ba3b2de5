// The steps of a custom operation.
#include <algorithm>
#include <map>
#include <utility>

#include "base/hash.h"
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

Status CheckAllocation(const std::string& name, int64_t bytes,
                       const ir::DeviceInfo& device) {
  if (bytes <= device.max_allocation_bytes) return OkStatus();
  return InvalidArgument(name, " takes ", bytes, " bytes, ", device.name,
                         " allocates ", device.max_allocation_bytes,
                         " at most");
}

void AddTable(const CustomTable& table, ir::Lowering* lowering) {
  const auto bytes = table.bytes;
  lowering->packed.push_back(
      {.id = StrCat("table of user ",
                    HashBytes(bytes->data(), bytes->size()).ToString(), " ",
                    bytes->size()),
       .sources = {},
       .bytes = static_cast<int64_t>(bytes->size()),
       .pack = [bytes](std::span<std::byte> out) {
         std::copy(bytes->begin(), bytes->end(), out.begin());
         return OkStatus();
       }});
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
                                   ir::Lowering* lowering) const {
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
    lowering->steps.push_back(
        {.action = ir::Copy{bytes},
         .operands = {{Kind::kInput, from}, {Kind::kOutput, kept_[i]}},
         .written = {false, true}});
    lowering->in_place.push_back({.input = from, .output = kept_[i]});
  }
  return OkStatus();
}

ir::UserTensorArg CustomOperator::TensorArgument(const ir::KernelNode& node,
                                                 const ops::KernelArg& arg,
                                                 bool first, bool last) const {
  using Kind = ops::KernelArg::Kind;
  const CustomMeans& means = *operation_.impl()->means;
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
      tensor.zeroed = first && means.scratch[i].zeroed;
      tensor.readable = true;
      tensor.open = true;
      desc = &means.scratch[i].desc;
      break;
    default:
      desc = &means.tables[i].desc;
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
          ir::LocalArg{.bytes = operation_.impl()->means->locals[i],
                       .name = StrCat("local ", i)});
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

Result<ir::Lowering> CustomOperator::Lower(const ir::KernelNode& node,
                                           const ir::DeviceInfo& device) const {
  const CustomMeans& means = *operation_.impl()->means;
  ir::Lowering lowering;
  TIM_RETURN_IF_ERROR(KeepOutputs(node, &lowering));
  const int begin = static_cast<int>(lowering.steps.size());
  const Uses uses = UsesOf(kernels_);
  for (size_t i = 0; i < means.scratch.size(); ++i) {
    TIM_ASSIGN_OR_RETURN(const int64_t bytes,
                         ir::ByteSize(means.scratch[i].desc));
    TIM_RETURN_IF_ERROR(CheckAllocation(StrCat("scratch ", i), bytes, device));
    const auto [first, last] =
        uses.at({KernelArg::Kind::kScratch, static_cast<uint32_t>(i)});
    lowering.scratch.push_back(
        {.bytes = bytes, .first = begin + first, .last = begin + last});
  }
  for (size_t i = 0; i < means.tables.size(); ++i) {
    const CustomTable& table = means.tables[i];
    TIM_RETURN_IF_ERROR(
        CheckAllocation(StrCat("table ", i),
                        static_cast<int64_t>(table.bytes->size()), device));
    AddTable(table, &lowering);
  }
  for (int part = 0; part < static_cast<int>(kernels_.size()); ++part) {
    lowering.steps.push_back(LowerKernel(node, part));
  }
  return lowering;
}

}  // namespace tim::vx
