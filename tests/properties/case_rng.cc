#include "tests/properties/case_rng.h"

#include <algorithm>
#include <numeric>
#include <sstream>

#include "base/checked_math.h"

namespace tim::testing {

TypeNames ParseTypes(const std::string& text) {
  TypeNames out;
  const size_t arrow = text.find('>');
  const auto split = [](const std::string& list) {
    std::vector<std::string> names;
    std::istringstream in(list);
    for (std::string name; std::getline(in, name, ',');) names.push_back(name);
    return names;
  };
  out.inputs = split(text.substr(0, arrow));
  out.outputs = split(text.substr(arrow + 1));
  return out;
}

CaseRng::CaseRng(uint32_t seed, int size, TypeChoice types)
    : seed_(seed), size_(size), types_(types), engine_(seed) {}

int64_t CaseRng::Int(int64_t low, int64_t high) {
  const int64_t range = (high - low) * size_;
  return low + static_cast<int64_t>(engine_() %
                                    (CeilDiv(range, int64_t{kFullSize}) + 1));
}

bool CaseRng::OneIn(int n) { return engine_() % n == 0 && size_ > 0; }

int64_t CaseRng::Extent(int64_t limit) {
  constexpr int64_t kExtents[] = {1, 2, 3, 5, 7, 16, 17, 31, 32, 33};
  const auto count = static_cast<int64_t>(std::size(kExtents));
  return std::min(kExtents[Int(0, count - 1)], limit);
}

std::vector<int64_t> CaseRng::Shape(int low, int high, int64_t limit) {
  std::vector<int64_t> shape(static_cast<size_t>(Int(low, high)), 1);
  std::vector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::shuffle(order.begin(), order.end(), engine_);
  for (const size_t axis : order) {
    shape[axis] = Extent(limit);
    limit /= shape[axis];
  }
  return shape;
}

std::vector<int64_t> CaseRng::BroadcastFrom(std::vector<int64_t> shape) {
  for (int64_t& extent : shape) {
    if (OneIn(3)) extent = 1;
  }
  while (shape.size() > 1 && OneIn(4)) shape.pop_back();
  return shape;
}

int64_t CaseRng::Axis(int rank) {
  const int64_t axis = Int(0, rank - 1);
  return OneIn(3) ? axis - rank : axis;
}

std::vector<int> CaseRng::Permutation(int rank) {
  std::vector<int> out(static_cast<size_t>(rank));
  std::iota(out.begin(), out.end(), 0);
  if (size_ > 0) std::shuffle(out.begin(), out.end(), engine_);
  return out;
}

size_t CaseRng::Turn(size_t count) const {
  const size_t turn =
      seed_ % std::min(static_cast<size_t>(types_.limit), count);
  return turn == 0 ? 0 : 1 + (types_.offset + turn - 1) % (count - 1);
}

TypeNames CaseRng::Types(const std::vector<std::string>& list) const {
  return ParseTypes(list[Turn(list.size())]);
}

ir::TensorDesc CaseRng::Desc(const std::string& type,
                             std::vector<int64_t> shape, int axis) {
  return DescOf(type, std::move(shape), engine_, axis);
}

}  // namespace tim::testing
