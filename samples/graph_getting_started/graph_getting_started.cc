// How a framework runs a network through tim::graph: it hands over its
// operations, gets partitions back, compiles those that are supported for
// shapes and an engine, executes them, and runs the others by itself.
//
// The network: an image, a convolution, bias, ReLU, an operation that only the
// framework knows (it mirrors the image), a reshape, and a matrix product.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "tim/graph/graph.hpp"
#include "tim/graph/residency.hpp"
#include "tim/graph/settings.hpp"

namespace {

namespace g = tim::graph;
using lt = g::logical_tensor;
using op = g::op;
using Floats = std::vector<float>;

constexpr int kSize = 8;  // of the image, in both directions
constexpr int kChannels = 4;
constexpr int kTaps = 3;
constexpr int kClasses = 10;
constexpr int kInner = kChannels * kSize * kSize;
constexpr float kTolerance = 1e-4f;

// ---- 1. Operations and tensors ----------------------------------------------

// Numbers of tensors and operations are the framework's own.
enum Tensor : size_t {
  kImage,
  kFilters,
  kConvolved,
  kBias,
  kBiased,
  kActive,
  kMirrored,
  kRow,
  kWeights,
  kScores
};
enum Operation : size_t { kConv, kAdd, kRelu, kMirror, kReshape, kProduct };
const char* const kNames[] = {"conv",   "bias",    "relu",
                              "mirror", "reshape", "product"};

// Dims as in NumPy: those of the last axis are neighbours in memory.
lt Variable(Tensor id, const lt::dims& dims) {
  return lt(id, lt::data_type::f32, dims, lt::layout_type::strided);
}
lt Constant(Tensor id, const lt::dims& dims) {
  return lt(id, lt::data_type::f32, dims, lt::layout_type::strided,
            lt::property_type::constant);
}
// Rank and dims of a result may be left open: compile() finds them.
lt Result(Tensor id) {
  return lt(id, lt::data_type::f32, lt::layout_type::strided);
}

std::vector<lt> Arguments() {
  return {Variable(kImage, {1, 1, kSize, kSize}),
          Constant(kFilters, {kChannels, 1, kTaps, kTaps}),
          Constant(kBias, {kChannels}), Constant(kWeights, {kInner, kClasses})};
}

g::graph BuildGraph(g::engine::kind kind) {
  const std::vector<lt> given = Arguments();
  op conv(kConv, op::kind::Convolution, {given[0], given[1]},
          {Result(kConvolved)}, kNames[kConv]);
  conv.set_attr(op::attr::strides, lt::dims{1, 1})
      .set_attr(op::attr::pads_begin, lt::dims{1, 1})
      .set_attr(op::attr::pads_end, lt::dims{1, 1})
      .set_attr(op::attr::dilations, lt::dims{1, 1})
      .set_attr(op::attr::data_format, std::string("NCX"))
      .set_attr(op::attr::weights_format, std::string("OIX"));
  op bias(kAdd, op::kind::BiasAdd, {Result(kConvolved), given[2]},
          {Result(kBiased)}, kNames[kAdd]);
  bias.set_attr(op::attr::data_format, std::string("NCX"));
  op relu(kRelu, op::kind::ReLU, {Result(kBiased)}, {Result(kActive)},
          kNames[kRelu]);
  // An op that the library has no kind for is a Wildcard: it keeps its place in
  // the graph, so that no partition reaches around it.
  op mirror(kMirror, op::kind::Wildcard, {Result(kActive)}, {Result(kMirrored)},
            kNames[kMirror]);
  op reshape(kReshape, op::kind::StaticReshape, {Result(kMirrored)},
             {Result(kRow)}, kNames[kReshape]);
  reshape.set_attr(op::attr::shape, lt::dims{1, kInner})
      .set_attr(op::attr::special_zero, false);
  op product(kProduct, op::kind::MatMul, {Result(kRow), given[3]},
             {Result(kScores)}, kNames[kProduct]);

  g::graph graph(kind);
  for (const op& each : {conv, bias, relu, mirror, reshape, product}) {
    graph.add_op(each);  // refuses what breaks a rule, and says which
  }
  graph.finalize();
  return graph;
}

// ---- 2. Memory
// ---------------------------------------------------------------

// Tensors of a cpu engine are host memory; those of a gpu engine are its
// device's, and a transfer takes data there and back.
class Memory {
 public:
  explicit Memory(const g::engine& engine) : engine_(engine), stream_(engine) {}

  const g::engine& engine() const { return engine_; }
  g::stream& stream() { return stream_; }

  // Memory of the library, freed with its last copy.
  g::tensor Allocate(const lt& description) const {
    return g::tensor(description, engine_);
  }
  void Write(const g::tensor& to, Floats data) {
    const lt description = to.get_logical_tensor();
    const g::tensor from(description, host_, data.data());
    g::transfer(description, host_, description, engine_)
        .execute(stream_, from, to);
  }
  Floats Read(const g::tensor& from) {
    const lt description = from.get_logical_tensor();
    Floats data(description.get_mem_size() / sizeof(float));
    const g::tensor to(description, host_, data.data());
    g::transfer(description, engine_, description, host_)
        .execute(stream_, from, to);
    return data;
  }

 private:
  g::engine engine_;
  g::stream stream_;
  g::engine host_{g::engine::kind::cpu, 0};
};

// ---- 3. The framework's own operation
// ----------------------------------------

Floats Mirrored(const Floats& image) {
  Floats mirrored = image;
  for (auto row = mirrored.begin(); row != mirrored.end(); row += kSize) {
    std::reverse(row, row + kSize);
  }
  return mirrored;
}

// ---- 4. Partitions, compiled once and executed often
// -------------------------

class Network {
 public:
  Network(const g::engine& engine, const std::map<size_t, Floats>& constants)
      : memory_(engine) {
    for (const lt& argument : Arguments()) {
      values_[argument.get_id()] = memory_.Allocate(argument);
    }
    for (const auto& constant : constants) {
      memory_.Write(values_.at(constant.first), constant.second);
    }
    // The order is one in which each finds what it reads.
    for (const g::partition& part :
         BuildGraph(engine.get_kind()).get_partitions()) {
      Add(part);
    }
  }

  Floats Run(const Floats& image) {
    memory_.Write(values_.at(kImage), image);
    for (Step& step : steps_) {
      if (step.compiled) {
        step.compiled.execute(memory_.stream(), step.inputs, step.outputs);
      } else {
        memory_.Write(step.outputs[0], Mirrored(memory_.Read(step.inputs[0])));
      }
    }
    // Executes of a gpu engine are in order, and may be unfinished.
    memory_.stream().wait();
    return memory_.Read(values_.at(kScores));
  }

 private:
  struct Step {
    g::compiled_partition compiled;  // empty: the framework runs it
    std::vector<g::tensor> inputs, outputs;
  };

  void Add(const g::partition& part) {
    std::string text = "  partition of";
    for (const size_t id : part.get_ops())
      text += std::string(" ") + kNames[id];
    Step step;
    // Inputs need all dims: those of the arguments, and of what partitions
    // before this one make.
    std::vector<lt> inputs;
    for (const lt& port : part.get_input_ports()) {
      step.inputs.push_back(values_.at(port.get_id()));
      inputs.push_back(step.inputs.back().get_logical_tensor());
    }
    if (part.is_supported()) {
      // The same shapes again are found in a cache; others are compiled anew.
      step.compiled =
          part.compile(inputs, part.get_output_ports(), memory_.engine());
    } else {
      text += ": not supported, the framework runs it";
    }
    for (const lt& port : part.get_output_ports()) {
      // With the dims that compile() has found; mirroring keeps them.
      const lt made = step.compiled
                          ? step.compiled.query_logical_tensor(port.get_id())
                          : lt(port.get_id(), lt::data_type::f32,
                               inputs[0].get_dims(), lt::layout_type::strided);
      values_[port.get_id()] = memory_.Allocate(made);
      step.outputs.push_back(values_.at(port.get_id()));
      text += ", makes tensor " + std::to_string(made.get_id()) + " of " +
              std::to_string(made.get_mem_size()) + " bytes";
    }
    std::puts(text.c_str());
    steps_.push_back(step);
  }

  Memory memory_;
  std::map<size_t, g::tensor> values_;  // by number of the tensor
  std::vector<Step> steps_;
};

// ---- 5. The same by its formulas, and a run on every kind of engine
// ----------

Floats Numbers(int count, int step) {
  Floats numbers;
  for (int i = 0; i < count; ++i) {
    numbers.push_back(static_cast<float>((i * step + 3) % 17 - 8) / 16);
  }
  return numbers;
}

size_t At(int number) { return static_cast<size_t>(number); }

Floats Expected(const Floats& image, const std::map<size_t, Floats>& given) {
  Floats scores(kClasses, 0);
  for (int i = 0; i < kInner; ++i) {
    const int channel = i / (kSize * kSize), row = i / kSize % kSize;
    const int column = kSize - 1 - i % kSize;  // mirrored
    float sum = given.at(kBias)[At(channel)];
    for (int tap = 0; tap < kTaps * kTaps; ++tap) {
      const int y = row + tap / kTaps - 1, x = column + tap % kTaps - 1;
      if (y < 0 || x < 0 || y >= kSize || x >= kSize) continue;
      sum += image[At(y * kSize + x)] *
             given.at(kFilters)[At(channel * kTaps * kTaps + tap)];
    }
    for (int c = 0; c < kClasses; ++c) {
      scores[At(c)] +=
          std::max(sum, 0.0f) * given.at(kWeights)[At(i * kClasses + c)];
    }
  }
  return scores;
}

bool RunOn(const char* name, const g::engine& engine) {
  std::printf("%s engine\n", name);
  const std::map<size_t, Floats> constants = {
      {kFilters, Numbers(kChannels * kTaps * kTaps, 5)},
      {kBias, Numbers(kChannels, 7)},
      {kWeights, Numbers(kInner * kClasses, 11)}};
  Network network(engine, constants);
  bool right = true;
  for (int step = 1; step <= 3; ++step) {
    const Floats image = Numbers(kSize * kSize, step);
    const Floats scores = network.Run(image);
    const Floats expected = Expected(image, constants);
    for (size_t c = 0; c < scores.size(); ++c) {
      right = right && std::fabs(scores[c] - expected[c]) <= kTolerance;
    }
    std::printf("  scores %g %g %g ...\n", scores[0], scores[1], scores[2]);
  }
  std::printf("  %s\n", right ? "right" : "WRONG");
  return right;
}

}  // namespace

int main() try {
  // Constants stay as they are at their addresses: what is made of them (here
  // packed filters and weights) is made once.
  g::set_constant_tensor_cache_capacity(g::engine::kind::cpu, 64);
  bool right = RunOn("cpu", g::engine(g::engine::kind::cpu, 0));
  if (g::engine::get_count(g::engine::kind::gpu) == 0) {
    std::printf(
        "no gpu engine: there is no GPU (TIMCL_GRAPH_GPU=all takes every "
        "OpenCL device for one)\n");
  } else {
    right = RunOn("gpu", g::engine(g::engine::kind::gpu, 0)) && right;
  }
  return right ? 0 : 1;
} catch (const std::exception& failure) {
  // A tim::graph::error: what failed, the operation, the rule, what to do.
  std::printf("FAILED: %s\n", failure.what());
  return 1;
}
