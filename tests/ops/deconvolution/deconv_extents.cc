#include "tests/ops/deconvolution/deconv_extents.h"

#include "base/str_cat.h"
#include "ir/shape.h"
#include "tests/support/long_tests.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

std::string Text(const Ints& values) { return ir::Shape(values).ToString(); }

}  // namespace

std::string DeconvExtents::ToString() const {
  return StrCat(Text(input), " kernel ", Text(kernel), " stride ", Text(stride),
                " pad ", Text(pad), " declared ", Text(declared));
}

std::vector<DeconvExtents> PhasesOfEveryStride() {
  Sample sample(3);
  std::vector<DeconvExtents> out;
  for (const int64_t stride : {1, 2, 3, 5}) {
    for (const int64_t kernel : {1, 2, 3, 4, 7}) {
      if (!sample.Takes()) continue;
      out.push_back({.input = {7, 3, 5, 1},
                     .kernel = {kernel, 3, 18},
                     .stride = {stride, 2},
                     .pad = {0, 0, 0, 0}});
    }
  }
  return out;
}

std::vector<DeconvExtents> RowsOfManyWidths() {
  std::vector<DeconvExtents> out;
  for (const int64_t width : {1, 2, 13, 14, 15, 29}) {
    out.push_back({.input = {width, 3, 16, 1}, .kernel = {3, 3, 33}});
  }
  return out;
}

std::vector<DeconvExtents> ManyPads() {
  std::vector<DeconvExtents> out;
  for (const Ints& pad : {Ints{0, 3, 0, 0}, Ints{3, 0, 1, 2}, Ints{2, 1, 3, 3},
                          Ints{4, 0, 0, 4}}) {
    out.push_back({.kernel = {5, 5, 3}, .stride = {3, 2}, .pad = pad});
    out.push_back({.kernel = {2, 3, 3}, .stride = {1, 4}, .pad = pad});
  }
  return out;
}

std::vector<DeconvExtents> NegativePads() {
  std::vector<DeconvExtents> out;
  Sample sample(5);
  for (const Ints& pad : {Ints{0, -1, 0, -1}, Ints{-1, 0, -2, 1},
                          Ints{-3, 2, -7, -5}, Ints{-17, -2, 1, -16}}) {
    for (const int64_t kernel : {1, 2, 5}) {
      const DeconvExtents wide = {.input = {5, 4, 18, 1},
                                  .kernel = {kernel, 2, 17},
                                  .stride = {3, 2},
                                  .pad = pad};
      const DeconvExtents narrow = {.input = {5, 4, 3, 1},
                                    .kernel = {2, kernel, 3},
                                    .stride = {1, 4},
                                    .pad = pad};
      for (const DeconvExtents& extents : {wide, narrow}) {
        if (sample.Takes()) out.push_back(extents);
      }
    }
  }
  // TFLite's SAME with a stride of 3 and a kernel of 2.
  out.push_back({.input = {5, 4, 18, 1},
                 .kernel = {2, 2, 17},
                 .stride = {3, 3},
                 .pad = {0, -1, 0, -1},
                 .declared = {15, 12}});
  return out;
}

std::vector<DeconvExtents> DeclaredExtents() {
  std::vector<DeconvExtents> out;
  for (const Ints& declared : {Ints{2, 1}, Ints{1, 40}, Ints{60, 3}}) {
    out.push_back({.stride = {4, 3}, .declared = declared});
  }
  return out;
}

}  // namespace tim::testing
