// A compiler that opens composites by itself, and computes in the host's
// memory.
#include "tests/plugin_abi/weaver_plugin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "tests/plugin_abi/plug_graph.h"
#include "tim/plugin/plugin.h"

namespace tim::testing {
namespace {

Weaver g_weaver;  // NOLINT: of the test that runs

// A list of steps over buffers of floats of one size.
class WovenProgram final : public plug::Program {
 public:
  struct Step {
    std::string op;
    std::vector<int> inputs;
    int output;
  };
  std::vector<Step> steps;
  std::map<int, Floats> constants;
  size_t inputs = 0;
  int places = 0;
  std::vector<int> outputs;

  using Places = std::map<std::int32_t, int>;

  void Add(const plug::Graph& graph, Places* places_of) {
    const auto place = [&](std::int32_t value) {
      const auto added = places_of->emplace(value, places);
      if (!added.second) return added.first->second;
      const TimBytes bytes = graph.constant(value);
      if (bytes.data != nullptr) {
        const auto* floats = static_cast<const float*>(bytes.data);
        constants[places] = Floats(floats, floats + bytes.bytes / 4);
      }
      return places++;
    };
    for (std::uint32_t i = 0; i < graph.nodes(); ++i) {
      const plug::Node node = graph.node(i);
      std::vector<int> from;
      for (std::uint32_t k = 0; k < node.inputs(); ++k) {
        from.push_back(place(graph.input_of(node, k)));
      }
      const int to = place(graph.output_of(node, 0));
      if (node.body() == nullptr) {
        steps.push_back({node.op(), from, to});
        continue;
      }
      const plug::Graph body(node.body());
      Places inner;
      for (size_t k = 0; k < from.size(); ++k) {
        const std::int32_t value = body.inputs()[k];
        inner[value] = from[k];
        const bool held = body.constant(value).data != nullptr;
        EXPECT_EQ(held, constants.count(from[k]) != 0)
            << "input " << k << " of " << node.op();
      }
      inner[body.outputs()[0]] = to;
      Add(body, &inner);
    }
  }
};

// "tim.AddN(tim.Add tim.Add)"
std::string Written(const plug::Graph& graph) {
  std::string text;
  for (std::uint32_t i = 0; i < graph.nodes(); ++i) {
    const plug::Node node = graph.node(i);
    text += (text.empty() ? "" : " ") + node.op();
    if (node.body() == nullptr) continue;
    text += "(" + Written(plug::Graph(node.body())) + ")";
  }
  return text;
}

class WeaverDevice final : public plug::Device {
 public:
  TimBuffer* Allocate(std::uint64_t bytes, std::int32_t) override {
    return reinterpret_cast<TimBuffer*>(new Floats(bytes / 4 + 16));
  }
  void Release(TimBuffer* buffer) override {
    delete reinterpret_cast<Floats*>(buffer);
  }
  void CopyIn(const void* host, const TimRange& to) override {
    std::memcpy(At(to), host, to.bytes);
  }
  void CopyOut(const TimRange& from, void* host) override {
    std::memcpy(host, At(from), from.bytes);
  }

  // One claim per node that has a price.
  void Claim(const plug::Graph& graph, TimClaims* claims) override {
    ++g_weaver.claims;
    for (std::uint32_t i = 0; i < graph.nodes(); ++i) {
      const plug::Node node = graph.node(i);
      g_weaver.seen_in_claims.insert(node.op());
      const auto price = g_weaver.prices.find(node.op());
      if (price == g_weaver.prices.end()) continue;
      const TimNode* const claimed = node.get();
      plug::Check(plug::Sinks().claim(claims, &claimed, 1, price->second,
                                      node.op().c_str()),
                  "claim");
      std::vector<std::int32_t> held;
      for (std::uint32_t k = 0; k < node.inputs(); ++k) {
        const std::int32_t value = graph.input_of(node, k);
        if (graph.constant(value).data != nullptr) held.push_back(value);
      }
      if (!g_weaver.holds_constants) continue;
      plug::Check(plug::Sinks().claim_constants(
                      claims, held.data(), static_cast<uint32_t>(held.size())),
                  "claim_constants");
    }
  }

  void Optimize(const plug::Graph& graph, std::int32_t level,
                TimEdits*) override {
    const bool dislikes =
        !g_weaver.dislikes.empty() &&
        Written(graph).find(g_weaver.dislikes + "(") != std::string::npos;
    if (level == 2 && dislikes) {
      throw plug::Error(TIM_UNIMPLEMENTED, "an edit that it cannot make");
    }
  }

  std::unique_ptr<plug::Program> Compile(const plug::Graph& part) override {
    const std::string text = Written(part);
    if (g_weaver.refuses_composites && text.find('(') != std::string::npos) {
      throw plug::Error(TIM_UNIMPLEMENTED, "it was too bold");
    }
    g_weaver.compiled.push_back(text);
    auto program = std::make_unique<WovenProgram>();
    WovenProgram::Places places;
    for (const std::int32_t value : part.inputs()) {
      places[value] = program->places++;
    }
    program->inputs = part.inputs().size();
    program->Add(part, &places);
    for (const std::int32_t value : part.outputs()) {
      program->outputs.push_back(places.at(value));
    }
    return program;
  }

  void Execute(plug::Program& program, const TimRange* inputs, std::uint32_t,
               const TimRange* outputs, std::uint32_t) override {
    const auto& woven = static_cast<const WovenProgram&>(program);
    std::map<int, Floats> values = woven.constants;
    for (size_t i = 0; i < woven.inputs; ++i) {
      values[static_cast<int>(i)] =
          Floats(At(inputs[i]), At(inputs[i]) + inputs[i].bytes / 4);
    }
    for (const WovenProgram::Step& step : woven.steps) {
      Floats result = values.at(step.inputs[0]);
      for (size_t i = 0; i < result.size(); ++i) {
        if (step.op == "tim.Add") result[i] += values.at(step.inputs[1])[i];
        if (step.op == "tim.Relu") result[i] = std::max(result[i], 0.0f);
        if (step.op == "tim.Neg") result[i] = -result[i];
      }
      values[step.output] = std::move(result);
    }
    for (size_t i = 0; i < woven.outputs.size(); ++i) {
      const Floats& result = values.at(woven.outputs[i]);
      std::copy(result.begin(), result.end(), At(outputs[i]));
    }
  }

 private:
  static float* At(const TimRange& range) {
    return reinterpret_cast<Floats*>(range.buffer)->data() + range.offset / 4;
  }
};

struct WeaverTable {
  static const char* Kind() { return "weaver"; }
  static const char* Vendor() { return "tests"; }
  static const char* Version() { return "1"; }
  static bool HasGraphs() { return true; }
  static bool Optimizes() { return true; }
  static void Initialize(const TimOption*, std::uint32_t) {}
  static void Shutdown() {}
  static std::uint32_t DeviceCount() { return 1; }
  static void Describe(std::uint32_t, TimDeviceProps* out) {
    out->score = 1;
    std::snprintf(out->name, sizeof(out->name), "weaver");
    out->memory_bytes = out->max_allocation_bytes = 1 << 20;
    out->alignment = 64;
  }
  static plug::Device* Open(std::uint32_t) { return new WeaverDevice(); }
};

}  // namespace

Weaver& TheWeaver() { return g_weaver; }

const TimPlugin* WeaverPlugin() { return plug::Table<WeaverTable>(); }

}  // namespace tim::testing
