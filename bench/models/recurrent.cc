// Single layers of gated recurrent units.
#include "bench/models/catalog.h"
#include "bench/networks/network_writer.h"

namespace tim::bench {
namespace {

constexpr uint32_t kUnits = 256;
constexpr uint32_t kBatch = 8;
constexpr uint32_t kSteps = 50;

}  // namespace

Network Lstm() {
  NetworkWriter net("lstm");
  net.Lstm(net.Input({kUnits, kBatch, kSteps}), kUnits);
  return net.Finish();
}

Network Gru() {
  NetworkWriter net("gru");
  net.Gru(net.Input({kUnits, kBatch, kSteps}), kUnits);
  return net.Finish();
}

}  // namespace tim::bench
