// Tries smaller cases one after the other, as long as one of them fails.
#include "vx/check/shrink.h"

#include <utility>

namespace tim::vx::check {
namespace {

class Shrinker {
 public:
  Shrinker(const Trials& trials, const Target& target, Failure failure)
      : trials_(trials), target_(target), best_(std::move(failure)) {}

  Failure Run() {
    // Values first: nothing is built anew for them.
    UseSimpleValues();
    bool smaller = true;
    while (smaller && StepsLeft()) {
      smaller = false;
      for (size_t i = 0; i < tried().operands.inputs.size(); ++i) {
        smaller |= DropDimensions(i);
        smaller |= ReduceExtents(i);
      }
    }
    if (!tried().simple) UseSimpleValues();
    ReduceGroup();
    return std::move(best_);
  }

 private:
  const Case& tried() const { return best_.prepared.tried; }
  const InputRange& range(size_t i) const {
    return trials_.checked().inputs[i];
  }
  bool StepsLeft() const {
    return best_.steps < trials_.options().shrink_steps;
  }

  // Takes `smaller` where it fails in the same way.
  bool Take(Case smaller) {
    if (!StepsLeft()) return false;
    std::vector<TensorSpec>& inputs = smaller.operands.inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (range(i).like < 0 || !smaller.HasInput(i)) continue;
      inputs[i] = inputs[static_cast<size_t>(range(i).like)];
    }
    const auto fits = Fit(trials_.checked(), &smaller.operands);
    if (!fits.ok() || !*fits) return false;
    if (smaller.simple == tried().simple && smaller.group == tried().group &&
        smaller.operands.inputs == tried().operands.inputs) {
      return false;
    }
    ++best_.steps;
    Prepared prepared = trials_.Prepare(smaller);
    Outcome outcome = prepared.problem.fault ? prepared.problem
                                             : trials_.Try(prepared, target_);
    if (!IsSameFault(outcome, best_.outcome)) return false;
    best_.prepared = std::move(prepared);
    best_.outcome = std::move(outcome);
    return true;
  }

  void UseSimpleValues() {
    Case smaller = tried();
    smaller.simple = true;
    Take(std::move(smaller));
  }

  bool DropDimensions(size_t i) {
    bool dropped = false;
    while (range(i).like < 0 && tried().HasInput(i) &&
           tried().operands.inputs[i].shape_.size() > range(i).least_rank) {
      Case smaller = tried();
      smaller.operands.inputs[i].shape_.pop_back();
      if (!Take(std::move(smaller))) break;
      dropped = true;
    }
    return dropped;
  }

  bool ReduceExtents(size_t i) {
    if (range(i).like >= 0 || !tried().HasInput(i)) return false;
    bool reduced = false;
    for (size_t d = tried().operands.inputs[i].shape_.size(); d-- > 0;) {
      reduced |= ReduceExtent(i, d);
    }
    return reduced;
  }

  // The least, then the middle, then one less.
  bool ReduceExtent(size_t i, size_t dimension) {
    const uint32_t least = ExtentsOf(range(i), dimension).least;
    bool reduced = false;
    while (dimension < tried().operands.inputs[i].shape_.size()) {
      const uint32_t now = tried().operands.inputs[i].shape_[dimension];
      if (now <= least) break;
      const uint32_t middle = least + (now - least) / 2;
      if (!TakeExtent(i, dimension, least) &&
          !(middle > least && TakeExtent(i, dimension, middle)) &&
          !(now - 1 > middle && TakeExtent(i, dimension, now - 1))) {
        break;
      }
      reduced = true;
    }
    return reduced;
  }

  bool TakeExtent(size_t i, size_t dimension, uint32_t extent) {
    Case smaller = tried();
    smaller.operands.inputs[i].shape_[dimension] = extent;
    return Take(std::move(smaller));
  }

  // The operator's own sizes, then the smallest that fail.
  void ReduceGroup() {
    const size_t group = tried().group;
    for (size_t smaller = 0; smaller < group;
         smaller = smaller == 0 ? 2 : smaller * 2) {
      Case next = tried();
      next.group = smaller;
      if (Take(std::move(next))) return;
    }
  }

  const Trials& trials_;
  const Target& target_;
  Failure best_;
};

}  // namespace

Failure Shrink(const Trials& trials, const Target& target, Failure failure) {
  return Shrinker(trials, target, std::move(failure)).Run();
}

}  // namespace tim::vx::check
