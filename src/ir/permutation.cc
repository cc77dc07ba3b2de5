#include "ir/permutation.h"

#include <algorithm>
#include <numeric>

namespace tim::ir {
namespace {

template <typename T>
bool IsEachOnce(std::span<const T> p) {
  const auto count = static_cast<T>(p.size());
  for (T axis = 0; axis < count; ++axis) {
    if (std::count(p.begin(), p.end(), axis) != 1) return false;
  }
  return true;
}

int At(std::span<const int> p, int i) {
  return i < static_cast<int>(p.size()) ? p[i] : i;
}

}  // namespace

Permutation IdentityPermutation(int rank) {
  Permutation out(rank);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

bool IsPermutation(std::span<const int> p) { return IsEachOnce(p); }
bool IsPermutation(std::span<const int64_t> p) { return IsEachOnce(p); }

bool IsIdentity(std::span<const int> p) {
  for (size_t i = 0; i < p.size(); ++i) {
    if (p[i] != static_cast<int>(i)) return false;
  }
  return true;
}

Permutation Inverse(std::span<const int> p) {
  Permutation out(p.size());
  for (size_t i = 0; i < p.size(); ++i) out[p[i]] = static_cast<int>(i);
  return out;
}

Permutation Compose(std::span<const int> first, std::span<const int> second) {
  Permutation out(std::max(first.size(), second.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = At(first, At(second, static_cast<int>(i)));
  }
  return out;
}

int NewAxis(std::span<const int> p, int axis) {
  const auto at = std::find(p.begin(), p.end(), axis);
  return at == p.end() ? axis : static_cast<int>(at - p.begin());
}

Permutation BroadcastPermutation(std::span<const int> p, int rank) {
  Permutation out(p.begin(), p.end());
  int next = rank;  // extents of 1 are alike
  for (int& axis : out) {
    if (axis >= rank) axis = next++;
  }
  while (static_cast<int>(out.size()) > rank &&
         out.back() == static_cast<int>(out.size()) - 1) {
    out.pop_back();
  }
  return out;
}

TensorDesc Permuted(const TensorDesc& desc, std::span<const int> p) {
  TensorDesc out = desc;
  const Shape& old = desc.shape;
  const int rank = std::max(static_cast<int>(p.size()), old.rank());
  out.shape = Shape::OfRank(rank);
  for (int i = 0; i < rank && old.ranked(); ++i) {
    const int axis = At(p, i);
    out.shape.set_dim(i, old.DimOr1(axis));
    if (axis < old.rank() && old[axis] == kUnknownDim &&
        old.Bound(axis) != kUnknownDim) {
      out.shape.SetBound(i, old.Bound(axis));
    }
  }
  if (desc.quantization.per_channel()) {
    out.quantization.axis = NewAxis(p, desc.quantization.axis);
  }
  return out;
}

}  // namespace tim::ir
