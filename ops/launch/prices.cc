// Estimates made of the rows of the price table.
#include "ops/launch/prices.h"

namespace tim::ops {

double EstimateMicroseconds(const ir::ComputeEstimate& estimate,
                            const ir::DeviceInfo& device, const Price& price) {
  const Share& share = price.On(device);
  return ir::EstimateMicroseconds(estimate, device, share.compute,
                                  share.memory);
}

}  // namespace tim::ops
