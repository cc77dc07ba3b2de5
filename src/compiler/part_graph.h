// Groups of a graph's nodes that are joined as long as no cycle arises.
#ifndef TIM_COMPILER_PART_GRAPH_H_
#define TIM_COMPILER_PART_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tim::compiler {

/// The graph of groups.  A group is named by one of its nodes, Find(node).
///
/// Groups stand in a topological order at all times, in a list with labels that
/// rise.  A path from one group to another can only visit groups between the
/// two, so that both ends look for it in this window alone, in turns; the side
/// that is through first has proven that there is none, and moves what it saw
/// out of the window.
class PartGraph {
 public:
  /// One group per node.
  /// \param order topological, of all nodes.
  PartGraph(const std::vector<std::vector<size_t>>& producers,
            const std::vector<size_t>& order);

  size_t Find(size_t node);
  size_t size_of(size_t group) const { return groups_[group].size; }
  /// Joins two groups of which `to` uses what `from` produces; no group, and
  /// false, where a path from one to the other goes through a third.
  bool Join(size_t from, size_t to);

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);

  struct Group {
    size_t size = 1;
    uint64_t place = 0;                    // rises along the list
    size_t before = kNone, after = kNone;  // in the list
    std::vector<size_t> producers, users;  // nodes of other groups, once each
  };
  // Groups that one end of a pair reaches inside of the window.
  struct Side {
    std::vector<size_t> seen = {};
    size_t visited = 0;  // so many of them are done
    size_t steps = 0;
    uint64_t mark = 0;
    bool done() const { return visited == seen.size(); }
  };
  enum class Path { kNone, kThroughThird };

  Path Advance(Side* side, const Side& other, size_t from, size_t to,
               bool forward);
  void Compact(size_t group, std::vector<size_t>* list);
  void Unlink(size_t group);
  void TakePlace(size_t group, size_t gone);
  void InsertAfter(const std::vector<size_t>& groups, size_t place);
  void Renumber();
  void Absorb(size_t kept, size_t gone);

  std::vector<Group> groups_;
  std::vector<size_t> parents_;
  std::vector<uint64_t> forward_marks_, backward_marks_, marks_;
  uint64_t last_mark_ = 0;
  size_t first_ = kNone;
};

}  // namespace tim::compiler

#endif  // TIM_COMPILER_PART_GRAPH_H_
