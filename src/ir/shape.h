// Extents of a tensor, fastest-varying dimension first ([W, H, C, N]).
#ifndef TIM_IR_SHAPE_H_
#define TIM_IR_SHAPE_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace tim::ir {

inline constexpr int64_t kUnknownDim = -1;
inline constexpr int kMaxRank = 8;

/// A shape of unknown rank, or a list of extents each of which is known,
/// bounded from above, or unknown.  Rank 0 (a scalar) is not unknown rank.
class Shape {
 public:
  Shape() = default;  ///< Unknown rank.
  Shape(std::initializer_list<int64_t> dims) : Shape(std::vector(dims)) {}
  explicit Shape(std::vector<int64_t> dims)
      : ranked_(true), dims_(std::move(dims)) {}
  static Shape OfRank(int rank) {
    return Shape(std::vector<int64_t>(rank, kUnknownDim));
  }

  bool ranked() const { return ranked_; }
  int rank() const { return static_cast<int>(dims_.size()); }
  const std::vector<int64_t>& dims() const { return dims_; }
  int64_t operator[](int axis) const { return dims_[axis]; }
  /// The extent of `axis`, 1 beyond the rank (as broadcasting sees it).
  int64_t DimOr1(int axis) const { return axis < rank() ? dims_[axis] : 1; }
  /// Forgets the bound that the extent had.
  void set_dim(int axis, int64_t extent);

  /// Upper bound of an extent: itself where known, kUnknownDim where nothing
  /// is known.
  int64_t Bound(int axis) const;
  void SetBound(int axis, int64_t bound);
  /// SetBound() where `bound` is known and less than what is known.
  void TightenBound(int axis, int64_t bound);

  /// Rank and every extent known.
  bool IsStatic() const;
  /// Product of the extents; nothing where it is unknown or overflows.
  std::optional<int64_t> NumElements() const;
  /// Product of extents [first, last) of a static shape.
  int64_t Product(int first, int last) const;

  /// "[28, 28, 1, ?]", "[?<=64]", "[...]" for unknown rank.
  std::string ToString() const;
  /// Equal ranks, extents, and bounds of the extents that are not known.
  bool operator==(const Shape& other) const;

 private:
  bool ranked_ = false;
  std::vector<int64_t> dims_;
  std::vector<int64_t> bounds_;  // empty, or one per dimension
};

/// Element (not byte) distance between neighbours along each axis of a dense
/// tensor: {1, W, W*H, ...}.
std::vector<int64_t> DenseStrides(const Shape& shape);

}  // namespace tim::ir

#endif  // TIM_IR_SHAPE_H_
