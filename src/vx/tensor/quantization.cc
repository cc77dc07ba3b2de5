#include "tim/vx/tensor.h"

namespace tim::vx {

bool Quantization::operator==(const Quantization& other) const {
  if (type_ != other.type_) return false;
  if (type_ == QuantType::DYNAMIC_FIXED_POINT) return fl_ == other.fl_;
  return scales_ == other.scales_ && zero_points_ == other.zero_points_ &&
         channel_dim_ == other.channel_dim_;
}

}  // namespace tim::vx
