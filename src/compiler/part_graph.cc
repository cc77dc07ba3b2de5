// Groups of nodes are joined, and kept in a topological order.
#include "compiler/part_graph.h"

#include <algorithm>
#include <utility>

namespace tim::compiler {
namespace {

// Half of the range of places, so that the last ones have room behind them.
constexpr uint64_t kPlaces = uint64_t{1} << 62;

}  // namespace

PartGraph::PartGraph(const std::vector<std::vector<size_t>>& producers,
                     const std::vector<size_t>& order)
    : groups_(producers.size()),
      parents_(producers.size()),
      forward_marks_(producers.size()),
      backward_marks_(producers.size()),
      marks_(producers.size()) {
  for (size_t node = 0; node < producers.size(); ++node) {
    parents_[node] = node;
    groups_[node].producers = producers[node];
    for (const size_t producer : producers[node]) {
      groups_[producer].users.push_back(node);
    }
  }
  size_t last = kNone;
  for (const size_t node : order) {
    groups_[node].before = last;
    (last == kNone ? first_ : groups_[last].after) = node;
    last = node;
  }
  Renumber();
}

size_t PartGraph::Find(size_t node) {
  while (parents_[node] != node) {
    parents_[node] = parents_[parents_[node]];
    node = parents_[node];
  }
  return node;
}

bool PartGraph::Join(size_t from, size_t to) {
  Side ahead = {.seen = {from}, .mark = ++last_mark_};
  Side back = {.seen = {to}, .mark = ++last_mark_};
  forward_marks_[from] = ahead.mark;
  backward_marks_[to] = back.mark;
  while (!ahead.done() && !back.done()) {
    // The shorter list first: a large group is not read for a small one.
    const bool forward =
        ahead.steps + groups_[ahead.seen[ahead.visited]].users.size() <=
        back.steps + groups_[back.seen[back.visited]].producers.size();
    const Path path = forward ? Advance(&ahead, back, from, to, true)
                              : Advance(&back, ahead, from, to, false);
    if (path == Path::kThroughThird) return false;
  }
  // The side that is done moves out of the window, in the order that it has.
  const bool forward = ahead.done();
  std::vector<size_t> moved = std::move((forward ? ahead : back).seen);
  moved.erase(moved.begin());
  std::sort(moved.begin(), moved.end(), [this](size_t a, size_t b) {
    return groups_[a].place < groups_[b].place;
  });
  for (const size_t group : moved) Unlink(group);
  InsertAfter(moved, forward ? to : groups_[from].before);
  const auto reads = [this](size_t group) {
    return groups_[group].producers.size() + groups_[group].users.size();
  };
  const size_t kept = reads(from) >= reads(to) ? from : to;
  const size_t gone = kept == from ? to : from;
  // The pair's place is that of the end which nothing was moved over.
  if (kept == (forward ? to : from)) {
    Unlink(gone);
  } else {
    Unlink(kept);
    TakePlace(kept, gone);
  }
  Absorb(kept, gone);
  return true;
}

// Visits one group of `side`.
PartGraph::Path PartGraph::Advance(Side* side, const Side& other, size_t from,
                                   size_t to, bool forward) {
  const size_t group = side->seen[side->visited++];
  const size_t start = forward ? from : to;
  const size_t end = forward ? to : from;
  std::vector<size_t>& list =
      forward ? groups_[group].users : groups_[group].producers;
  std::vector<uint64_t>& own = forward ? forward_marks_ : backward_marks_;
  const std::vector<uint64_t>& others =
      forward ? backward_marks_ : forward_marks_;
  side->steps += list.size();
  Compact(group, &list);
  const uint64_t limit = groups_[end].place;
  for (const size_t next : list) {
    if (next == end) {
      if (group != start) return Path::kThroughThird;
      continue;
    }
    const uint64_t place = groups_[next].place;
    if (forward ? place > limit : place < limit) continue;
    if (others[next] == other.mark) return Path::kThroughThird;
    if (own[next] == side->mark) continue;
    own[next] = side->mark;
    side->seen.push_back(next);
  }
  return Path::kNone;
}

// Names groups in place of nodes, each once, in their order.
void PartGraph::Compact(size_t group, std::vector<size_t>* list) {
  const uint64_t mark = ++last_mark_;
  marks_[group] = mark;
  size_t kept = 0;
  for (const size_t node : *list) {
    const size_t other = Find(node);
    if (marks_[other] == mark) continue;
    marks_[other] = mark;
    (*list)[kept++] = other;
  }
  list->resize(kept);
}

void PartGraph::Unlink(size_t group) {
  const Group& gone = groups_[group];
  (gone.before == kNone ? first_ : groups_[gone.before].after) = gone.after;
  if (gone.after != kNone) groups_[gone.after].before = gone.before;
}

void PartGraph::TakePlace(size_t group, size_t gone) {
  groups_[group].place = groups_[gone].place;
  groups_[group].before = groups_[gone].before;
  groups_[group].after = groups_[gone].after;
  const size_t before = groups_[group].before;
  (before == kNone ? first_ : groups_[before].after) = group;
  const size_t after = groups_[group].after;
  if (after != kNone) groups_[after].before = group;
}

// Behind `place`; kNone: at the front.
void PartGraph::InsertAfter(const std::vector<size_t>& groups, size_t place) {
  if (groups.empty()) return;
  const size_t after = place == kNone ? first_ : groups_[place].after;
  const uint64_t low = place == kNone ? 0 : groups_[place].place;
  const uint64_t high = after == kNone ? low + kPlaces : groups_[after].place;
  const uint64_t gap = (high - low) / (groups.size() + 1);
  uint64_t next = low;
  for (const size_t group : groups) {
    groups_[group].before = place;
    (place == kNone ? first_ : groups_[place].after) = group;
    place = group;
    groups_[group].place = next += gap;
  }
  groups_[place].after = after;
  if (after != kNone) groups_[after].before = place;
  if (gap == 0 || next >= 2 * kPlaces) Renumber();
}

void PartGraph::Renumber() {
  const uint64_t gap = kPlaces / (groups_.size() + 1);
  uint64_t place = 0;
  for (size_t group = first_; group != kNone; group = groups_[group].after) {
    groups_[group].place = place += gap;
  }
}

void PartGraph::Absorb(size_t kept, size_t gone) {
  parents_[gone] = kept;
  Group& to = groups_[kept];
  Group& from = groups_[gone];
  to.size += from.size;
  to.producers.insert(to.producers.end(), from.producers.begin(),
                      from.producers.end());
  to.users.insert(to.users.end(), from.users.begin(), from.users.end());
  from.producers = {};
  from.users = {};
}

}  // namespace tim::compiler
