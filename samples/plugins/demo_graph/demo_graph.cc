// A plug-in in C++14 with a compiler of its own: the device "demo_graph:0"
// claims chains of element-wise operators, compiles each to a list of
// instructions, stores it, and runs it in one call.
//
// docs/plugins.md goes through this file part by part.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tim/plugin/plugin.h"

struct TimBuffer {
  std::unique_ptr<float[]> memory;
};

namespace {

using tim::plug::Check;
using tim::plug::Error;
using tim::plug::Graph;
using tim::plug::Node;
using tim::plug::Program;
using tim::plug::Sinks;

constexpr std::int64_t kMostBytes = std::int64_t{1} << 28;

// The option "bake", "0": constants stay inputs of programs.
bool g_bakes = true;

enum class Op : std::int32_t { kRelu, kAdd, kSubtract, kMultiply };

// The operator of a node; false where there is none like it.
bool OpOf(const Node& node, Op* op) {
  static const std::map<std::string, Op> ops = {
      {"tim.Relu", Op::kRelu},
      {"tim.Add", Op::kAdd},
      {"tim.Sub", Op::kSubtract},
      {"tim.Multiply", Op::kMultiply}};
  const auto found = ops.find(node.op());
  if (found == ops.end()) return false;
  *op = found->second;
  return true;
}

std::int64_t Elements(const TimTensorDesc& desc) {
  std::int64_t elements = 1;
  for (std::int32_t i = 0; i < desc.rank; ++i) elements *= desc.dims[i];
  return elements;
}

// result = op(a, b) of registers, all of one size.
struct Instruction {
  Op op;
  std::int32_t a, b, result;
  std::int64_t elements;
};

// Registers are the inputs of the part, then its outputs, then constants and
// what lies between.
class ElementProgram final : public Program {
 public:
  std::int32_t inputs = 0;
  std::int32_t outputs = 0;
  std::vector<Instruction> instructions;
  std::map<std::int32_t, std::vector<float>> constants;  // by register
  std::vector<std::int64_t> sizes;                       // of registers

  std::string Serialize() const override {
    std::string blob = "DEMO1";
    Put(inputs, &blob);
    Put(outputs, &blob);
    PutList(sizes, &blob);
    PutList(instructions, &blob);
    Put(static_cast<std::int64_t>(constants.size()), &blob);
    for (const auto& constant : constants) {
      Put(constant.first, &blob);
      PutList(constant.second, &blob);
    }
    Put(Sum(blob), &blob);
    return blob;
  }

  // Bytes of any content: whatever is relied on is checked.
  static std::unique_ptr<ElementProgram> Load(const std::string& blob) {
    std::uint64_t sum = 0;
    const std::size_t room = blob.size();
    if (room < 5 + sizeof(sum) || blob.compare(0, 5, "DEMO1") != 0) {
      throw Error(TIM_INVALID_ARGUMENT, "no program of this device");
    }
    std::memcpy(&sum, blob.data() + room - sizeof(sum), sizeof(sum));
    const std::string content = blob.substr(0, room - sizeof(sum));
    if (Sum(content) != sum) {
      throw Error(TIM_INVALID_ARGUMENT, "a program that was changed");
    }
    std::unique_ptr<ElementProgram> program(new ElementProgram());
    std::size_t at = 5;
    std::int64_t count = 0;
    Take(content, &at, &program->inputs);
    Take(content, &at, &program->outputs);
    TakeList(content, &at, &program->sizes);
    TakeList(content, &at, &program->instructions);
    Take(content, &at, &count);
    for (std::int64_t i = 0; i < count; ++i) {
      std::int32_t at_register = 0;
      Take(content, &at, &at_register);
      TakeList(content, &at, &program->constants[at_register]);
    }
    return program;
  }

 private:
  static std::uint64_t Sum(const std::string& bytes) {
    std::uint64_t sum = 14695981039346656037u;
    for (const char c : bytes) {
      sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211u;
    }
    return sum;
  }
  template <typename T>
  static void Put(const T& value, std::string* blob) {
    blob->append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  template <typename T>
  static void PutList(const std::vector<T>& list, std::string* blob) {
    Put(static_cast<std::int64_t>(list.size()), blob);
    blob->append(reinterpret_cast<const char*>(list.data()),
                 list.size() * sizeof(T));
  }
  template <typename T>
  static void Take(const std::string& blob, std::size_t* at, T* value) {
    if (blob.size() - *at < sizeof(T)) {
      throw Error(TIM_INVALID_ARGUMENT, "a program that was cut");
    }
    std::memcpy(value, blob.data() + *at, sizeof(T));
    *at += sizeof(T);
  }
  template <typename T>
  static void TakeList(const std::string& blob, std::size_t* at,
                       std::vector<T>* list) {
    std::int64_t count = 0;
    Take(blob, at, &count);
    const std::size_t left = (blob.size() - *at) / sizeof(T);
    if (count < 0 || static_cast<std::uint64_t>(count) > left) {
      throw Error(TIM_INVALID_ARGUMENT, "a program that was cut");
    }
    list->resize(static_cast<std::size_t>(count));
    if (count > 0) {
      std::memcpy(list->data(), blob.data() + *at, list->size() * sizeof(T));
    }
    *at += list->size() * sizeof(T);
  }
};

class DemoGraph final : public tim::plug::Device {
 public:
  TimBuffer* Allocate(std::uint64_t bytes, std::int32_t) override {
    if (bytes > kMostBytes) {
      throw Error(TIM_OUT_OF_MEMORY, "a buffer has at most 256 MiB");
    }
    std::unique_ptr<TimBuffer> buffer(new TimBuffer());
    buffer->memory.reset(new float[bytes / sizeof(float) + 16]);
    return buffer.release();
  }
  void Release(TimBuffer* buffer) override { delete buffer; }
  void CopyIn(const void* host, const TimRange& to) override {
    std::memcpy(At(to), host, static_cast<std::size_t>(to.bytes));
  }
  void CopyOut(const TimRange& from, void* host) override {
    std::memcpy(host, At(from), static_cast<std::size_t>(from.bytes));
  }

  // Everything that it can do, as one set: the library divides it into parts
  // that can run as one, and decides which are worth it.
  void Claim(const Graph& graph, TimClaims* claims) override {
    std::vector<const TimNode*> nodes;
    std::vector<std::int32_t> constants;
    for (std::uint32_t i = 0; i < graph.nodes(); ++i) {
      const Node node = graph.node(i);
      const std::string reason = Refusal(node);
      if (!reason.empty()) {
        Sinks().refuse(claims, node.get(), reason.c_str());
        continue;
      }
      nodes.push_back(node.get());
      for (std::uint32_t k = 0; k < node.inputs(); ++k) {
        const std::int32_t value = graph.input_of(node, k);
        if (graph.constant(value).data == nullptr || !g_bakes) continue;
        constants.push_back(value);
      }
    }
    if (nodes.empty()) return;
    Check(Sinks().claim(claims, nodes.data(),
                        static_cast<std::uint32_t>(nodes.size()),
                        static_cast<double>(nodes.size()), "elements"),
          "claim");
    Check(Sinks().claim_constants(claims, constants.data(),
                                  static_cast<std::uint32_t>(constants.size())),
          "claim_constants");
  }

  std::unique_ptr<Program> Compile(const Graph& part) override {
    std::unique_ptr<ElementProgram> program(new ElementProgram());
    std::map<std::int32_t, std::int32_t> registers;
    const auto add = [&](std::int32_t value) {
      const auto added =
          registers.emplace(value, static_cast<std::int32_t>(registers.size()));
      if (added.second) {
        program->sizes.push_back(Elements(*part.value(value)));
      }
      return added.first->second;
    };
    for (const std::int32_t value : part.inputs()) add(value);
    for (const std::int32_t value : part.outputs()) add(value);
    program->inputs = static_cast<std::int32_t>(part.inputs().size());
    program->outputs = static_cast<std::int32_t>(part.outputs().size());
    for (std::uint32_t i = 0; i < part.nodes(); ++i) {
      const Node node = part.node(i);
      Op op;
      if (!Refusal(node).empty() || !OpOf(node, &op)) {
        throw Error(TIM_UNIMPLEMENTED, "the part has " + node.op());
      }
      std::int32_t operands[2] = {0, 0};
      for (std::uint32_t k = 0; k < node.inputs(); ++k) {
        const std::int32_t value = part.input_of(node, k);
        operands[k] = add(value);
        const TimBytes bytes = part.constant(value);
        if (bytes.data == nullptr) continue;
        const float* const floats = static_cast<const float*>(bytes.data);
        program->constants[operands[k]].assign(
            floats, floats + bytes.bytes / sizeof(float));
      }
      const std::int32_t result = add(part.output_of(node, 0));
      program->instructions.push_back(
          {op, operands[0], operands[1], result, Elements(*node.output(0))});
    }
    return program;
  }

  std::unique_ptr<Program> LoadProgram(const void* data,
                                       std::uint64_t bytes) override {
    return ElementProgram::Load(std::string(static_cast<const char*>(data),
                                            static_cast<std::size_t>(bytes)));
  }

  void Execute(Program& program, const TimRange* inputs, std::uint32_t,
               const TimRange* outputs, std::uint32_t) override {
    const auto& own = static_cast<const ElementProgram&>(program);
    std::vector<std::vector<float>> between(own.sizes.size());
    std::vector<const float*> from(own.sizes.size());
    std::vector<float*> to(own.sizes.size());
    for (std::size_t i = 0; i < own.sizes.size(); ++i) {
      const std::size_t output = i - static_cast<std::size_t>(own.inputs);
      const auto constant = own.constants.find(static_cast<std::int32_t>(i));
      if (i < static_cast<std::size_t>(own.inputs)) {
        from[i] = At(inputs[i]);
      } else if (output < static_cast<std::size_t>(own.outputs)) {
        from[i] = to[i] = At(outputs[output]);
      } else if (constant != own.constants.end()) {
        from[i] = constant->second.data();
      } else {
        between[i].resize(static_cast<std::size_t>(own.sizes[i]));
        from[i] = to[i] = between[i].data();
      }
    }
    for (const Instruction& one : own.instructions) {
      Run(one, from[static_cast<std::size_t>(one.a)],
          from[static_cast<std::size_t>(one.b)],
          to[static_cast<std::size_t>(one.result)]);
    }
  }

  // The second of two Relus that follow one another does nothing.
  void Optimize(const Graph& graph, std::int32_t, TimEdits* edits) override {
    std::map<std::int32_t, std::int32_t> relus;  // results and what they are of
    for (std::uint32_t i = 0; i < graph.nodes(); ++i) {
      const Node node = graph.node(i);
      if (node.op() != "tim.Relu") continue;
      const std::int32_t from = graph.input_of(node, 0);
      const std::int32_t to = graph.output_of(node, 0);
      if (relus.count(from) == 0) {
        relus[to] = from;
        continue;
      }
      Check(Sinks().replace_uses(edits, to, from), "replace_uses");
      Check(Sinks().remove_node(edits, node.get()), "remove_node");
    }
  }

 private:
  static float* At(const TimRange& range) {
    return range.buffer->memory.get() + range.offset / sizeof(float);
  }

  // The reason why it does not take a node; empty: it does.
  static std::string Refusal(const Node& node) {
    Op op;
    if (!OpOf(node, &op)) return "it computes element by element only";
    const TimTensorDesc* const out = node.output(0);
    for (std::uint32_t i = 0; i < node.inputs(); ++i) {
      const TimTensorDesc* const in = node.input(i);
      if (in == nullptr || in->type != TIM_TYPE_FLOAT32 ||
          out->type != TIM_TYPE_FLOAT32) {
        return "it takes float32 only";
      }
      if (Elements(*in) != Elements(*out)) return "it does not broadcast";
    }
    if (op == Op::kMultiply && node.Float("scale", 1) != 1) {
      return "it does not scale products";
    }
    return "";
  }

  static void Run(const Instruction& one, const float* a, const float* b,
                  float* result) {
    for (std::int64_t i = 0; i < one.elements; ++i) {
      switch (one.op) {
        case Op::kRelu:
          result[i] = a[i] > 0 ? a[i] : 0;
          break;
        case Op::kAdd:
          result[i] = a[i] + b[i];
          break;
        case Op::kSubtract:
          result[i] = a[i] - b[i];
          break;
        case Op::kMultiply:
          result[i] = a[i] * b[i];
          break;
      }
    }
  }
};

struct Plugin {
  static const char* Kind() { return "demo_graph"; }
  static const char* Vendor() { return "TIM-CL samples"; }
  static const char* Version() { return "1.0"; }
  static bool HasGraphs() { return true; }
  static bool Optimizes() { return true; }
  static void Initialize(const TimOption* options, std::uint32_t count) {
    g_bakes = true;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (std::strcmp(options[i].key, "bake") != 0) continue;
      g_bakes = std::strcmp(options[i].value, "0") != 0;
    }
  }
  static void Shutdown() {}
  static std::uint32_t DeviceCount() { return 1; }
  static void Describe(std::uint32_t, TimDeviceProps* out) {
    out->score = 20;
    out->device_class = TIM_CLASS_ACCELERATOR;
    std::snprintf(out->name, sizeof(out->name), "demo graph device");
    std::snprintf(out->vendor, sizeof(out->vendor), "TIM-CL samples");
    std::snprintf(out->driver, sizeof(out->driver), "1");
    std::snprintf(out->compatibility, sizeof(out->compatibility), "DEMO1");
    out->compute_units = 1;
    out->memory_bytes = std::int64_t{1} << 30;
    out->max_allocation_bytes = kMostBytes;
    out->alignment = 64;
    out->gflops = 1;
    out->gbytes_per_second = 5;
  }
  static tim::plug::Device* Open(std::uint32_t) { return new DemoGraph(); }
};

}  // namespace

TIM_PLUG(Plugin)
