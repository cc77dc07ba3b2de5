// The encoder of a transformer (Vaswani et al. 2017), with learned positions
// and Gelu as in BERT (Devlin et al. 2018).
#include <cmath>

#include "bench/models/catalog.h"
#include "bench/networks/network_writer.h"

namespace tim::bench {
namespace {

constexpr int kLayers = 4;
constexpr uint32_t kWidth = 256;
constexpr uint32_t kHeads = 4;
constexpr uint32_t kSequence = 128;
constexpr uint32_t kInner = 4 * kWidth;
constexpr uint32_t kOfAHead = kWidth / kHeads;
// The numbers 0 .. 2^13: a power of 2 makes the scaled input exact.
constexpr uint32_t kLastToken = 1 << 13;

int Dense(NetworkWriter& net, int x, uint32_t units) {
  const uint32_t inputs = net.ShapeOf(x)[0];
  const float bound = std::sqrt(3.0f / static_cast<float>(inputs));
  x = net.Matmul(x, net.Constant({units, inputs}, bound));
  return net.Add(x, net.Constant({units}, 0.05f));
}

// The input has numbers in [-1, 1], as those of the other networks.
int Embedding(NetworkWriter& net, int x) {
  constexpr float kHalf = kLastToken / 2;
  const int tokens = net.Linear(x, kHalf, kHalf);
  const int table = net.Constant({kWidth, kLastToken + 1}, 1.5f);
  const int positions = net.Constant({kWidth, kSequence}, 0.5f);
  return net.LayerNormalization(net.Add(net.Gather(table, tokens), positions));
}

// [width, sequence, 1] as a matrix for each head.
int HeadsOf(NetworkWriter& net, int x, const std::vector<uint32_t>& axes) {
  x = net.Reshape(x, {kOfAHead, kHeads, kSequence, 1});
  return net.Transpose(x, axes);
}

int Attention(NetworkWriter& net, int x) {
  const int queries = HeadsOf(net, Dense(net, x, kWidth), {0, 2, 1, 3});
  const int keys = HeadsOf(net, Dense(net, x, kWidth), {2, 0, 1, 3});
  const int values = HeadsOf(net, Dense(net, x, kWidth), {0, 2, 1, 3});
  const float scale = 1 / std::sqrt(static_cast<float>(kOfAHead));
  const int scores = net.Linear(net.Matmul(queries, keys), scale, 0);
  x = net.Matmul(net.Softmax(scores), values);
  x = net.Reshape(net.Transpose(x, {0, 2, 1, 3}), {kWidth, kSequence, 1});
  return Dense(net, x, kWidth);
}

int EncoderLayer(NetworkWriter& net, int x) {
  x = net.LayerNormalization(net.Add(x, Attention(net, x)));
  const int inner = net.Gelu(Dense(net, x, kInner));
  return net.LayerNormalization(net.Add(x, Dense(net, inner, kWidth)));
}

}  // namespace

Network TransformerEncoder() {
  NetworkWriter net("transformer_encoder");
  int x = Embedding(net, net.Input({kSequence, 1}));
  for (int i = 0; i < kLayers; ++i) x = EncoderLayer(net, x);
  return net.Finish();
}

}  // namespace tim::bench
