#include "tim/vx/ops/custom_base.h"

#include "vx/operation/op_impl.h"
#include "vx/tensor/type_convert.h"

namespace tim::vx::ops {

CustomOpBase::CustomOpBase(Graph* graph, uint32_t input_num,
                           uint32_t output_num, int32_t,
                           const char* kernel_name,
                           std::initializer_list<NamedAttribute> attributes)
    : input_num_(input_num), output_num_(output_num) {
  const bool named = kernel_name != nullptr && kernel_name[0] != '\0';
  impl_->name = StrCat("user.", named ? kernel_name : "custom");
  impl_->SetAttributes(attributes);
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
