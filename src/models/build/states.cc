// States of a model's graph: what one run leaves for the next.
#include "models/build/graph_builder.h"
#include "tim/vx/error.h"
#include "tim/vx/ops/simple_operations.h"

namespace tim::models {

Result<Value> GraphBuilder::AddState(const std::string& name, vx::DataType type,
                                     const Dims& dims,
                                     const vx::Quantization& quantization,
                                     const HostArray* initial) {
  // The zeros of a state are made at once, whatever the file's length is.
  constexpr int64_t kMostBytes = int64_t{1} << 30;
  const int64_t bytes = ByteSizeOf(type, dims);
  if (bytes <= 0) {
    return InvalidArgument("state '", name, "' has extents [",
                           StrJoin(dims, ","), "]");
  }
  if (bytes > kMostBytes) {
    return Unimplemented("state '", name, "' has ", bytes, " bytes, at most ",
                         kMostBytes, " are taken");
  }
  if (GraphType(type) != type) {
    return Unimplemented("state '", name, "' is of integers of 64 bits");
  }
  if (initial != nullptr && (initial->type != type ||
                             static_cast<int64_t>(initial->bytes) != bytes)) {
    return InvalidArgument("state '", name,
                           "' begins as elements of another type or number");
  }
  vx::TensorSpec spec(type, GraphShape(dims), vx::VARIABLE, quantization);
  spec.SetName(name);
  const std::shared_ptr<const void> data =
      initial == nullptr ? nullptr : initial->data;
  Value state;
  state.name = name;
  state.type = type;
  state.dims = dims;
  state.quantization = quantization;
  state.tensor = graph_->CreateTensor(spec, data.get());
  if (state.tensor->GetId() == 0xFFFFFFFF) {
    return InvalidArgument("state '", name, "': ", vx::LastError());
  }
  if (recorder_ != nullptr) recorder_->AddTensor(*state.tensor, spec, data);
  return state;
}

Status GraphBuilder::SetState(const Value& state, const Value& next) {
  TIM_ASSIGN_OR_RETURN(const std::shared_ptr<vx::Tensor> from, TensorOf(next));
  if (from == state.tensor) return OkStatus();
  if (next.ElementCount() != state.ElementCount()) {
    return InvalidArgument("state '", state.name, "', ", Describe(state),
                           ", is set to ", Describe(next));
  }
  const auto operation = graph_->CreateOperation<vx::ops::DataConvert>();
  operation->BindInput(from).BindOutput(state.tensor);
  if (recorder_ != nullptr) {
    recorder_->AddOperation(CallText<vx::ops::DataConvert>(), {from},
                            {state.tensor});
  }
  return OkStatus();
}

}  // namespace tim::models
