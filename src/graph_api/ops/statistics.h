// Means, variances and parameters of channels, of operations that train.
#ifndef TIM_GRAPH_API_OPS_STATISTICS_H_
#define TIM_GRAPH_API_OPS_STATISTICS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph_api/formula.h"
#include "graph_api/op.h"
#include "graph_api/op_def.h"

namespace tim::graph {

/// T1 of data, T2 of statistics and parameters.
std::vector<TypeVariable> StatisticsTypes();
/// The rule that input `parameter`, if bound, is bf16 beside a bf16 src only.
Status CheckBfloat16(const Op& op, size_t parameter);
/// The same rule for all operands of type T2.
Status CheckStatisticsType(const Op& op);

/// The channels of src, whose rank is 2 or more, by the op's data_format.
class ChannelStatistics {
 public:
  ChannelStatistics(const Op& op, const Dims& src);

  int64_t channels() const { return channels_; }
  /// All axes but that of the channels.
  const std::vector<int64_t>& reduced() const { return reduced_; }
  /// kInvalidArgument unless these are the dims of one value per channel.
  Status Check(const std::string& name, const Dims& dims) const;
  /// A value per channel as it stands to src in broadcasts.
  Tensor Place(Formula& f, const Tensor& x) const;
  /// 1 / sqrt(variance + epsilon), placed.
  Tensor Rsqrt(Formula& f, const Tensor& variance) const;

 private:
  int64_t channels_ = 0;
  std::vector<int64_t> reduced_;
  Dims placed_;
  float epsilon_ = 0;
};

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_OPS_STATISTICS_H_
