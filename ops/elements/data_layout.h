// Attributes that name the layout of an operand.
#ifndef TIM_OPS_ELEMENTS_DATA_LAYOUT_H_
#define TIM_OPS_ELEMENTS_DATA_LAYOUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ir/op_schema.h"
#include "ir/permuted_node.h"

namespace tim::ops {

/// The numbers of tim::vx::DataLayout.
enum class DataLayout : int64_t {
  kAny,
  kWhcn,
  kCwhn,
  kIcWhOc,
  kOcIcWh,
  kIcOcWh,
  kWhIcOc,
  kWcn,
  kWIcOc,
  kWhdcn,
  kWhdIcOc,
  kCwhdn,
  kOcIcWhd,
};

/// An attribute that names a layout.
ir::AttributeSpec DataLayoutSpec(std::string name, DataLayout usual);

/// doubts of operators without a layout_rule: attributes that name a layout in
/// which the channels do not follow the spatial axes, which nothing applies.
std::vector<std::string> IdleLayouts(const ir::NodeView& view);

/// The axes of `operand`, which has the layout that the attribute `name`
/// states, in the order of the default layout, which the attribute then names.
/// CWHN (of rank 3: CWH) and CWHDN count; any other value means the default and
/// stays. Fails where the layout has another rank.
Result<ir::Permutation> TakeDataLayout(const ir::TensorDesc& operand,
                                       const std::string& name,
                                       ir::AttributeMap* attributes);
/// The same of a convolution's weights: IcWHOc, OcIcWH, IcOcWH and OcIcWHD.
Result<ir::Permutation> TakeKernelLayout(const ir::TensorDesc& operand,
                                         const std::string& name,
                                         ir::AttributeMap* attributes);

/// layout_rule of operators of which input 0 alone has a layout, named by the
/// attribute `name`, which output 0 follows.
ir::LayoutRule DataLayoutRule(std::string name);

/// Attributes of two values, for W and H, and of four, for both ends of each:
/// the axes change places.  Others stay, and so do names that are not there.
void SwapWidthAndHeight(const std::vector<std::string>& names,
                        ir::AttributeMap* attributes);

}  // namespace tim::ops

#endif  // TIM_OPS_ELEMENTS_DATA_LAYOUT_H_
