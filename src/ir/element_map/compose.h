// Arithmetic of element maps, checked: what does not fit 64 bits is refused.
#ifndef TIM_IR_ELEMENT_MAP_COMPOSE_H_
#define TIM_IR_ELEMENT_MAP_COMPOSE_H_

#include <cstdint>
#include <optional>

#include "ir/element_map/element_map.h"

namespace tim::ir {

/// Extents are positive, every list is as long as that of the extents, and all
/// counts, indices and coordinates fit 64 bits.  All functions below ask for
/// such maps.
bool IsWellFormed(const ElementMap& map);

/// How many elements the result has.
int64_t ElementCount(const ElementMap& map);

/// The element of the input that element `i` of the result is; -1: none, it is
/// the real value 0.
int64_t SourceOf(const ElementMap& map, int64_t i);

/// The same map without loops of one step, with loops that continue one another
/// joined, and without bounds that always hold.  At least one loop remains.
ElementMap Joined(const ElementMap& map);

/// The same map with a loop that begins at element `place` of the result.
/// Nothing where the loop around it is no multiple of what is before it.
std::optional<ElementMap> SplitAt(const ElementMap& map, int64_t place);

/// What is inside of the bounds is inside of an input of `count` elements.
/// False also where that takes more than arithmetic of single bounds.
bool StaysInside(const ElementMap& map, int64_t count);

/// Every element is that of the same index.
bool IsIdentity(const ElementMap& map);

/// The map of `second` after `first`, joined: each index i of the result is
/// element SourceOf(first, SourceOf(second, i)).  Nothing where that is not
/// known to be such a map.  `second` stays inside of what `first` makes.
std::optional<ElementMap> Compose(const ElementMap& first,
                                  const ElementMap& second);

}  // namespace tim::ir

#endif  // TIM_IR_ELEMENT_MAP_COMPOSE_H_
