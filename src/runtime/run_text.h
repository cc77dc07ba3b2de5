// Names of a plan's runs in a trace.
#ifndef TIM_RUNTIME_RUN_TEXT_H_
#define TIM_RUNTIME_RUN_TEXT_H_

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/trace.h"
#include "ir/plan.h"
#include "runtime/step_groups.h"

namespace tim::runtime {

/// Events of runs, whose text is made once per executable.
class RunText {
 public:
  using Pattern = std::shared_ptr<const TracePattern>;

  /// Texts of a chain: with its launches, or without.  Of another step both are
  /// one.
  struct Texts {
    Pattern opened;
    Pattern closed;
  };
  /// A group of steps: a chain with its launches, whose times are shares of it,
  /// as estimated.
  struct Group {
    Texts measured;   ///< Where its own time is known.
    Texts estimated;  ///< Where that is a share, too.
    double us = 0;    ///< Estimated.
    int device = 0;
    size_t last = 0;  ///< Step of it.
  };

  /// \param groups of which those that are no chains do not matter.
  RunText(const ir::Plan& plan, std::span<const StepGroup> groups);

  const Pattern& run() const { return run_; }
  const Pattern& enqueue() const { return enqueue_; }
  const Pattern& wait() const { return wait_; }
  /// The graph on a queue, around several groups.
  const Pattern& queue() const { return queue_; }
  /// A chain is one of those that the text was made for.
  const Group& of(const StepGroup& group) const {
    return group.chain ? chains_[group.first] : steps_[group.first];
  }

 private:
  Pattern run_;
  Pattern enqueue_;
  Pattern wait_;
  Pattern queue_;
  std::vector<Group> steps_;
  std::vector<Group> chains_;  // by first step, the others are empty
};

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_RUN_TEXT_H_
