// The shapes that the sample's network finds, as polygons.
#ifndef TIM_SAMPLES_DETECTION_SHAPES_H_
#define TIM_SAMPLES_DETECTION_SHAPES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "image.h"

namespace detection {

/// Random numbers that are the same everywhere (SplitMix64).
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed) {}
  std::uint64_t Bits();
  float Uniform(float low, float high);  // low <= x < high
  int Int(int low, int high);            // low <= i <= high
  bool Chance(float probability) { return Uniform(0.0f, 1.0f) < probability; }

 private:
  std::uint64_t state_;
};

struct Point {
  float x = 0.0f;
  float y = 0.0f;
};

using Polygon = std::vector<Point>;

enum class Shape { kCircle, kSquare, kTriangle, kStar };

/// In the order of their numbers, which are the network's classes.
const std::vector<std::string>& ShapeNames();

/// A shape of about `radius` around `middle`: turned, and a little stretched
/// and uneven, at random.
Polygon MakeShape(Shape shape, const Point& middle, float radius, Rng* rng);

/// The smallest box around a polygon.
Box Bounds(const Polygon& polygon);

/// Distance to the polygon's border, negative inside of it.
float SignedDistance(const Polygon& polygon, const Point& point);

/// Distance to a line between two points.
float DistanceToLine(const Point& point, const Point& a, const Point& b);

}  // namespace detection

#endif  // TIM_SAMPLES_DETECTION_SHAPES_H_
