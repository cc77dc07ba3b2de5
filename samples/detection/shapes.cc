#include "shapes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace detection {
namespace {

constexpr float kPi = 3.14159265f;

// `corners` points around 0; every other one at `inner` of the radius.
Polygon Spokes(int corners, float inner) {
  Polygon polygon;
  for (int i = 0; i < corners; ++i) {
    const float angle =
        2.0f * kPi * static_cast<float>(i) / static_cast<float>(corners);
    const float radius = i % 2 == 0 ? 1.0f : inner;
    polygon.push_back({radius * std::cos(angle), radius * std::sin(angle)});
  }
  return polygon;
}

Polygon UnitShape(Shape shape, Rng* rng) {
  switch (shape) {
    case Shape::kCircle:
      return Spokes(48, 1.0f);
    case Shape::kSquare:
      return Spokes(4, 1.0f);
    case Shape::kTriangle: {
      Polygon polygon = Spokes(3, 1.0f);
      for (Point& corner : polygon) {
        corner.x += rng->Uniform(-0.12f, 0.12f);
        corner.y += rng->Uniform(-0.12f, 0.12f);
      }
      return polygon;
    }
    case Shape::kStar:
      break;
  }
  return Spokes(10, rng->Uniform(0.38f, 0.5f));
}

Point Turned(const Point& point, float angle) {
  const float c = std::cos(angle), s = std::sin(angle);
  return {c * point.x - s * point.y, s * point.x + c * point.y};
}

}  // namespace

std::uint64_t Rng::Bits() {
  std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

float Rng::Uniform(float low, float high) {
  const float unit = static_cast<float>(Bits() >> 40) / 16777216.0f;
  return low + (high - low) * unit;
}

int Rng::Int(int low, int high) {
  const auto count = static_cast<std::uint64_t>(high - low + 1);
  return low + static_cast<int>((Bits() >> 11) % count);
}

const std::vector<std::string>& ShapeNames() {
  static const std::vector<std::string> names = {"circle", "square", "triangle",
                                                 "star"};
  return names;
}

Polygon MakeShape(Shape shape, const Point& middle, float radius, Rng* rng) {
  Polygon polygon = UnitShape(shape, rng);
  // Along the sides of a square, which stays a rectangle; then any way.
  const float side = kPi / 4.0f;
  const float stretch = std::exp(rng->Uniform(-0.1f, 0.1f));
  const float angle = rng->Uniform(0.0f, 2.0f * kPi);
  for (Point& corner : polygon) {
    Point p = Turned(corner, side);
    p = Turned({radius * p.x * stretch, radius * p.y / stretch}, angle);
    corner = {middle.x + p.x, middle.y + p.y};
  }
  return polygon;
}

Box Bounds(const Polygon& polygon) {
  Box box = {polygon[0].x, polygon[0].y, polygon[0].x, polygon[0].y};
  for (const Point& corner : polygon) {
    box.xmin = std::min(box.xmin, corner.x);
    box.ymin = std::min(box.ymin, corner.y);
    box.xmax = std::max(box.xmax, corner.x);
    box.ymax = std::max(box.ymax, corner.y);
  }
  return box;
}

float DistanceToLine(const Point& point, const Point& a, const Point& b) {
  const float dx = b.x - a.x, dy = b.y - a.y;
  const float px = point.x - a.x, py = point.y - a.y;
  const float length = std::max(dx * dx + dy * dy, 1e-12f);
  const float t = std::min(1.0f, std::max(0.0f, (px * dx + py * dy) / length));
  const float x = px - t * dx, y = py - t * dy;
  return std::sqrt(x * x + y * y);
}

float SignedDistance(const Polygon& polygon, const Point& point) {
  float distance = std::numeric_limits<float>::max();
  bool inside = false;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Point& a = polygon[i];
    const Point& b = polygon[(i + 1) % polygon.size()];
    distance = std::min(distance, DistanceToLine(point, a, b));
    // A ray to the right crosses this side.
    if ((a.y > point.y) != (b.y > point.y) &&
        point.x < a.x + (b.x - a.x) * (point.y - a.y) / (b.y - a.y)) {
      inside = !inside;
    }
  }
  return inside ? -distance : distance;
}

}  // namespace detection
