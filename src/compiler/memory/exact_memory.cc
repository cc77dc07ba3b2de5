// Branch and bound over layouts in which every range lies on top of ranges that
// it conflicts with.  Any layout becomes such a one when its ranges sink, in
// the order of their offsets; so it is enough to try ranges one by one, with
// offsets that never fall.
#include "compiler/memory/exact_memory.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/checked_math.h"

namespace tim::compiler {
namespace {

// Ranges that conflicts link, directly or by others; smallest index first.
std::vector<std::vector<size_t>> SectionsOf(const MemoryProblem& problem) {
  const size_t count = problem.ranges.size();
  std::vector<size_t> root(count);
  std::iota(root.begin(), root.end(), size_t{0});
  const auto find = [&](size_t i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
  };
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (problem.InConflict(i, j)) root[find(i)] = find(j);
    }
  }
  std::map<size_t, std::vector<size_t>> sections;
  for (size_t i = 0; i < count; ++i) sections[find(i)].push_back(i);
  std::vector<std::vector<size_t>> out;
  for (auto& [first, members] : sections) out.push_back(std::move(members));
  return out;
}

class Search {
 public:
  Search(const MemoryProblem& problem, const std::vector<size_t>& members,
         const MemoryLayout& start, int most_placements)
      : problem_(problem),
        members_(members),
        most_placements_(most_placements) {
    for (const size_t member : members) {
      bytes_.push_back(
          AlignUp(problem.ranges[member].bytes, problem.alignment));
      best_.push_back(start.offsets[member]);
      peak_ = std::max(peak_, best_.back() + bytes_.back());
    }
    // Large ones first: a good layout is found early.
    order_.resize(members.size());
    std::iota(order_.begin(), order_.end(), size_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](size_t a, size_t b) { return bytes_[a] > bytes_[b]; });
    FindSteps();
    offsets_.assign(members.size(), -1);
    top_.assign(members.size(), 0);
  }

  void Run() {
    if (peak_ > bound_) Try(0, 0, members_.size());
  }
  bool proved() const {
    return peak_ == bound_ || placements_ < most_placements_;
  }
  const std::vector<int64_t>& offsets() const { return best_; }
  int64_t peak() const { return peak_; }

 private:
  // Lists of ranges that live at each step where something begins.
  void FindSteps() {
    for (const size_t member : members_) {
      const int step = problem_.ranges[member].first_step;
      std::vector<size_t> live;
      int64_t bytes = 0;
      for (size_t i = 0; i < members_.size(); ++i) {
        const MemoryRange& range = problem_.ranges[members_[i]];
        if (range.first_step > step || range.last_step < step) continue;
        live.push_back(i);
        bytes += bytes_[i];
      }
      bound_ = std::max(bound_, bytes);
      steps_.push_back(std::move(live));
    }
  }

  // Whether the ranges that are left fit below the best peak: at each step
  // they lie above what is there, one on the other.
  bool MayFit(int64_t lowest) const {
    for (const std::vector<size_t>& live : steps_) {
      int64_t left = 0;
      int64_t above = 0;
      for (const size_t i : live) {
        if (offsets_[i] >= 0) continue;
        const int64_t base = std::max(top_[i], lowest);
        above = left == 0 ? base : std::min(above, base);
        left += bytes_[i];
      }
      if (left > 0 && above + left >= peak_) return false;
    }
    return true;
  }

  bool AreEqual(size_t a, size_t b) const {
    const MemoryRange& x = problem_.ranges[members_[a]];
    const MemoryRange& y = problem_.ranges[members_[b]];
    return problem_.conflicts.empty() && x.first_step == y.first_step &&
           x.last_step == y.last_step && bytes_[a] == bytes_[b];
  }

  // Places one of the ranges that are left, none below `lowest`.
  void Try(int64_t lowest, int64_t peak, size_t left) {
    if (left == 0) {
      peak_ = peak;
      best_ = offsets_;
      return;
    }
    if (!MayFit(lowest)) return;
    std::vector<size_t> tried;
    for (const size_t i : order_) {
      if (offsets_[i] >= 0 || top_[i] < lowest) continue;
      if (top_[i] + bytes_[i] >= peak_) continue;
      const bool again = std::any_of(tried.begin(), tried.end(),
                                     [&](size_t j) { return AreEqual(i, j); });
      if (again) continue;
      tried.push_back(i);
      if (++placements_ >= most_placements_ || peak_ == bound_) return;
      const std::vector<int64_t> tops = top_;
      offsets_[i] = top_[i];
      for (size_t j = 0; j < members_.size(); ++j) {
        if (offsets_[j] >= 0 ||
            !problem_.InConflict(members_[i], members_[j])) {
          continue;
        }
        top_[j] = std::max(top_[j], offsets_[i] + bytes_[i]);
      }
      Try(offsets_[i], std::max(peak, offsets_[i] + bytes_[i]), left - 1);
      offsets_[i] = -1;
      top_ = tops;
    }
  }

  const MemoryProblem& problem_;
  const std::vector<size_t>& members_;
  const int most_placements_;
  std::vector<int64_t> bytes_;
  std::vector<size_t> order_;
  std::vector<std::vector<size_t>> steps_;
  int64_t bound_ = 0;
  std::vector<int64_t> offsets_;  // -1: not placed
  std::vector<int64_t> top_;      // of what is placed and in conflict
  std::vector<int64_t> best_;
  int64_t peak_ = 0;
  int placements_ = 0;
};

}  // namespace

MemoryLayout PlaceExactly(const MemoryProblem& problem,
                          const MemoryLayout& start, int placements) {
  const int64_t bound = MemoryLowerBound(problem);
  MemoryLayout layout = start;
  layout.solver = MemorySolver::kExact;
  layout.peak = 0;
  layout.proved = true;
  for (const std::vector<size_t>& members : SectionsOf(problem)) {
    int64_t peak = 0;
    for (const size_t member : members) {
      peak = std::max(
          peak, start.offsets[member] +
                    AlignUp(problem.ranges[member].bytes, problem.alignment));
    }
    // Another section needs as much.
    const bool matters = peak > bound;
    if (!matters || members.size() > kMostExact) {
      layout.peak = std::max(layout.peak, peak);
      layout.proved = layout.proved && !matters;
      continue;
    }
    Search search(problem, members, start, placements);
    search.Run();
    for (size_t i = 0; i < members.size(); ++i) {
      layout.offsets[members[i]] = search.offsets()[i];
    }
    layout.peak = std::max(layout.peak, search.peak());
    layout.proved = layout.proved && search.proved();
  }
  return layout;
}

}  // namespace tim::compiler
