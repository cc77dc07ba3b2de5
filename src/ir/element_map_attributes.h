// Element maps as the attributes of the operator tim.ElementMap.
#ifndef TIM_IR_ELEMENT_MAP_ATTRIBUTES_H_
#define TIM_IR_ELEMENT_MAP_ATTRIBUTES_H_

#include "base/status.h"
#include "ir/attribute.h"
#include "ir/element_map/element_map.h"
#include "ir/shape.h"

namespace tim::ir {

inline constexpr char kElementMapOp[] = "tim.ElementMap";

/// Of a node whose output has the shape.
AttributeMap AttributesOf(const ElementMap& map, const Shape& shape);

/// The attribute 'shape', or why it is none.
Result<Shape> MappedShape(const AttributeMap& attributes);

/// The map, well-formed and of as many elements as the shape has, or why there
/// is none.
Result<ElementMap> ElementMapOf(const AttributeMap& attributes);

}  // namespace tim::ir

#endif  // TIM_IR_ELEMENT_MAP_ATTRIBUTES_H_
