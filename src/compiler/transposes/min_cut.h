// The cheapest way to part a network into two.
#ifndef TIM_COMPILER_TRANSPOSES_MIN_CUT_H_
#define TIM_COMPILER_TRANSPOSES_MIN_CUT_H_

#include <cstddef>
#include <vector>

namespace tim::compiler {

/// Vertices on the side of a source or of a sink, by maximal flow (Dinic
/// 1970).  An edge costs its capacity where it leads from the source's side to
/// the sink's.
class MinCut {
 public:
  static constexpr double kInfinite = 1e300;

  /// Vertices 0, the source, and 1, the sink.
  MinCut() : heads_(2) {}

  static constexpr int kSource = 0;
  static constexpr int kSink = 1;
  int AddVertex();
  void AddEdge(int from, int to, double capacity);

  /// By vertex: whether it is on the source's side, which is as small as it
  /// can be at this cost.
  std::vector<bool> Solve();

 private:
  struct Edge {
    int to = 0;
    double room = 0;
    int back = 0;  ///< The edge in the other direction.
  };

  bool FindLevels();
  double Push(int vertex, double limit);

  std::vector<Edge> edges_;
  std::vector<std::vector<int>> heads_;  ///< Edges by the vertex they leave.
  std::vector<int> levels_;
  std::vector<size_t> next_;
};

}  // namespace tim::compiler

#endif  // TIM_COMPILER_TRANSPOSES_MIN_CUT_H_
