#include "ir/element_map_attributes.h"

#include <algorithm>

#include "ir/element_map/compose.h"

namespace tim::ir {
namespace {

constexpr char kShape[] = "shape";
constexpr char kStart[] = "start";
constexpr char kExtents[] = "extents";
constexpr char kStrides[] = "strides";
constexpr char kBounds[] = "bounds";  // {start, limit, strides} of each

}  // namespace

AttributeMap AttributesOf(const ElementMap& map, const Shape& shape) {
  std::vector<int64_t> bounds;
  for (const ElementMap::Bound& bound : map.bounds) {
    bounds.push_back(bound.start);
    bounds.push_back(bound.limit);
    bounds.insert(bounds.end(), bound.strides.begin(), bound.strides.end());
  }
  return {{kShape, shape.dims()},
          {kStart, map.start},
          {kExtents, map.extents},
          {kStrides, map.strides},
          {kBounds, std::move(bounds)}};
}

Result<Shape> MappedShape(const AttributeMap& attributes) {
  const auto& dims = attributes.Ints(kShape);
  if (dims.empty() || dims.size() > kMaxRank) {
    return InvalidArgument("attribute 'shape' has ", dims.size(),
                           " extents, expected 1 to ", kMaxRank);
  }
  for (const int64_t extent : dims) {
    if (extent >= 1) continue;
    return InvalidArgument("attribute 'shape' has an extent of ", extent,
                           ", expected 1 or more");
  }
  return Shape(dims);
}

Result<ElementMap> ElementMapOf(const AttributeMap& attributes) {
  TIM_ASSIGN_OR_RETURN(const Shape shape, MappedShape(attributes));
  ElementMap map{.start = attributes.Int(kStart),
                 .extents = attributes.Ints(kExtents),
                 .strides = attributes.Ints(kStrides),
                 .bounds = {}};
  const auto& bounds = attributes.Ints(kBounds);
  const size_t row = 2 + map.extents.size();
  if (bounds.size() % row != 0) {
    return InvalidArgument("attribute 'bounds' has ", bounds.size(),
                           " values, expected rows of ", row);
  }
  for (size_t i = 0; i < bounds.size(); i += row) {
    const auto at = bounds.begin() + static_cast<std::ptrdiff_t>(i);
    map.bounds.push_back(
        {at[0], at[1], {at + 2, at + static_cast<std::ptrdiff_t>(row)}});
  }
  if (!IsWellFormed(map)) {
    return InvalidArgument(
        "attributes 'extents', 'strides' and 'bounds' are no map: expected a "
        "stride for each extent, extents of 1 or more and indices that fit 64 "
        "bits");
  }
  if (shape.NumElements() != ElementCount(map)) {
    return InvalidArgument("attribute 'extents' [", StrJoin(map.extents, ", "),
                           "] has other elements than 'shape' ",
                           shape.ToString());
  }
  return map;
}

}  // namespace tim::ir
