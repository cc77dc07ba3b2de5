// How the axes of a tensor move.
#ifndef TIM_IR_PERMUTATION_H_
#define TIM_IR_PERMUTATION_H_

#include <cstdint>
#include <span>
#include <vector>

#include "ir/tensor_desc.h"

namespace tim::ir {

/// New axis i is old axis p[i].  Axes beyond its end stay; empty: all do.
using Permutation = std::vector<int>;

Permutation IdentityPermutation(int rank);
/// Each of 0 to size - 1 is there once.
bool IsPermutation(std::span<const int> p);
bool IsPermutation(std::span<const int64_t> p);
/// No axis moves.
bool IsIdentity(std::span<const int> p);
Permutation Inverse(std::span<const int> p);
/// First `first`, then `second`.
Permutation Compose(std::span<const int> first, std::span<const int> second);
/// Where old axis `axis` stands.
int NewAxis(std::span<const int> p, int axis);

/// What an operand of `rank` that is broadcast needs where an output's axes
/// move by `p`: longer than `rank` where extents of 1 get between its own.
Permutation BroadcastPermutation(std::span<const int> p, int rank);

/// `values`, one per axis, in the new order; as many as `p` has.
template <typename T>
std::vector<T> Permuted(const std::vector<T>& values, std::span<const int> p) {
  std::vector<T> out;
  for (const int axis : p) out.push_back(values[axis]);
  return out;
}

/// A dense tensor whose axes have moved, its channels of quantization with
/// them.  A longer permutation sees extents of 1 behind the shape's own; an
/// unknown rank becomes the permutation's.
TensorDesc Permuted(const TensorDesc& desc, std::span<const int> p);

}  // namespace tim::ir

#endif  // TIM_IR_PERMUTATION_H_
