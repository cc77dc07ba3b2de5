// ExactCast() beside dynamic_cast.
#include "base/exact_cast.h"

#include <gtest/gtest.h>

namespace tim {
namespace {

class Shape {
 public:
  virtual ~Shape() = default;
};
class Square final : public Shape {
 public:
  int side = 3;
};
class Disc final : public Shape {};

TEST(ExactCast, FindsTheClassItself) {
  Square square;
  Shape* const shape = &square;
  ASSERT_EQ(ExactCast<Square>(shape), &square);
  EXPECT_EQ(ExactCast<Square>(shape)->side, 3);
}

TEST(ExactCast, IsNullForAnotherClassAndForNull) {
  Square square;
  Shape plain;
  EXPECT_EQ(ExactCast<Disc>(static_cast<Shape*>(&square)), nullptr);
  EXPECT_EQ(ExactCast<Square>(&plain), nullptr);
  EXPECT_EQ(ExactCast<Square>(static_cast<Shape*>(nullptr)), nullptr);
}

}  // namespace
}  // namespace tim
