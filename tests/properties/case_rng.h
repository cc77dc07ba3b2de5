// The random source of case descriptions: one seed and one size make one node.
#ifndef TIM_TESTS_PROPERTIES_CASE_RNG_H_
#define TIM_TESTS_PROPERTIES_CASE_RNG_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "ir/tensor_desc.h"
#include "tests/support/data/test_tensor.h"

namespace tim::testing {

/// Types of a node's operands by the short names of DescOf: "u8a,f32>u8a".
struct TypeNames {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};
TypeNames ParseTypes(const std::string& text);

/// Which types of an operator's list are drawn.  Programs cost most, so that a
/// property that runs kernels takes the first entry and `limit - 1` others,
/// which `offset` (by operator) moves along the list.
struct TypeChoice {
  int limit = 1 << 20;
  uint32_t offset = 0;
};

/// Draws shapes, types and choices.  The smaller `size` (0 to kFullSize), the
/// smaller the shapes and the plainer the choices; of equal arguments equal
/// draws.
class CaseRng {
 public:
  static constexpr int kFullSize = 8;

  explicit CaseRng(uint32_t seed, int size = kFullSize, TypeChoice types = {});

  int size() const { return size_; }
  std::mt19937& engine() { return engine_; }

  /// In [low, high]; near `low` where the size is small.
  int64_t Int(int64_t low, int64_t high);
  /// True once in `n`; never at size 0.
  bool OneIn(int n);
  /// One of the list, whose plainest is first.
  template <typename T>
  T Pick(const std::vector<T>& from) {
    const auto last = static_cast<int64_t>(from.size()) - 1;
    return from[static_cast<size_t>(Int(0, last))];
  }

  /// 1, odd and even ones, and those around vectors of 16 and 32.
  int64_t Extent(int64_t limit = 33);
  /// Extents of a rank in [low, high], at most `limit` elements.
  std::vector<int64_t> Shape(int low, int high, int64_t limit = 20000);
  /// The shape with some extents 1 and some slow ones gone: it broadcasts.
  std::vector<int64_t> BroadcastFrom(std::vector<int64_t> shape);
  /// Axis of a tensor of `rank`, perhaps counted from its end.
  int64_t Axis(int rank);
  std::vector<int> Permutation(int rank);

  /// The entry of a list of `count` that is this seed's turn: consecutive seeds
  /// go through the list.
  size_t Turn(size_t count) const;
  /// That entry of a list of types.
  TypeNames Types(const std::vector<std::string>& list) const;
  /// See DescOf.
  ir::TensorDesc Desc(const std::string& type, std::vector<int64_t> shape,
                      int axis = 0);
  TensorData Data(const ir::TensorDesc& desc) {
    return RandomTensor(desc, engine_);
  }

 private:
  uint32_t seed_;
  int size_;
  TypeChoice types_;
  std::mt19937 engine_;
};

}  // namespace tim::testing

#endif  // TIM_TESTS_PROPERTIES_CASE_RNG_H_
