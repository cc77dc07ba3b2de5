#include "compiler/transposes/min_cut.h"

#include <algorithm>
#include <deque>

namespace tim::compiler {

int MinCut::AddVertex() {
  heads_.emplace_back();
  return static_cast<int>(heads_.size()) - 1;
}

void MinCut::AddEdge(int from, int to, double capacity) {
  const int edge = static_cast<int>(edges_.size());
  edges_.push_back({to, capacity, edge + 1});
  edges_.push_back({from, 0, edge});
  heads_[from].push_back(edge);
  heads_[to].push_back(edge + 1);
}

bool MinCut::FindLevels() {
  levels_.assign(heads_.size(), -1);
  levels_[kSource] = 0;
  std::deque<int> queue = {kSource};
  while (!queue.empty()) {
    const int vertex = queue.front();
    queue.pop_front();
    for (const int edge : heads_[vertex]) {
      const auto& [to, room, back] = edges_[edge];
      if (room <= 0 || levels_[to] >= 0) continue;
      levels_[to] = levels_[vertex] + 1;
      queue.push_back(to);
    }
  }
  return levels_[kSink] >= 0;
}

// Along shortest paths, with a stack of its own: networks may be long chains.
double MinCut::Push(int source, double limit) {
  std::vector<int> path;  // edges
  int vertex = source;
  while (true) {
    if (vertex == kSink) {
      double flow = limit;
      for (const int edge : path) flow = std::min(flow, edges_[edge].room);
      for (const int edge : path) {
        edges_[edge].room -= flow;
        edges_[edges_[edge].back].room += flow;
      }
      return flow;
    }
    size_t& next = next_[vertex];
    bool advanced = false;
    for (; next < heads_[vertex].size(); ++next) {
      const int edge = heads_[vertex][next];
      const Edge& way = edges_[edge];
      if (way.room <= 0 || levels_[way.to] != levels_[vertex] + 1) continue;
      path.push_back(edge);
      vertex = way.to;
      advanced = true;
      break;
    }
    if (advanced) continue;
    if (path.empty()) return 0;
    vertex = edges_[edges_[path.back()].back].to;
    path.pop_back();
    ++next_[vertex];
  }
}

std::vector<bool> MinCut::Solve() {
  while (FindLevels()) {
    next_.assign(heads_.size(), 0);
    while (Push(kSource, kInfinite) > 0) {
    }
  }
  std::vector<bool> on_source_side;
  for (const int level : levels_) on_source_side.push_back(level >= 0);
  return on_source_side;
}

}  // namespace tim::compiler
