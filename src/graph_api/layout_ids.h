// Numbers of layouts that only the library's devices know.
#ifndef TIM_GRAPH_API_LAYOUT_IDS_H_
#define TIM_GRAPH_API_LAYOUT_IDS_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/status.h"
#include "graph_api/engine.h"
#include "graph_api/op.h"
#include "ir/tensor_desc.h"

namespace tim::graph {

/// Layout that an id stands for.
struct LayoutEntry {
  ir::TensorDesc desc;  ///< Type, shape and layout; the first axis is fastest.
  int64_t bytes = 0;
  DeviceFamily family = DeviceFamily::kHost;
};

/// The id of a tensor of this type, shape and layout; equal ones share it.
/// Ids last as long as the process.  Any thread.  Fails where the layout does
/// not fit the shape.
Result<size_t> LayoutIdOf(const ir::TensorDesc& desc, DeviceFamily family);

/// Nothing where the id was never given.
std::optional<LayoutEntry> FindLayout(size_t id);

/// Strides in the order of this API, where the layout has such.
std::optional<Dims> StridesOf(const LayoutEntry& entry);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_LAYOUT_IDS_H_
