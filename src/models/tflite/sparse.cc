// Makes sparse tensors dense: levels of axes, each whole or as lists of
// indices (compressed sparse rows).
#include "models/tflite/sparse.h"

#include <cstring>
#include <vector>

#include "models/tflite/reader.h"

namespace tim::models::tflite {
namespace {

constexpr size_t kMostLevels = 16;
constexpr int64_t kMostGrowth = 64;
constexpr int64_t kSmall = 1 << 16;

std::vector<int64_t> Numbers(fbs::IndexList kind, const void* list) {
  std::vector<int64_t> out;
  if (list == nullptr) return out;
  const auto take = [&out](const auto* values) {
    for (const auto value : Items(values)) out.push_back(value);
  };
  switch (kind) {
    case fbs::IndexList::Ints32:
      take(static_cast<const fbs::Ints32*>(list)->values());
      break;
    case fbs::IndexList::Ints16:
      take(static_cast<const fbs::Ints16*>(list)->values());
      break;
    case fbs::IndexList::Ints8:
      take(static_cast<const fbs::Ints8*>(list)->values());
      break;
    default:
      break;
  }
  return out;
}

struct Level {
  int axis = 0;  ///< Number among the tensor's axes, then those of blocks.
  bool is_dense = true;
  int64_t extent = 0;
  std::vector<int64_t> segments;
  std::vector<int64_t> indices;
};

class Expander {
 public:
  Status Init(const fbs::Sparsity& sparsity, const Dims& dims) {
    const auto order = Items(sparsity.order());
    const auto blocks = Items(sparsity.block_map());
    const size_t count =
        sparsity.dimensions() == nullptr ? 0 : sparsity.dimensions()->size();
    rank_ = dims.size();
    if (order.size() != count || count != rank_ + blocks.size() ||
        count > kMostLevels || count == 0) {
      return InvalidArgument("sparsity of ", order.size(), " axes in order, ",
                             count, " described and ", blocks.size(),
                             " of blocks, of rank ", rank_);
    }
    // A block's extent by the axis of the tensor that it divides.
    inner_.assign(rank_, 1);
    block_axis_.assign(blocks.begin(), blocks.end());
    std::vector<bool> has_block(rank_);
    extents_.assign(dims.begin(), dims.end());
    extents_.resize(count);
    for (size_t i = 0; i < blocks.size(); ++i) {
      const int32_t axis = blocks[i];
      if (axis < 0 || static_cast<size_t>(axis) >= rank_ || has_block[axis]) {
        return InvalidArgument("sparsity: block of axis ", axis);
      }
      has_block[axis] = true;
      const int64_t extent =
          sparsity.dimensions()
              ->Get(static_cast<flatbuffers::uoffset_t>(rank_ + i))
              ->extent();
      if (extent < 1 || dims[axis] % extent != 0) {
        return InvalidArgument("sparsity: blocks of ", extent, " in axis ",
                               axis, " of extent ", dims[axis]);
      }
      inner_[axis] = extent;
      extents_[axis] = dims[axis] / extent;
      extents_[rank_ + i] = extent;
    }
    std::vector<bool> seen(count);
    for (const int32_t axis : order) {
      if (axis < 0 || static_cast<size_t>(axis) >= count || seen[axis]) {
        return InvalidArgument("sparsity: axis ", axis, " in its order");
      }
      seen[axis] = true;
      TIM_RETURN_IF_ERROR(
          AddLevel(axis, *sparsity.dimensions()->Get(
                             static_cast<flatbuffers::uoffset_t>(axis))));
    }
    strides_.assign(rank_, 1);
    for (size_t i = rank_; i-- > 1;) strides_[i - 1] = strides_[i] * dims[i];
    return OkStatus();
  }

  Status Expand(std::span<const std::byte> stored, size_t element,
                std::byte* out) {
    stored_ = stored;
    element_ = element;
    out_ = out;
    TIM_RETURN_IF_ERROR(Visit(0, 0, 0));
    if (next_ * element_ == stored.size()) return OkStatus();
    return InvalidArgument("sparsity names ", next_, " elements, the buffer ",
                           "has ", stored.size() / element);
  }

 private:
  Status AddLevel(int axis, const fbs::SparseDimension& described) {
    Level level;
    level.axis = axis;
    level.extent = extents_[axis];
    level.is_dense = described.kind() == fbs::DimensionKind::DENSE;
    if (level.is_dense) {
      if (described.extent() != level.extent) {
        return InvalidArgument("sparsity: axis ", axis, " has extent ",
                               described.extent(), ", not ", level.extent);
      }
    } else {
      level.segments = Numbers(described.segments_type(), described.segments());
      level.indices = Numbers(described.indices_type(), described.indices());
      for (const int64_t index : level.indices) {
        if (index < 0 || index >= level.extent) {
          return InvalidArgument("sparsity: index ", index, " in axis ", axis,
                                 " of extent ", level.extent);
        }
      }
    }
    levels_.push_back(std::move(level));
    return OkStatus();
  }

  // Distance that one index of an expanded axis moves an element.
  int64_t Step(int axis) const {
    if (static_cast<size_t>(axis) < rank_) {
      return strides_[axis] * inner_[axis];
    }
    return strides_[block_axis_[axis - rank_]];
  }

  // `parent` counts the entries of the level before.
  Status Visit(size_t depth, int64_t parent, int64_t place) {
    if (depth == levels_.size()) {
      if ((next_ + 1) * element_ > stored_.size()) {
        return InvalidArgument("sparsity names more than the ",
                               stored_.size() / element_,
                               " elements of its buffer");
      }
      std::memcpy(out_ + place * static_cast<int64_t>(element_),
                  stored_.data() + next_ * element_, element_);
      ++next_;
      return OkStatus();
    }
    const Level& level = levels_[depth];
    const int64_t step = Step(level.axis);
    if (level.is_dense) {
      for (int64_t i = 0; i < level.extent; ++i) {
        TIM_RETURN_IF_ERROR(
            Visit(depth + 1, parent * level.extent + i, place + i * step));
      }
      return OkStatus();
    }
    const auto& segments = level.segments;
    if (parent + 1 >= static_cast<int64_t>(segments.size()) ||
        segments[parent] < 0 || segments[parent] > segments[parent + 1] ||
        segments[parent + 1] > static_cast<int64_t>(level.indices.size())) {
      return InvalidArgument("sparsity: segment ", parent, " of axis ",
                             level.axis, " is none");
    }
    for (int64_t i = segments[parent]; i < segments[parent + 1]; ++i) {
      TIM_RETURN_IF_ERROR(Visit(depth + 1, i, place + level.indices[i] * step));
    }
    return OkStatus();
  }

  size_t rank_ = 0;
  Dims extents_;  ///< Extents by expanded axis.
  Dims inner_;    ///< Extents of blocks, by axis of the tensor.
  std::vector<int> block_axis_;
  std::vector<int64_t> strides_;
  std::vector<Level> levels_;
  std::span<const std::byte> stored_;
  size_t element_ = 1;
  size_t next_ = 0;
  std::byte* out_ = nullptr;
};

}  // namespace

Result<HostArray> Densified(const fbs::Sparsity& sparsity,
                            std::span<const std::byte> stored,
                            vx::DataType type, const Dims& dims) {
  const int64_t bytes = ByteSizeOf(type, dims);
  const auto most = static_cast<int64_t>(stored.size()) * kMostGrowth + kSmall;
  if (bytes < 0 || bytes > most) {
    return InvalidArgument("sparsity of ", stored.size(), " bytes in extents [",
                           StrJoin(dims, ","), "]");
  }
  Expander expander;
  TIM_RETURN_IF_ERROR(expander.Init(sparsity, dims));
  if (bytes == 0) return InvalidArgument("it is sparse and has no elements");
  HostArray array;
  array.type = type;
  array.dims = dims;
  array.bytes = static_cast<size_t>(bytes);
  auto memory = std::make_shared<std::vector<int64_t>>(array.bytes / 8 + 1);
  const auto element = static_cast<size_t>(ByteSizeOf(type, {}));
  TIM_RETURN_IF_ERROR(expander.Expand(
      stored, element, reinterpret_cast<std::byte*>(memory->data())));
  array.data = std::shared_ptr<const void>(memory, memory->data());
  return array;
}

}  // namespace tim::models::tflite
