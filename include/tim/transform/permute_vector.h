// The order in which the axes of a tensor stand.
#ifndef TIM_TRANSFORM_PERMUTE_VECTOR_H_
#define TIM_TRANSFORM_PERMUTE_VECTOR_H_

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace tim {
namespace transform {

class IPermuteVector;
using IPermuteVectorPtr = std::shared_ptr<IPermuteVector>;

/// A permutation p of the axes 0 to Rank() - 1: axis i of a tensor is axis p[i]
/// of what it was made of, both counted fastest-varying first.
class IPermuteVector {
 public:
  virtual ~IPermuteVector() = default;

  virtual uint32_t Rank() const = 0;

  /// Entry `index`; throws std::out_of_range from Rank() on.
  virtual const uint32_t& At(uint32_t index) const = 0;
  virtual uint32_t& At(uint32_t index) = 0;

  /// r[p[i]] = i: the way back.  Throws where this is no permutation.
  virtual IPermuteVectorPtr Reverse() = 0;

  /// "1, 2, 0, 3".
  virtual std::string AsText() const = 0;

  /// r[i] = p[other[i]]: first this, then `other`.  Throws where that is null,
  /// of another rank or no permutation.
  virtual IPermuteVectorPtr Add(const IPermuteVectorPtr& other) const = 0;

  /// Makes it one that moves nothing.
  virtual void ReInitialize() = 0;

  /// Nothing moves.
  virtual bool IsAligned() const = 0;

  virtual std::vector<uint32_t> AsStdVec() const = 0;
};

template <uint32_t R>
class PermuteVector : public IPermuteVector {
 public:
  static constexpr uint32_t kMaxRank = 10;
  static_assert(R >= 1 && R <= kMaxRank, "the rank must be 1 to 10");

  /// Moves nothing.
  PermuteVector() { Identity(); }

  /// Throws where the list has not R entries.  Whether it is a permutation is
  /// checked where it is used.
  PermuteVector(std::initializer_list<uint32_t> axes) {
    if (axes.size() != R) {
      throw std::invalid_argument("a PermuteVector of rank " +
                                  std::to_string(R) + " from " +
                                  std::to_string(axes.size()) + " axes");
    }
    uint32_t i = 0;
    for (const uint32_t axis : axes) axes_[i++] = axis;
  }

  /// Further axes stay.
  template <uint32_t S>
  explicit PermuteVector(const PermuteVector<S>& smaller) {
    static_assert(S < R, "a PermuteVector is not cut");
    Identity();
    for (uint32_t i = 0; i < S; ++i) axes_[i] = smaller.At(i);
  }

  uint32_t Rank() const override { return R; }
  const uint32_t& At(uint32_t index) const override { return axes_.at(index); }
  uint32_t& At(uint32_t index) override { return axes_.at(index); }

  IPermuteVectorPtr Reverse() override {
    std::array<bool, R> seen{};
    auto reversed = std::make_shared<PermuteVector<R>>();
    for (uint32_t i = 0; i < R; ++i) {
      if (seen.at(axes_[i])) {
        throw std::invalid_argument("Reverse() of " + AsText() +
                                    ", which is no permutation");
      }
      seen[axes_[i]] = true;
      reversed->axes_[axes_[i]] = i;
    }
    return reversed;
  }

  std::string AsText() const override {
    std::string text;
    for (const uint32_t axis : axes_) {
      text += (text.empty() ? "" : ", ") + std::to_string(axis);
    }
    return text;
  }

  IPermuteVectorPtr Add(const IPermuteVectorPtr& other) const override {
    if (other == nullptr || other->Rank() != R) {
      throw std::invalid_argument(
          "Add() to a PermuteVector of rank " + std::to_string(R) + " of " +
          (other == nullptr ? std::string("none")
                            : "one of rank " + std::to_string(other->Rank())));
    }
    auto sum = std::make_shared<PermuteVector<R>>();
    for (uint32_t i = 0; i < R; ++i) sum->axes_[i] = axes_.at(other->At(i));
    return sum;
  }

  void ReInitialize() override { Identity(); }

  bool IsAligned() const override {
    for (uint32_t i = 0; i < R; ++i) {
      if (axes_[i] != i) return false;
    }
    return true;
  }

  std::vector<uint32_t> AsStdVec() const override {
    return std::vector<uint32_t>(axes_.begin(), axes_.end());
  }

 private:
  void Identity() {
    for (uint32_t i = 0; i < R; ++i) axes_[i] = i;
  }

  std::array<uint32_t, R> axes_;
};

/// One that moves nothing, of rank 1 to 10 (0: of rank 1); null for others.
inline IPermuteVectorPtr MakeShared(uint32_t rank) {
  switch (rank) {
    case 0:
    case 1:
      return std::make_shared<PermuteVector<1>>();
    case 2:
      return std::make_shared<PermuteVector<2>>();
    case 3:
      return std::make_shared<PermuteVector<3>>();
    case 4:
      return std::make_shared<PermuteVector<4>>();
    case 5:
      return std::make_shared<PermuteVector<5>>();
    case 6:
      return std::make_shared<PermuteVector<6>>();
    case 7:
      return std::make_shared<PermuteVector<7>>();
    case 8:
      return std::make_shared<PermuteVector<8>>();
    case 9:
      return std::make_shared<PermuteVector<9>>();
    case 10:
      return std::make_shared<PermuteVector<10>>();
    default:
      return nullptr;
  }
}

}  // namespace transform
}  // namespace tim

#endif  // TIM_TRANSFORM_PERMUTE_VECTOR_H_
