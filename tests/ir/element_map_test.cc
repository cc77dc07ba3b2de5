// Element maps against lists of indices.
#include "ir/element_map/element_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "ir/element_map/compose.h"
#include "ir/element_map_attributes.h"
#include "ir/permutation.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::ElementMap;
using Ints = std::vector<int64_t>;

// A map between tensors of two shapes.
struct Step {
  ElementMap map;
  Ints to;
};

Ints Dense(const Ints& shape) { return ir::DenseStrides(ir::Shape(shape)); }
int64_t CountOf(const Ints& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1},
                         std::multiplies<>());
}

// Elements of axis k from `start` on, `step` apart.
Step Sliced(const Ints& shape, const Ints& start, const Ints& step,
            const Ints& to) {
  const Ints dense = Dense(shape);
  Step out{{.start = 0, .extents = to, .strides = {}, .bounds = {}}, to};
  for (size_t k = 0; k < shape.size(); ++k) {
    out.map.start += start[k] * dense[k];
    out.map.strides.push_back(step[k] * dense[k]);
  }
  return out;
}

Step Padded(const Ints& shape, const Ints& front, const Ints& back) {
  Ints to = shape;
  Ints start;
  for (size_t k = 0; k < shape.size(); ++k) {
    to[k] += front[k] + back[k];
    start.push_back(-front[k]);
  }
  Step out = Sliced(shape, start, Ints(shape.size(), 1), to);
  for (size_t k = 0; k < shape.size(); ++k) {
    Ints strides(shape.size(), 0);
    strides[k] = 1;
    out.map.bounds.push_back({-front[k], shape[k], strides});
  }
  return out;
}

Step Transposed(const Ints& shape, const std::vector<int>& perm) {
  const Ints to = ir::Permuted(shape, perm);
  return {{.start = 0,
           .extents = to,
           .strides = ir::Permuted(Dense(shape), perm),
           .bounds = {}},
          to};
}

Step Reshaped(const Ints& shape, const Ints& to) {
  return {
      {.start = 0, .extents = {CountOf(shape)}, .strides = {1}, .bounds = {}},
      to};
}

Step Reversed(const Ints& shape, size_t axis) {
  Ints start(shape.size(), 0), step(shape.size(), 1);
  start[axis] = shape[axis] - 1;
  step[axis] = -1;
  return Sliced(shape, start, step, shape);
}

Step Tiled(const Ints& shape, size_t axis, int64_t times) {
  const Ints dense = Dense(shape);
  Ints to = shape;
  to[axis] *= times;
  Step out{{}, to};
  for (size_t k = 0; k < shape.size(); ++k) {
    out.map.extents.push_back(shape[k]);
    out.map.strides.push_back(dense[k]);
    if (k != axis) continue;
    out.map.extents.push_back(times);
    out.map.strides.push_back(0);
  }
  return out;
}

int64_t Pick(std::mt19937& rng, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(rng() % (high - low + 1));
}

// The factors of the shape's extents, joined anew.
Ints OtherShape(const Ints& shape, std::mt19937& rng) {
  Ints factors;
  for (int64_t extent : shape) {
    for (int64_t f = 2; extent > 1; ++f) {
      while (extent % f == 0) {
        factors.push_back(f);
        extent /= f;
      }
    }
  }
  Ints to = {1};
  for (const int64_t factor : factors) {
    if (to.size() < 5 && rng() % 2 == 0) to.push_back(1);
    to.back() *= factor;
  }
  return to;
}

Step RandomSlice(const Ints& shape, std::mt19937& rng) {
  Ints start, step, to;
  for (const int64_t extent : shape) {
    start.push_back(rng() % 2 == 0 ? 0 : Pick(rng, 0, extent - 1));
    step.push_back(Pick(rng, 1, 2));
    const int64_t most = (extent - start.back() - 1) / step.back() + 1;
    to.push_back(rng() % 2 == 0 ? most : Pick(rng, 1, most));
  }
  return Sliced(shape, start, step, to);
}

Step RandomPad(const Ints& shape, std::mt19937& rng) {
  Ints front, back;
  for (size_t k = 0; k < shape.size(); ++k) {
    const bool padded = rng() % 2 == 0;
    front.push_back(padded ? Pick(rng, 0, 2) : 0);
    back.push_back(padded ? Pick(rng, 0, 2) : 0);
  }
  return Padded(shape, front, back);
}

Step RandomStep(const Ints& shape, std::mt19937& rng) {
  const size_t axis = rng() % shape.size();
  switch (rng() % 6) {
    case 0:
      return RandomSlice(shape, rng);
    case 1:
      return RandomPad(shape, rng);
    case 2: {
      std::vector<int> perm(shape.size());
      std::iota(perm.begin(), perm.end(), 0);
      std::shuffle(perm.begin(), perm.end(), rng);
      return Transposed(shape, perm);
    }
    case 3:
      return Reversed(shape, axis);
    case 4:
      return Tiled(shape, axis, Pick(rng, 1, 3));
    default:
      return Reshaped(shape, OtherShape(shape, rng));
  }
}

std::string TextOf(const ElementMap& map) {
  return ir::AttributesOf(map, ir::Shape({ir::ElementCount(map)})).ToString();
}

// Source of the source, by index.
void ExpectComposed(const ElementMap& first, const ElementMap& second,
                    const ElementMap& composed) {
  const int64_t count = ir::ElementCount(second);
  ASSERT_EQ(ir::ElementCount(composed), count);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t middle = ir::SourceOf(second, i);
    const int64_t expected = middle < 0 ? -1 : ir::SourceOf(first, middle);
    ASSERT_EQ(ir::SourceOf(composed, i), expected) << "element " << i << " of\n"
                                                   << TextOf(first) << "\n"
                                                   << TextOf(second) << "\n"
                                                   << TextOf(composed);
  }
}

TEST(ElementMap, ChainsAreComposedElementByElement) {
  std::mt19937 rng(11);
  int composed = 0, refused = 0;
  for (int i = 0; i < 20000; ++i) {
    Ints shape;
    for (int64_t rank = Pick(rng, 1, 4); rank > 0; --rank) {
      shape.push_back(Pick(rng, 1, 6));
    }
    Step chain = RandomStep(shape, rng);
    for (int length = 1; length < 5 && CountOf(chain.to) < 3000; ++length) {
      const Step next = RandomStep(chain.to, rng);
      ASSERT_TRUE(ir::IsWellFormed(next.map));
      ASSERT_TRUE(ir::StaysInside(next.map, CountOf(chain.to)))
          << TextOf(next.map);
      const auto found = ir::Compose(chain.map, next.map);
      if (!found) {
        ++refused;
        break;
      }
      ++composed;
      ExpectComposed(chain.map, next.map, *found);
      if (HasFatalFailure()) return;
      EXPECT_TRUE(ir::StaysInside(*found, CountOf(shape))) << TextOf(*found);
      chain = {*found, next.to};
    }
  }
  EXPECT_GT(composed, 20000);
  EXPECT_GT(refused, 1000);
}

// Any loops: windows that overlap, steps that carry.
TEST(ElementMap, RandomLoopsAreComposedOrRefused) {
  std::mt19937 rng(12);
  int composed = 0, refused = 0;
  const auto random_map = [&](int64_t count) {
    ElementMap map;
    for (int64_t k = Pick(rng, 1, 4); k > 0; --k) {
      map.extents.push_back(Pick(rng, 1, 4));
      map.strides.push_back(Pick(rng, -count / 4 - 1, count / 4 + 1));
    }
    map.start = Pick(rng, 0, count - 1);
    for (int64_t b = Pick(rng, 0, 2); b > 0; --b) {
      Ints strides;
      for (size_t k = 0; k < map.extents.size(); ++k) {
        strides.push_back(Pick(rng, -1, 2));
      }
      map.bounds.push_back({Pick(rng, -2, 2), Pick(rng, 0, 6), strides});
    }
    return map;
  };
  for (int i = 0; i < 60000; ++i) {
    const int64_t count = Pick(rng, 8, 60);
    const ElementMap first = random_map(count);
    const ElementMap second = random_map(ir::ElementCount(first));
    if (!ir::StaysInside(first, count) ||
        !ir::StaysInside(second, ir::ElementCount(first))) {
      continue;
    }
    const auto found = ir::Compose(first, second);
    found ? ++composed : ++refused;
    if (found) ExpectComposed(first, second, *found);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(composed, 500);
  EXPECT_GT(refused, 500);
}

TEST(ElementMap, StaysInsideIsTrueOfNoIndexOutside) {
  std::mt19937 rng(13);
  int inside = 0;
  for (int i = 0; i < 20000; ++i) {
    ElementMap map{
        .start = Pick(rng, -4, 8), .extents = {}, .strides = {}, .bounds = {}};
    for (int k = 0; k < 3; ++k) {
      map.extents.push_back(Pick(rng, 1, 4));
      map.strides.push_back(Pick(rng, -3, 4));
    }
    for (int64_t b = Pick(rng, 0, 3); b > 0; --b) {
      map.bounds.push_back(
          {Pick(rng, -3, 3),
           Pick(rng, 0, 5),
           {Pick(rng, -1, 1), Pick(rng, -1, 2), Pick(rng, 0, 1)}});
    }
    const int64_t count = Pick(rng, 1, 20);
    const ElementMap joined = ir::Joined(map);
    for (int64_t e = 0; e < ir::ElementCount(map); ++e) {
      const int64_t source = ir::SourceOf(map, e);
      ASSERT_EQ(ir::SourceOf(joined, e), source) << TextOf(map);
      if (!ir::StaysInside(map, count)) continue;
      // -1 is what a zero is, too: shifted by one there is no such index.
      ElementMap shifted = map;
      shifted.start += 1;
      const int64_t next = ir::SourceOf(shifted, e);
      ASSERT_TRUE(source == -1 ? next <= 0 : source >= 0 && source < count)
          << TextOf(map);
      ++inside;
    }
  }
  EXPECT_GT(inside, 1000);
}

// What chains must become.
ElementMap Chained(const std::vector<Step>& steps) {
  ElementMap map = steps[0].map;
  for (size_t i = 1; i < steps.size(); ++i) {
    const auto next = ir::Compose(map, steps[i].map);
    EXPECT_TRUE(next) << "step " << i;
    if (!next) return {};
    map = *next;
  }
  return map;
}

TEST(ElementMap, ThereAndBackIsNothing) {
  const Ints shape = {4, 3, 5, 2};
  const Step there = Transposed(shape, {2, 0, 3, 1});
  EXPECT_TRUE(
      ir::IsIdentity(Chained({there, Transposed(there.to, {1, 3, 0, 2})})));
  EXPECT_FALSE(
      ir::IsIdentity(Chained({there, Transposed(there.to, {2, 0, 3, 1})})));
  EXPECT_TRUE(
      ir::IsIdentity(Chained({Reversed(shape, 1), Reversed(shape, 1)})));
  const Step padded = Padded(shape, {1, 2, 0, 1}, {0, 3, 1, 0});
  EXPECT_TRUE(ir::IsIdentity(
      Chained({padded, Sliced(padded.to, {1, 2, 0, 1}, {1, 1, 1, 1}, shape)})));
}

TEST(ElementMap, AShuffleIsThreeLoops) {
  const ElementMap found =
      Chained({Reshaped({5, 7, 12, 1}, {5, 7, 4, 3, 1}),
               Transposed({5, 7, 4, 3, 1}, {0, 1, 3, 2, 4}),
               Reshaped({5, 7, 3, 4, 1}, {5, 7, 12, 1})});
  const ElementMap expected = {
      .start = 0, .extents = {35, 3, 4}, .strides = {1, 140, 35}, .bounds = {}};
  EXPECT_EQ(found, expected) << TextOf(found);
}

TEST(ElementMap, ATransposedPadKeepsItsBounds) {
  const ElementMap found =
      Chained({Padded({4, 3}, {1, 0}, {1, 2}), Transposed({6, 5}, {1, 0})});
  const ElementMap expected = {.start = -1,
                               .extents = {5, 6},
                               .strides = {4, 1},
                               .bounds = {{-1, 4, {0, 1}}, {0, 3, {1, 0}}}};
  EXPECT_EQ(found, expected) << TextOf(found);
}

TEST(ElementMap, PadsOfPadsHaveOneBoundPerAxis) {
  const ElementMap found =
      Chained({Padded({4}, {1}, {0}), Padded({5}, {2}, {3})});
  const ElementMap expected = {
      .start = -3, .extents = {10}, .strides = {1}, .bounds = {{-3, 4, {1}}}};
  EXPECT_EQ(found, expected) << TextOf(found);
}

TEST(ElementMap, WhatCarriesIsRefused) {
  const Step transposed = Transposed({4, 3}, {1, 0});  // [3, 4]
  // 5 elements of 12 in a row are no row of [3, 4].
  EXPECT_FALSE(ir::Compose(transposed.map, Sliced({12}, {0}, {1}, {5}).map));
  EXPECT_FALSE(ir::Compose(transposed.map, Sliced({12}, {2}, {1}, {3}).map));
  EXPECT_TRUE(ir::Compose(transposed.map, Sliced({12}, {3}, {1}, {3}).map));
  EXPECT_FALSE(ir::Compose(transposed.map, Padded({12}, {1}, {0}).map));
}

TEST(ElementMap, LoopsAreSplitWhereTheyMayBe) {
  const ElementMap map = {.start = 2,
                          .extents = {4, 6},
                          .strides = {1, 8},
                          .bounds = {{-1, 5, {0, 1}}}};
  const auto split = ir::SplitAt(map, 8);
  ASSERT_TRUE(split);
  EXPECT_EQ(split->extents, (Ints{4, 2, 3}));
  EXPECT_EQ(split->strides, (Ints{1, 8, 16}));
  EXPECT_EQ(split->bounds[0].strides, (Ints{0, 1, 2}));
  EXPECT_EQ(ir::SplitAt(map, 4), map);
  EXPECT_EQ(ir::SplitAt(map, 24), map);
  EXPECT_FALSE(ir::SplitAt(map, 6));
  EXPECT_FALSE(ir::SplitAt(map, 16));
  EXPECT_FALSE(ir::SplitAt(map, 3));
}

TEST(ElementMap, WhatDoesNotFitIsNotWellFormed) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  const ElementMap legal = {.start = 0,
                            .extents = {4, 3},
                            .strides = {1, 4},
                            .bounds = {{0, 4, {1, 0}}}};
  EXPECT_TRUE(ir::IsWellFormed(legal));
  const auto refused = [&](auto change) {
    ElementMap map = legal;
    change(map);
    EXPECT_FALSE(ir::IsWellFormed(map)) << TextOf(map);
  };
  refused([](ElementMap& map) { map.extents[1] = 0; });
  refused([](ElementMap& map) { map.extents[0] = -4; });
  refused([](ElementMap& map) { map.extents = {kMost, 2}; });
  refused([](ElementMap& map) { map.strides = {1}; });
  refused([](ElementMap& map) { map.strides[1] = kMost; });
  refused([](ElementMap& map) { map.strides[1] = kLeast; });
  refused([](ElementMap& map) { map.start = kLeast; });
  refused([](ElementMap& map) { map.start = kMost; });
  refused([](ElementMap& map) { map.bounds[0].strides = {1, 0, 0}; });
  refused([](ElementMap& map) { map.bounds[0].strides[0] = kLeast; });
  refused([](ElementMap& map) { map.bounds[0].limit = kMost; });
  refused([](ElementMap& map) { map.bounds[0].limit = -1; });
  refused([](ElementMap& map) { map.bounds[0].start = kLeast; });
}

TEST(ElementMap, AttributesGiveTheMapBack) {
  const ElementMap map = {.start = -3,
                          .extents = {4, 6},
                          .strides = {1, 8},
                          .bounds = {{-1, 5, {0, 1}}, {0, 2, {1, 0}}}};
  const auto found =
      ir::ElementMapOf(ir::AttributesOf(map, ir::Shape({2, 12})));
  ASSERT_OK(found);
  EXPECT_EQ(*found, map);
}

}  // namespace
}  // namespace tim::testing
