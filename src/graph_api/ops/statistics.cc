// Values per channel: their types, dims and place in broadcasts.
#include "graph_api/ops/statistics.h"

#include "graph_api/ops/windows.h"

namespace tim::graph {

std::vector<TypeVariable> StatisticsTypes() {
  return {{"T1", FloatTypes()}, {"T2", {tim_graph_f32, tim_graph_bf16}}};
}

Status CheckBfloat16(const Op& op, size_t parameter) {
  if (op.inputs.size() <= parameter ||
      op.inputs[parameter].data_type != tim_graph_bf16 ||
      op.inputs[0].data_type == tim_graph_bf16) {
    return OkStatus();
  }
  return InvalidArgument(op.def->inputs[parameter].name, " is bf16 and src ",
                         tim_graph_dt2str(op.inputs[0].data_type),
                         ", expected src in bf16, too");
}

Status CheckStatisticsType(const Op& op) {
  for (size_t i = 1; i < op.inputs.size(); ++i) {
    if (op.def->inputs[i].type == "T2") {
      TIM_RETURN_IF_ERROR(CheckBfloat16(op, i));
    }
  }
  return OkStatus();
}

ChannelStatistics::ChannelStatistics(const Op& op, const Dims& src)
    : epsilon_(op.Float(tim_graph_op_attr_epsilon)) {
  const auto rank = static_cast<int64_t>(src.size());
  const int64_t axis = IsChannelsLast(op) ? rank - 1 : 1;
  channels_ = src[static_cast<size_t>(axis)];
  reduced_ = AxesBut(rank, axis);
  placed_ = AlongAxis(rank, axis, channels_);
}

Status ChannelStatistics::Check(const std::string& name,
                                const Dims& dims) const {
  if (dims == Dims{channels_}) return OkStatus();
  return InvalidArgument(name, " has dims {", StrJoin(dims, ", "),
                         "}, expected {", channels_,
                         "}, one for each channel of src");
}

Tensor ChannelStatistics::Place(Formula& f, const Tensor& x) const {
  return f.Reshape(x, placed_);
}

Tensor ChannelStatistics::Rsqrt(Formula& f, const Tensor& variance) const {
  return f.Unary("Rsqrt", f.Linear(Place(f, variance), 1, epsilon_));
}

}  // namespace tim::graph
