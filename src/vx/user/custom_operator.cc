#include "vx/user/custom_operator.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <limits>
#include <span>

#include "kernels/text/byte_order_mark.h"
#include "vx/core/failure.h"
#include "vx/operation/op_impl.h"
#include "vx/tensor/tensor_impl.h"
#include "vx/tensor/type_convert.h"
#include "vx/user/custom_arguments.h"
#include "vx/user/custom_scalar.h"
#include "vx/user/operand_defines.h"
#include "vx/user/quantization_macros.h"
#include "vx/user/shown_specs.h"

namespace tim::vx {
namespace {

constexpr uint32_t kMaxDimensions = 3;

Result<ShapeType> KnownShape(const ir::InferContext::Input& input) {
  const ir::Shape& shape = input.desc->shape;
  ShapeType out;
  if (!shape.ranked()) {
    return InvalidArgument("the rank is unknown; declare the tensor's shape");
  }
  for (const int64_t dim : shape.dims()) {
    if (dim == ir::kUnknownDim || dim > std::numeric_limits<uint32_t>::max()) {
      return InvalidArgument("the shape ", shape.ToString(),
                             " cannot be handed to SetupShapeInfor()");
    }
    out.push_back(static_cast<uint32_t>(dim));
  }
  return out;
}

uint64_t NextEdition() {
  static constinit std::atomic<uint64_t> next = 1;
  return next.fetch_add(1, std::memory_order_relaxed);
}

bool IsReserved(const std::string& name) {
  const auto reserved = ir::ReservedAttributes();
  return std::any_of(reserved.begin(), reserved.end(),
                     [&](const auto& spec) { return spec.name == name; });
}

Result<std::string> SourceOf(const ops::CustomOpBase& operation) {
  const OpImpl& impl = *operation.impl();
  if (impl.core != nullptr && impl.core->kernel_files != nullptr) {
    const auto text = impl.core->kernel_files->TextOf(impl.name);
    if (text) return kernels::WithoutByteOrderMarks(*text);
  }
  if (operation.kernel_resource_ == nullptr) {
    return InvalidArgument(
        "kernel_resource_ is null; it must point to OpenCL C source");
  }
  auto text = kernels::WithoutByteOrderMarks(operation.kernel_resource_);
  if (!text.ok()) return text.status().WithContext("kernel_resource_");
  return text;
}

// Host references read and write what a kernel would find.
Status CopyKept(int output, const ir::ConstTensor& state,
                const ir::MutableTensor& written) {
  TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(*state.desc));
  TIM_ASSIGN_OR_RETURN(const int64_t wanted, ir::ByteSize(*written.desc));
  if (bytes != wanted) {
    return InvalidArgument("output ", output, " takes ", wanted,
                           " bytes, its VARIABLE ", bytes);
  }
  std::memcpy(written.data, state.data, static_cast<size_t>(bytes));
  return OkStatus();
}

}  // namespace

bool HasAllInputs(const ops::CustomOpBase& operation) {
  const OpImpl& impl = *operation.impl();
  const auto& means = std::get<CustomMeans>(impl.kind);
  if (impl.inputs.size() > operation.input_num_) return false;
  for (size_t i = impl.inputs.size(); i < operation.input_num_; ++i) {
    if (!means.IsOptional(i)) return false;
  }
  return true;
}

std::vector<int> KeptOutputs(const ops::CustomOpBase& operation) {
  const OpImpl& impl = *operation.impl();
  std::vector<int> kept;
  if (!HasAllInputs(operation)) return kept;
  for (size_t i = 0; i < impl.outputs.size(); ++i) {
    const auto* tensor = dynamic_cast<TensorImpl*>(impl.outputs[i].get());
    if (tensor != nullptr && tensor->attribute() == VARIABLE) {
      kept.push_back(static_cast<int>(i));
    }
  }
  return kept;
}

const ir::OpSchema* CustomOperator::Register(
    const std::shared_ptr<CustomOperator>& self, ir::OpRegistry* registry) {
  const int inputs = static_cast<int>(self->input_count_ + self->kept_.size());
  const int outputs = static_cast<int>(self->operation_.output_num_);
  int required = 0;  // those behind an optional one see InferShapes()
  while (required < inputs && !self->means_.IsOptional(required)) ++required;
  std::function<Status(const ir::EvalContext&)> eval;
  if (self->operation_.HasHostEval()) {
    eval = [self](const ir::EvalContext& context) {
      return self->Evaluate(context);
    };
  }
  std::vector<ir::AttributeSpec> attributes;
  const auto& given = self->operation_.impl()->attributes.entries();
  for (const auto& [name, value] : given) {
    if (IsReserved(name)) continue;
    attributes.push_back({.name = name, .type = ir::TypeOf(value)});
  }
  return ir::AddUserOperator(
      {.name = self->name_.substr(self->name_.find('.') + 1),
       .inputs = {required, inputs},
       .outputs = {outputs, outputs},
       .attributes = std::move(attributes),
       .infer_shapes =
           [self](ir::InferContext& context) {
             return self->InferShapes(context);
           },
       .eval = std::move(eval),
       .permute_rule =
           [self](const ir::NodeView& view, int operand,
                  std::span<const int> perm) {
             return self->Permute(view, operand, perm);
           },
       .steps =
           [self](const ir::KernelNode& node) { return self->Lower(node); }},
      registry);
}

Status CustomOperator::CallHook(Hook hook, const std::function<void()>& call) {
  static constexpr const char* kNames[] = {"SetupTypes", "SetupShapeInfor",
                                           "SetupParams", "SetupEnqueue",
                                           "HostEval"};
  const ShownSpecs shown(*operation_.impl(), specs_, hook);
  return CallUser(call).WithContext(
      StrCat(kNames[static_cast<int>(hook)], "()"));
}

// Types that the graph declares rule.
Status CustomOperator::InferTypes(ir::InferContext& context) {
  std::vector<TensorSpec> set(context.outputs.size());
  specs_.set_types = &set;
  const Status status =
      CallHook(Hook::kTypes, [&] { operation_.SetupTypes(); });
  specs_.set_types = nullptr;
  TIM_RETURN_IF_ERROR(status);
  for (size_t i = 0; i < set.size(); ++i) {
    if (set[i].datatype_ == DataType::UNKNOWN) continue;
    TIM_ASSIGN_OR_RETURN(const ir::TensorDesc wanted, ToIr(set[i]));
    ir::TensorDesc& desc = context.outputs[i].desc;
    const bool open = desc.type == ir::DataType::kUnknown;
    if (open) desc.type = wanted.type;
    if (open && desc.quantization.none()) {
      desc.quantization = wanted.quantization;
    }
    if (ir::IsFloat(desc.type)) desc.quantization = {};
    if (desc.type != wanted.type ||
        (!wanted.quantization.none() &&
         desc.quantization != wanted.quantization)) {
      return InvalidArgument(
          "SetupTypes() made output ", i, " ", ir::ToString(wanted.type), " ",
          wanted.quantization.ToString(), "; the graph declares ",
          ir::ToString(desc.type), " ", desc.quantization.ToString());
    }
    specs_.outputs[i].datatype_ = ToVx(desc.type);
    specs_.outputs[i].quantization_ = ToVx(desc.quantization);
  }
  return OkStatus();
}

Status CustomOperator::InferShapes(ir::InferContext& context) {
  const OpImpl& impl = *operation_.impl();
  specs_ = OperandSpecs();
  operation_.inputs_size_.clear();
  for (size_t i = 0; i < input_count_; ++i) {
    specs_.present.push_back(context.has_input(static_cast<int>(i)));
    if (!specs_.present[i]) {
      if (!means_.IsOptional(i)) {
        return InvalidArgument("input ", i, " is required, but not bound");
      }
      operation_.inputs_size_.emplace_back();
      specs_.inputs.emplace_back();
      continue;
    }
    const Result<ShapeType> shape = KnownShape(context.inputs[i]);
    if (!shape.ok()) return shape.status().WithContext(StrCat("input ", i));
    operation_.inputs_size_.push_back(*shape);
    specs_.inputs.push_back(SpecOf(*impl.inputs[i], *context.inputs[i].desc));
  }
  for (const auto& output : impl.outputs) {
    specs_.outputs.push_back(DeclaredSpec(output));
  }
  operation_.outputs_size_.assign(context.outputs.size(), ShapeType());
  TIM_RETURN_IF_ERROR(InferTypes(context));
  TIM_RETURN_IF_ERROR(
      CallHook(Hook::kShapes, [&] { operation_.SetupShapeInfor(); }));
  TIM_RETURN_IF_ERROR(CheckOutputShapes(context.outputs.size()));
  for (size_t i = 0; i < context.outputs.size(); ++i) {
    ir::TensorDesc& desc = context.outputs[i].desc;
    const ShapeType& shape = operation_.outputs_size_[i];
    desc.shape = ir::Shape(std::vector<int64_t>(shape.begin(), shape.end()));
    if (desc.type == ir::DataType::kUnknown && input_count_ > 0 &&
        specs_.present[0]) {
      desc.type = context.inputs[0].desc->type;
      desc.quantization = context.inputs[0].desc->quantization;
    }
    specs_.outputs[i] = SpecOf(*impl.outputs[i], desc);
  }
  return OkStatus();
}

Status CustomOperator::CheckOutputShapes(size_t count) const {
  const std::vector<ShapeType>& shapes = operation_.outputs_size_;
  if (shapes.size() != count) {
    return InvalidArgument("SetupShapeInfor() left outputs_size_ with ",
                           shapes.size(), " shapes; the operator has ", count,
                           " outputs");
  }
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i].empty()) {
      return InvalidArgument("SetupShapeInfor() left outputs_size_[", i,
                             "] empty; it must give the output's shape");
    }
    if (shapes[i].size() > size_t{ir::kMaxRank}) {
      return InvalidArgument("SetupShapeInfor() gave outputs_size_[", i,
                             "] rank ", shapes[i].size(), ", the limit is ",
                             ir::kMaxRank);
    }
    for (const uint32_t extent : shapes[i]) {
      if (extent != 0) continue;
      return InvalidArgument("SetupShapeInfor() gave outputs_size_[", i,
                             "] an extent of 0");
    }
  }
  return OkStatus();
}

Status CustomOperator::SetUpParameters(uint64_t edition) {
  means_.Begin(&operation_.param_list_);
  std::vector<DataType> types;
  for (const TensorSpec& spec : specs_.inputs) types.push_back(spec.datatype_);
  std::string options;
  const Status status =
      CallHook(Hook::kParams, [&] { operation_.SetupParams(types, options); });
  if (!status.ok()) return status.WithContext(StrCat("operation ", name_));
  if (operation_.func_name_ == nullptr || operation_.func_name_[0] == '\0') {
    return InvalidArgument("operation ", name_,
                           ": SetupParams() set no func_name_; it must name a "
                           "kernel of kernel_resource_");
  }
  auto text = SourceOf(operation_);
  if (!text.ok()) {
    return text.status().WithContext(StrCat("operation ", name_));
  }
  launch_ = ir::UserLaunch();
  launch_.name = name_;
  launch_.text = *std::move(text);
  launch_.function = operation_.func_name_;
  launch_.options = WithQuantization(specs_, launch_.text, options);
  launch_.defines = OperandDefines(specs_, means_, launch_.text, options);
  launch_.edition = edition;
  if (means_.watch != nullptr) {
    means_.watch->text = launch_.text;
    means_.watch->options = options;
    means_.watch->scalars = operation_.param_list_;
  }
  const auto scalars = ToScalars(operation_.param_list_);
  if (!scalars.ok()) {
    return scalars.status().WithContext(StrCat("operation ", name_));
  }
  scalars_ = *scalars;
  zeroed_ = means_.zeroed;
  return OkStatus();
}

Status CustomOperator::SetUpLaunch() {
  uint32_t dimensions = 0;
  std::vector<size_t> global(kMaxDimensions, 0);
  std::vector<size_t> local(kMaxDimensions, 0);
  const Status status = CallHook(Hook::kEnqueue, [&] {
    operation_.SetupEnqueue(dimensions, global, local);
  });
  if (!status.ok()) return status.WithContext(StrCat("operation ", name_));
  means_.End(operation_.param_list_);
  const auto fail = [&](const auto&... reason) {
    return InvalidArgument("operation ", name_, ": SetupEnqueue() ", reason...);
  };
  if (dimensions < 1 || dimensions > kMaxDimensions) {
    return fail("set dim to ", dimensions, "; it must be 1, 2 or 3");
  }
  if (global.size() < dimensions) {
    return fail("gave ", global.size(), " global sizes, dim is ", dimensions);
  }
  global.resize(dimensions);
  local.resize(dimensions, 0);
  kernels_ = {{launch_.function, global, local, {}}};
  kernels_.insert(kernels_.end(), means_.kernels.begin(), means_.kernels.end());
  for (size_t i = 0; means_.watch != nullptr && i < kernels_.size(); ++i) {
    auto local = means_.watch->local_sizes(kernels_[i], i);
    if (!local.empty()) kernels_[i].local = std::move(local);
  }
  for (const CustomKernel& kernel : kernels_) {
    TIM_RETURN_IF_ERROR(CheckSizes(kernel));
  }
  const Status args = SetArguments(means_,
                                   {.inputs = input_count_,
                                    .outputs = specs_.outputs.size(),
                                    .scratch = means_.scratch.size(),
                                    .tables = means_.tables.size(),
                                    .locals = means_.locals.size(),
                                    .scalars = scalars_.size()},
                                   &kernels_);
  if (means_.watch != nullptr) means_.watch->kernels = kernels_;
  return args.WithContext(StrCat("operation ", name_));
}

Status CustomOperator::CheckSizes(const CustomKernel& kernel) const {
  constexpr size_t kLimit = std::numeric_limits<int64_t>::max();
  for (const auto* sizes : {&kernel.global, &kernel.local}) {
    for (size_t i = 0; i < sizes->size(); ++i) {
      if ((*sizes)[i] <= kLimit) continue;
      return InvalidArgument("operation ", name_,
                             ": SetupEnqueue() gave a size beyond 63 bits in "
                             "dimension ",
                             i, " of kernel '", kernel.function, "'");
    }
  }
  return OkStatus();
}

Status CustomOperator::Evaluate(const ir::EvalContext& context) {
  for (size_t i = 0; i < kept_.size(); ++i) {
    TIM_RETURN_IF_ERROR(CopyKept(kept_[i], context.inputs[input_count_ + i],
                                 context.outputs[kept_[i]]));
  }
  for (size_t i = 0; i < zeroed_.size(); ++i) {
    if (!zeroed_[i]) continue;
    TIM_ASSIGN_OR_RETURN(const int64_t bytes,
                         ir::ByteSize(*context.outputs[i].desc));
    std::memset(context.outputs[i].data, 0, static_cast<size_t>(bytes));
  }
  std::vector<ops::HostInput> inputs;
  std::vector<ops::HostOutput> outputs;
  for (size_t i = 0; i < input_count_; ++i) {
    inputs.push_back({specs_.inputs[i], context.inputs[i].data});
  }
  for (size_t i = 0; i < specs_.outputs.size(); ++i) {
    outputs.push_back({specs_.outputs[i], context.outputs[i].data});
  }
  return CallHook(Hook::kHostEval,
                  [&] { operation_.HostEval(inputs, outputs); });
}

// Behind the user's inputs are the values that outputs had before.
Result<ir::PermutedNode> CustomOperator::Permute(
    const ir::NodeView& view, int operand, std::span<const int> perm) const {
  if (static_cast<size_t>(operand) >= input_count_) {
    return Unimplemented(name_, ": a state keeps its axes");
  }
  ops::PermutedOperands operands;
  operands.inputs.resize(input_count_);
  operands.outputs.resize(view.outputs.size());
  const ops::Permutation asked(perm.begin(), perm.end());
  operands.inputs[operand] = asked;
  bool passes = false;
  const auto status = CallUser([&] {
    passes = operation_.PermuteAxes(static_cast<uint32_t>(operand), asked,
                                    &operands);
  });
  if (!status.ok()) return status.WithContext(StrCat(name_, ": PermuteAxes()"));
  if (!passes) return Unimplemented(name_, " lets no permutation through");
  if (operands.inputs.size() != input_count_ ||
      operands.outputs.size() != view.outputs.size() ||
      operands.inputs[operand] != asked) {
    return InvalidArgument(name_, ": PermuteAxes() answers for ",
                           operands.inputs.size(), " inputs and ",
                           operands.outputs.size(),
                           " outputs, or changes what was asked");
  }
  ir::PermutedNode answer;
  answer.attributes = view.node.attributes;
  const auto to_ir = [](const ops::Permutation& permutation) {
    return ir::Permutation(permutation.begin(), permutation.end());
  };
  std::transform(operands.inputs.begin(), operands.inputs.end(),
                 std::back_inserter(answer.inputs), to_ir);
  std::transform(operands.outputs.begin(), operands.outputs.end(),
                 std::back_inserter(answer.outputs), to_ir);
  for (size_t i = 0; i < input_count_; ++i) {
    if (view.inputs[i] == nullptr) answer.inputs[i].clear();
  }
  for (const int kept : kept_) answer.inputs.push_back(answer.outputs[kept]);
  for (const auto* permutations : {&answer.inputs, &answer.outputs}) {
    for (const ir::Permutation& permutation : *permutations) {
      if (ir::IsPermutation(permutation)) continue;
      return InvalidArgument(name_, ": PermuteAxes() answers [",
                             StrJoin(permutation, ", "),
                             "], which is no permutation");
    }
  }
  return answer;
}

Status SetUp(const std::vector<std::shared_ptr<CustomOperator>>& operators) {
  const uint64_t edition = NextEdition();
  for (const auto& custom : operators) {
    TIM_RETURN_IF_ERROR(custom->SetUpParameters(edition));
  }
  for (const auto& custom : operators) {
    TIM_RETURN_IF_ERROR(custom->SetUpLaunch());
  }
  return OkStatus();
}

}  // namespace tim::vx
