// Statistics of all elements of a tensor.
#ifndef TIM_IR_DUMP_STATISTICS_H_
#define TIM_IR_DUMP_STATISTICS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "ir/dump/npy.h"
#include "ir/tensor_desc.h"

namespace tim::ir {

/// Statistics of elements as they are stored: of quantized tensors the codes.
struct TensorStatistics {
  int64_t elements = 0;
  int64_t nans = 0;
  int64_t infinities = 0;
  /// Count, of a quantized tensor: elements at the least or the greatest code
  /// of the type, where larger values may have been cut off.
  int64_t saturated = 0;
  /// Range and mean of the elements that are numbers, in double; nothing where
  /// none is.
  std::optional<double> min = std::nullopt;
  std::optional<double> max = std::nullopt;
  std::optional<double> mean = std::nullopt;
};

/// \param array of a tensor of `desc`.
TensorStatistics StatisticsOf(const TensorDesc& desc, const NumpyArray& array);

/// "nan", "infinity" and "saturated", where there is any, with "+" between.
std::string FlagsOf(const TensorStatistics& statistics);

}  // namespace tim::ir

#endif  // TIM_IR_DUMP_STATISTICS_H_
