// The block's weights, and the function of one token.
#include "block.h"

#include <cmath>
#include <cstddef>

namespace attention {
namespace {

using namespace tim::values;

Value Constant(const Shape& shape, const std::vector<float>& data) {
  return Value::Constant(Spec(Type::kFloat32, shape), data.data());
}

// Around 0, of a size that keeps sums of `rows` products near 1.
Value Weights(std::int64_t columns, std::int64_t rows, int seed) {
  std::vector<float> data(static_cast<std::size_t>(columns * rows));
  const float scale = 1.0f / std::sqrt(static_cast<float>(rows));
  for (std::size_t i = 0; i < data.size(); ++i) {
    const std::size_t at = (i * 7919 + static_cast<std::size_t>(seed)) % 1009;
    data[i] = (static_cast<float>(at) / 504 - 1) * scale;
  }
  return Constant({columns, rows}, data);
}

Value Filled(const Shape& shape, float number) {
  const auto count = static_cast<std::size_t>(shape.NumElements());
  return Constant(shape, std::vector<float>(count, number));
}

Value Numbers(std::int64_t count) {
  std::vector<float> data;
  for (std::int64_t i = 0; i < count; ++i) {
    data.push_back(static_cast<float>(i));
  }
  return Constant({1, count, 1}, data);
}

Value Empty(const Sizes& sizes) {
  return Filled({sizes.width / sizes.heads, sizes.tokens, sizes.heads}, 0);
}

}  // namespace

Block::Block(const Sizes& sizes)
    : sizes_(sizes),
      query_(Weights(sizes.width, sizes.width, 1)),
      key_(Weights(sizes.width, sizes.width, 2)),
      value_(Weights(sizes.width, sizes.width, 3)),
      mix_(Weights(sizes.width, sizes.width, 4)),
      widen_(Weights(sizes.hidden, sizes.width, 5)),
      narrow_(Weights(sizes.width, sizes.hidden, 6)),
      numbers_(Numbers(sizes.tokens)),
      ones_(Filled({sizes.width}, 1)),
      zeros_(Filled({sizes.width}, 0)),
      keys_(Empty(sizes), "keys"),
      values_(Empty(sizes), "values") {}

void Block::Start() {
  keys_.Assign(Empty(sizes_));
  values_.Assign(Empty(sizes_));
}

Value Block::FirstToken() const {
  std::vector<float> data;
  for (std::int64_t i = 0; i < sizes_.width; ++i) {
    data.push_back(static_cast<float>(i % 17) / 8 - 1);
  }
  return Value::Of<float>({sizes_.width, 1}, data);
}

Value Block::Position(std::int64_t number) {
  return Value::Of<float>({1}, {static_cast<float>(number)});
}

Value Block::Normalized(const Value& x) const {
  return LayerNormalization(x, zeros_, ones_, 0, 1e-5);
}

// [width, 1] as a vector per head: [width / heads, 1, heads].
Value Block::Heads(const Value& x) const {
  return Reshape(x, {sizes_.width / sizes_.heads, 1, sizes_.heads});
}

Value Block::Attend(const Value& x, const Value& position) {
  // The token's place among those that are kept, and those behind it.
  const Value here = Cast(Equal(numbers_, position), "float32");
  const Value later = Cast(Greater(numbers_, position), "float32");
  const Value keys =
      keys_.Read() * (1.0f - here) + Heads(Matmul(x, key_)) * here;
  const Value values =
      values_.Read() * (1.0f - here) + Heads(Matmul(x, value_)) * here;
  keys_.Assign(keys);
  values_.Assign(values);

  const Value query = Heads(Matmul(x, query_));
  const float scale = 1.0f / std::sqrt(static_cast<float>(sizes_.width) /
                                       static_cast<float>(sizes_.heads));
  const Value bias = Reshape(later, {sizes_.tokens, 1, 1}) * -1e9f;
  const Value scores = Matmul(query, keys, false, true) * scale + bias;
  const Value found = Matmul(Softmax(scores, 1, 0), values);
  return Matmul(Reshape(found, {sizes_.width, 1}), mix_);
}

std::vector<Value> Block::Step(const std::vector<Value>& token_and_position) {
  const Value& token = token_and_position[0];
  const Value read = token + Attend(Normalized(token), token_and_position[1]);
  const Value hidden = Gelu(Matmul(Normalized(read), widen_));
  return {Normalized(read + Matmul(hidden, narrow_))};
}

}  // namespace attention
