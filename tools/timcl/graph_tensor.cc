// Makes tensors of graph files, and walks over their elements.
#include "tools/timcl/graph_tensor.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/checked_math.h"
#include "graph_api/logical_tensor.h"
#include "graph_api/lower_ops.h"
#include "kernels/elements.h"

namespace tim::tool {
namespace {

using graph::Dims;
using graph::LogicalTensor;

constexpr int64_t kMostElements = int64_t{1} << 30;
constexpr int64_t kAlignment = 64;

/// Numbers of SplitMix64.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// A number from 0 up to but not 1.
  double Fraction() { return static_cast<double>(Next() >> 11) * 0x1p-53; }
  int64_t Whole(int64_t least, int64_t greatest) {
    const auto count = static_cast<uint64_t>(greatest - least) + 1;
    return least + static_cast<int64_t>(Next() % count);
  }

 private:
  uint64_t state_;
};

}  // namespace

Result<ir::TensorDesc> RowOf(const LogicalTensor& description) {
  ir::TensorDesc row;
  row.type = graph::InnerType(description.data_type);
  if (row.type == ir::DataType::kUnknown) {
    return Unimplemented("tensor ", description.id, " is of type ",
                         tim_graph_dt2str(description.data_type),
                         ", which the library does not compute with");
  }
  if (!graph::HasKnownDims(description)) {
    return InvalidArgument("tensor ", description.id, ", ",
                           graph::ToString(description),
                           ", has dims that nobody tells; give them with "
                           "--shape ",
                           description.id, "=DIMxDIM...");
  }
  if (graph::IsEmpty(graph::DimsOf(description))) {
    row.shape = ir::Shape({1});
    return row;
  }
  std::optional<int64_t> last = 0;
  for (int axis = 0; axis < description.ndims && last; ++axis) {
    const int64_t stride = description.layout.strides[axis];
    if (stride < 0) {
      return Unimplemented("tensor ", description.id, " has stride ", stride,
                           " on axis ", axis, ", expected none below 0");
    }
    const auto reach = CheckedMul(description.dims[axis] - 1, stride);
    last = reach ? CheckedAdd(*last, *reach) : std::nullopt;
  }
  if (last && *last < kMostElements) {
    row.shape = ir::Shape({*last + 1});
    return row;
  }
  return InvalidArgument("tensor ", description.id, ", ",
                         graph::ToString(description), ", reaches over ",
                         kMostElements,
                         " elements or more; graph-run takes less");
}

Result<GraphTensor> AllocateTensor(const LogicalTensor& description) {
  TIM_ASSIGN_OR_RETURN(const ir::TensorDesc row, RowOf(description));
  GraphTensor tensor{.description = description};
  TIM_ASSIGN_OR_RETURN(tensor.bytes, ir::ByteSize(row));
  AlignedMemory memory = AllocateAligned(tensor.bytes, kAlignment);
  if (memory == nullptr) {
    return OutOfMemory("there is no memory for tensor ", description.id, " of ",
                       tensor.bytes, " bytes");
  }
  std::memset(memory.get(), 0, static_cast<size_t>(tensor.bytes));
  tensor.memory = std::move(memory);
  return tensor;
}

void ForEachElement(const LogicalTensor& description,
                    const std::function<void(int64_t place)>& function) {
  const Dims dims = graph::DimsOf(description);
  if (graph::IsEmpty(dims)) return;
  Dims at(dims.size(), 0);
  int64_t place = 0;
  while (true) {
    function(place);
    size_t axis = dims.size();
    while (axis-- > 0) {
      const int64_t stride = description.layout.strides[axis];
      place += stride;
      if (++at[axis] < dims[axis]) break;
      place -= stride * dims[axis];
      at[axis] = 0;
    }
    if (axis == static_cast<size_t>(-1)) return;
  }
}

Status Fill(const ValueRange& range, uint64_t seed, GraphTensor* tensor) {
  TIM_ASSIGN_OR_RETURN(const ir::TensorDesc row, RowOf(tensor->description));
  kernels::ElementWriter writer({&row, tensor->memory.get()});
  Random random(seed * 0x2545F4914F6CDD1Du + tensor->description.id);
  const bool integers = ir::IsInteger(row.type);
  const auto least = static_cast<int64_t>(range.least);
  const auto greatest = static_cast<int64_t>(range.greatest);
  ForEachElement(tensor->description, [&](int64_t place) {
    if (integers) {
      writer.StoreCode(place, random.Whole(least, greatest));
    } else if (range.whole) {
      writer.StoreReal(place,
                       static_cast<float>(random.Whole(least, greatest)));
    } else {
      writer.StoreReal(place, static_cast<float>(
                                  range.least + (range.greatest - range.least) *
                                                    random.Fraction()));
    }
  });
  return OkStatus();
}

}  // namespace tim::tool
