#include "tim/vx/ops/custom_base.h"

#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "vx/operation/op_impl.h"
#include "vx/tensor/type_convert.h"

namespace tim::vx::ops {
namespace {

// A function of the user's that runs fails; else Compile() will.
template <typename Error>
void Refuse(OpImpl& impl, const std::string& mistake) {
  if (impl.specs != nullptr) throw Error(mistake);
  impl.Refuse(InvalidArgument(mistake));
}

CustomMeans& MeansOf(OpImpl& impl) { return std::get<CustomMeans>(impl.kind); }

bool Runs(const OpImpl& impl, Hook hook) {
  return impl.specs != nullptr && impl.specs->hook == hook;
}

// Whether `hook` runs; refuses the call where not.
bool IsIn(OpImpl& impl, Hook hook, const char* function, const char* place) {
  if (Runs(impl, hook)) return true;
  Refuse<std::logic_error>(impl, StrCat(function, " is for ", place));
  return false;
}

// Of a dense tensor that memory can hold; else the reason.
Result<ir::TensorDesc> DescOf(DataType type, const ShapeType& shape) {
  const auto known = ToIr(type);
  if (type == DataType::UNKNOWN || !known) {
    return InvalidArgument("data type ", static_cast<int>(type),
                           type == DataType::UNKNOWN ? ", UNKNOWN," : "",
                           " is none of a tensor");
  }
  if (shape.empty() || shape.size() > size_t{ir::kMaxRank}) {
    return InvalidArgument("rank ", shape.size(), " is outside of 1 to ",
                           ir::kMaxRank);
  }
  for (const uint32_t extent : shape) {
    if (extent > 0) continue;
    return InvalidArgument("shape [", StrJoin(shape, ", "),
                           "] has an extent of 0");
  }
  ir::TensorDesc desc;
  desc.type = *known;
  desc.shape = ir::Shape(std::vector<int64_t>(shape.begin(), shape.end()));
  TIM_RETURN_IF_ERROR(ir::ByteSize(desc).status());
  return desc;
}

void CheckSizes(const std::string& function, const std::vector<size_t>& global,
                const std::vector<size_t>& local) {
  if (global.empty() || global.size() > 3) {
    throw std::invalid_argument(StrCat("AddKernel(\"", function, "\") with ",
                                       global.size(),
                                       " global sizes; it takes 1, 2 or 3"));
  }
  if (local.empty() || local.size() == global.size()) return;
  throw std::invalid_argument(
      StrCat("AddKernel(\"", function, "\") with ", local.size(),
             " local sizes; it takes none, or as many as the ", global.size(),
             " global ones"));
}

}  // namespace

CustomOpBase::CustomOpBase(Graph* graph, uint32_t input_num,
                           uint32_t output_num, int32_t,
                           const char* kernel_name,
                           std::initializer_list<NamedAttribute> attributes)
    : input_num_(input_num), output_num_(output_num) {
  const bool named = kernel_name != nullptr && kernel_name[0] != '\0';
  impl_->name = StrCat("user.", named ? kernel_name : "custom");
  impl_->SetAttributes(attributes);
  impl_->kind = CustomMeans();
  impl_->Join(CoreOf(graph));
}

CustomOpBase::~CustomOpBase() = default;

void CustomOpBase::SetupTypes() {}

void CustomOpBase::SetOutputType(uint32_t output, DataType type,
                                 const Quantization& quantization) {
  if (impl_->specs == nullptr || impl_->specs->set_types == nullptr) {
    throw std::logic_error("SetOutputType() is for SetupTypes()");
  }
  std::vector<TensorSpec>& set = *impl_->specs->set_types;
  if (output >= set.size()) {
    throw std::out_of_range(StrCat("SetOutputType() of output ", output,
                                   "; the operation has ", set.size()));
  }
  if (type == DataType::UNKNOWN || !ToIr(type)) {
    throw std::invalid_argument(StrCat(
        "SetOutputType() of output ", output, ": ",
        type == DataType::UNKNOWN
            ? "UNKNOWN is no type"
            : StrCat("data type ", static_cast<int>(type), " does not exist")));
  }
  set[output] = TensorSpec(type, {}, TRANSIENT, quantization);
}

void CustomOpBase::SetInputOptional(uint32_t input) {
  CustomMeans& means = MeansOf(*impl_);
  if (means.begun || impl_->specs != nullptr || !impl_->inputs.empty()) {
    return Refuse<std::logic_error>(
        *impl_, "SetInputOptional() is for the constructor");
  }
  if (input >= input_num_) {
    return Refuse<std::out_of_range>(
        *impl_, StrCat("SetInputOptional(", input, "): the operation has ",
                       input_num_, " inputs, numbered from 0"));
  }
  means.optional.resize(input_num_, false);
  means.optional[input] = true;
}

bool CustomOpBase::HasInput(uint32_t input) const {
  if (input >= input_num_) {
    throw std::out_of_range(StrCat("HasInput(", input, ") of ",
                                   impl_->InstanceName(), ", which has ",
                                   input_num_, " inputs"));
  }
  if (impl_->specs != nullptr) return impl_->specs->present[input];
  return input < impl_->inputs.size() && impl_->inputs[input] != nullptr &&
         !impl_->inputs[input]->IsPlaceHolder();
}

uint32_t CustomOpBase::AddScratch(DataType type, const ShapeType& shape) {
  if (!IsIn(*impl_, Hook::kParams, "AddScratch()", "SetupParams()")) return 0;
  const Result<ir::TensorDesc> desc = DescOf(type, shape);
  std::vector<CustomScratch>& scratch = MeansOf(*impl_).scratch;
  if (!desc.ok()) {
    throw std::invalid_argument(StrCat("AddScratch() of scratch ",
                                       scratch.size(), ": ",
                                       desc.status().message()));
  }
  scratch.push_back({.desc = *desc});
  return static_cast<uint32_t>(scratch.size() - 1);
}

uint32_t CustomOpBase::AddTableOf(const Param& like, const void* numbers,
                                  size_t count) {
  CustomMeans& means = MeansOf(*impl_);
  const bool own = !means.begun && impl_->specs == nullptr;
  if (!own && !IsIn(*impl_, Hook::kParams, "AddTable()",
                    "the constructor and SetupParams()")) {
    return 0;
  }
  CustomTable table;
  table.desc.type = like.wide == Param::Wide::kUint64   ? ir::DataType::kUint64
                    : like.wide == Param::Wide::kDouble ? ir::DataType::kFloat64
                                                        : *ToIr(like.type);
  table.desc.shape = ir::Shape({static_cast<int64_t>(count)});
  if (count == 0) {
    Refuse<std::invalid_argument>(
        *impl_, StrCat("AddTable() of table ", means.tables.size(),
                       ": it has no numbers"));
    return 0;
  }
  table.data =
      ir::MakeConstant(numbers, count * (ir::Info(table.desc.type).bits / 8));
  means.tables.push_back(std::move(table));
  if (own) means.own_tables = means.tables.size();
  return static_cast<uint32_t>(means.tables.size() - 1);
}

uint32_t CustomOpBase::AddLocal(size_t bytes) {
  if (!Runs(*impl_, Hook::kParams) &&
      !IsIn(*impl_, Hook::kEnqueue, "AddLocal()",
            "SetupParams() and SetupEnqueue()")) {
    return 0;
  }
  std::vector<int64_t>& locals = MeansOf(*impl_).locals;
  if (bytes == 0 || bytes > std::numeric_limits<int64_t>::max()) {
    throw std::invalid_argument(StrCat(
        "AddLocal(", bytes, ") of local ", locals.size(),
        ": it takes at least one byte, and at ", "most what the device has"));
  }
  locals.push_back(static_cast<int64_t>(bytes));
  return static_cast<uint32_t>(locals.size() - 1);
}

void CustomOpBase::FillWithZeros(uint32_t output) {
  if (!IsIn(*impl_, Hook::kParams, "FillWithZeros()", "SetupParams()")) return;
  const std::vector<TensorSpec>& outputs = impl_->specs->outputs;
  if (output >= outputs.size()) {
    throw std::out_of_range(StrCat("FillWithZeros(", output,
                                   "): the operation has ", outputs.size(),
                                   " outputs, numbered from 0"));
  }
  if (outputs[output].attr_ == VARIABLE) {
    throw std::invalid_argument(StrCat("FillWithZeros(", output, "): output ",
                                       output, " is a VARIABLE, which keeps ",
                                       "its value"));
  }
  std::vector<bool>& zeroed = MeansOf(*impl_).zeroed;
  zeroed.resize(outputs.size(), false);
  zeroed[output] = true;
}

void CustomOpBase::FillScratchWithZeros(uint32_t scratch) {
  if (!IsIn(*impl_, Hook::kParams, "FillScratchWithZeros()", "SetupParams()")) {
    return;
  }
  std::vector<CustomScratch>& all = MeansOf(*impl_).scratch;
  if (scratch >= all.size()) {
    throw std::out_of_range(StrCat("FillScratchWithZeros(", scratch,
                                   "): the operation has ", all.size(),
                                   " scratch tensors, numbered from 0"));
  }
  all[scratch].zeroed = true;
}

void CustomOpBase::AddKernel(const std::string& function,
                             const std::vector<size_t>& global,
                             const std::vector<size_t>& local,
                             const std::vector<KernelArg>& args) {
  if (!IsIn(*impl_, Hook::kEnqueue, "AddKernel()", "SetupEnqueue()")) return;
  if (function.empty()) {
    throw std::invalid_argument("AddKernel() of a kernel without a name");
  }
  CheckSizes(function, global, local);
  MeansOf(*impl_).kernels.push_back({function, global, local, args});
}

void CustomOpBase::SetKernelArgs(const std::vector<KernelArg>& args) {
  if (!IsIn(*impl_, Hook::kEnqueue, "SetKernelArgs()", "SetupEnqueue()")) {
    return;
  }
  MeansOf(*impl_).first_args = args;
}

bool CustomOpBase::HasHostEval() const { return false; }

bool CustomOpBase::PermuteAxes(uint32_t, const Permutation&,
                               PermutedOperands*) const {
  return false;
}

void CustomOpBase::HostEval(const std::vector<HostInput>&,
                            const std::vector<HostOutput>&) {
  throw std::logic_error("HasHostEval() says that there is one");
}

}  // namespace tim::vx::ops
