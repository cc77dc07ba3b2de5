#include "ir/element_map/compose.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "ir/element_map/range.h"

namespace tim::ir {
namespace {

using Bound = ElementMap::Bound;
using Ints = std::vector<int64_t>;

// A digit of the index of an element: its values, and how far they are apart.
struct Digit {
  int64_t extent = 1;
  int64_t place = 1;
};

std::vector<Digit> DigitsOf(const ElementMap& map) {
  std::vector<Digit> digits;
  int64_t place = 1;
  for (const int64_t extent : map.extents) {
    digits.push_back({extent, place});
    place *= extent;
  }
  return digits;
}

// A part of a loop: steps of `step` along a digit.
struct Piece {
  static constexpr int kNoDigit = -1;  // The loop repeats.

  int64_t extent = 1;
  int digit = kNoDigit;
  int64_t step = 0;
  size_t loop = 0;    // Of the second map.
  int64_t scale = 1;  // Steps of that loop in one of this.
};

// The last digit that begins at `distance` or before it.
int DigitAt(const std::vector<Digit>& digits, int64_t distance) {
  int digit = 0;
  while (digit + 1 < static_cast<int>(digits.size()) &&
         digits[digit + 1].place <= distance) {
    ++digit;
  }
  return digit;
}

bool IsBounded(const ElementMap& map, size_t loop) {
  return std::any_of(
      map.bounds.begin(), map.bounds.end(),
      [&](const Bound& bound) { return bound.strides[loop] != 0; });
}

// Adds the parts of a loop, each along one digit; false: it has no such parts.
// A loop with bounds stays whole.
bool AddPieces(const std::vector<Digit>& digits, const ElementMap& second,
               size_t loop, std::vector<Piece>* pieces) {
  const int64_t stride = second.strides[loop];
  int64_t rest = second.extents[loop];
  if (stride == 0) {
    pieces->push_back({.extent = rest, .loop = loop});
    return true;
  }
  const int64_t distance = std::abs(stride);
  const int64_t sign = stride < 0 ? -1 : 1;
  int digit = DigitAt(digits, distance);
  if (distance % digits[digit].place != 0) return false;
  int64_t step = distance / digits[digit].place;
  int64_t scale = 1;
  while (!IsBounded(second, loop) &&
         rest > (digits[digit].extent - 1) / step + 1) {
    const int64_t steps = digits[digit].extent / step;
    if (digits[digit].extent % step != 0 || rest % steps != 0 ||
        digit + 1 == static_cast<int>(digits.size())) {
      return false;
    }
    pieces->push_back({steps, digit, sign * step, loop, scale});
    rest /= steps;
    scale *= steps;
    step = 1;
    ++digit;
  }
  pieces->push_back({rest, digit, sign * step, loop, scale});
  return true;
}

// The second map's start as digits, which may be negative: coordinates of
// bounds begin where they say.
std::optional<Ints> DigitsOfStart(const std::vector<Digit>& digits,
                                  const ElementMap& second) {
  Ints starts(digits.size(), 0);
  int64_t rest = second.start;
  Ints left = second.strides;
  for (const Bound& bound : second.bounds) {
    const auto factor = TakeFactor(bound.strides, &left);
    if (!factor) continue;
    const int digit = DigitAt(digits, std::abs(*factor));
    const int64_t place = digits[digit].place;
    if (*factor % place != 0) return std::nullopt;
    const auto moved = CheckedMul(*factor, bound.start);
    const auto added = CheckedMul(*factor / place, bound.start);
    if (!moved || !added) return std::nullopt;
    const auto sum = CheckedAdd(starts[digit], *added);
    if (!sum || __builtin_sub_overflow(rest, *moved, &rest)) {
      return std::nullopt;
    }
    starts[digit] = *sum;
  }
  if (rest < 0) return std::nullopt;
  for (size_t k = digits.size(); k-- > 0;) {
    const auto sum = CheckedAdd(starts[k], rest / digits[k].place);
    if (!sum) return std::nullopt;
    starts[k] = *sum;
    rest %= digits[k].place;
  }
  return starts;
}

// start + sum of digits * strides as a function of the pieces; `start` becomes
// what it is where all are 0.
std::optional<Ints> AlongPieces(const Ints& strides, const Ints& digit_starts,
                                const std::vector<Piece>& pieces,
                                int64_t* start) {
  for (size_t k = 0; k < strides.size(); ++k) {
    const auto moved = CheckedMul(digit_starts[k], strides[k]);
    const auto sum = moved ? CheckedAdd(*start, *moved) : std::nullopt;
    if (!sum) return std::nullopt;
    *start = *sum;
  }
  Ints out;
  for (const Piece& piece : pieces) {
    const int64_t stride =
        piece.digit == Piece::kNoDigit ? 0 : strides[piece.digit];
    const auto product = CheckedMul(piece.step, stride);
    if (!product) return std::nullopt;
    out.push_back(*product);
  }
  return out;
}

// Extents and bounds of the second map in terms of its pieces.
ElementMap InPieces(const ElementMap& second,
                    const std::vector<Piece>& pieces) {
  ElementMap out;
  for (const Piece& piece : pieces) out.extents.push_back(piece.extent);
  out.strides.assign(pieces.size(), 0);
  for (const Bound& bound : second.bounds) {
    Bound& moved = out.bounds.emplace_back(bound);
    moved.strides.clear();
    for (const Piece& piece : pieces) {
      moved.strides.push_back(bound.strides[piece.loop] * piece.scale);
    }
  }
  return out;
}

// Inside of the bounds no digit leaves its values, so that none carries.
bool DigitsStay(const std::vector<Digit>& digits, const Ints& starts,
                const std::vector<Piece>& pieces, const ElementMap& inside) {
  for (size_t k = 0; k < digits.size(); ++k) {
    Ints steps;
    for (const Piece& piece : pieces) {
      steps.push_back(piece.digit == static_cast<int>(k) ? piece.step : 0);
    }
    if (!IsInRange(starts[k], steps, inside, digits[k].extent)) return false;
  }
  return true;
}

// With the digits that the first map has.
std::optional<ElementMap> ComposeDigits(const ElementMap& first,
                                        const ElementMap& second) {
  const std::vector<Digit> digits = DigitsOf(first);
  std::vector<Piece> pieces;
  for (size_t loop = 0; loop < second.extents.size(); ++loop) {
    if (!AddPieces(digits, second, loop, &pieces)) return std::nullopt;
  }
  const auto starts = DigitsOfStart(digits, second);
  if (!starts) return std::nullopt;
  ElementMap out = InPieces(second, pieces);
  if (!DigitsStay(digits, *starts, pieces, out)) return std::nullopt;
  out.start = first.start;
  auto strides = AlongPieces(first.strides, *starts, pieces, &out.start);
  if (!strides) return std::nullopt;
  out.strides = *std::move(strides);
  std::vector<Bound> bounds;
  for (const Bound& bound : first.bounds) {
    Bound& moved = bounds.emplace_back(bound);
    auto along = AlongPieces(bound.strides, *starts, pieces, &moved.start);
    if (!along) return std::nullopt;
    moved.strides = *std::move(along);
  }
  out.bounds.insert(out.bounds.begin(), bounds.begin(), bounds.end());
  if (!IsWellFormed(out)) return std::nullopt;
  return Joined(out);
}

}  // namespace

std::optional<ElementMap> Compose(const ElementMap& first,
                                  const ElementMap& second) {
  const ElementMap joined = Joined(first);
  const ElementMap after = Joined(second);
  ElementMap split = joined;
  for (const int64_t stride : after.strides) {
    if (stride == 0) continue;
    if (auto more = SplitAt(split, std::abs(stride))) split = *std::move(more);
  }
  if (auto composed = ComposeDigits(split, after)) return composed;
  return ComposeDigits(joined, after);
}

}  // namespace tim::ir
