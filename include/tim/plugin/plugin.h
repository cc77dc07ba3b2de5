// Plug-ins in C++: tables made of classes, and exceptions made to codes.
//
// A vendor derives from plug::Device (and plug::GraphCompiler), and writes
//
//   TIM_PLUG(MyPlugin)
//
// where MyPlugin names its kind and makes devices.  Everything is in this
// header; the standard library of the plug-in may be another one than the
// host's.  tim/plugin/tim_plugin.h has the rules, of threads and owners too.
#ifndef TIM_PLUGIN_PLUGIN_H_
#define TIM_PLUGIN_PLUGIN_H_

#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tim/plugin/tim_plugin.h"

namespace tim {
namespace plug {

/// A failure with a code.
class Error : public std::runtime_error {
 public:
  Error(TimCode code, const std::string& text)
      : std::runtime_error(text), code_(code) {}
  TimCode code() const { return code_; }

 private:
  TimCode code_;
};

/// Tables that the host offers; set before initialize() of the plug-in is
/// called.
inline const TimHost*& HostTable() {
  static const TimHost* host = nullptr;
  return host;
}
inline const TimViewFns& Views() { return *HostTable()->views; }
inline const TimSinkFns& Sinks() { return *HostTable()->sinks; }

/// Throws where a function of the host failed.
inline void Check(TimCode code, const char* what) {
  if (code != TIM_OK) throw Error(code, what);
}

/// The text of a failure, cut to fit.
inline TimCode Tell(TimMessage* message, TimCode code, const char* text) {
  const std::size_t room = message->capacity - 1;
  const std::size_t length =
      std::strlen(text) < room ? std::strlen(text) : room;
  std::memcpy(message->text, text, length);
  message->text[length] = 0;
  return code;
}

/// Calls `body`; what it throws becomes a code and a message.
template <typename Body>
TimCode Guard(TimMessage* message, const Body& body) noexcept {
  try {
    body();
    return TIM_OK;
  } catch (const Error& error) {
    return Tell(message, error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return Tell(message, TIM_OUT_OF_MEMORY, "no memory of the host");
  } catch (const std::exception& error) {
    return Tell(message, TIM_INTERNAL_ERROR, error.what());
  } catch (...) {
    return Tell(message, TIM_INTERNAL_ERROR, "an exception of another kind");
  }
}
/// The same of a function that cannot tell.
template <typename Body>
void Quiet(const Body& body) noexcept {
  try {
    body();
  } catch (...) {
  }
}

/// A node of a graph; valid during the call that got it.
class Node {
 public:
  explicit Node(const TimNode* node) : node_(node) {}

  const TimNode* get() const { return node_; }
  std::string op() const { return Views().op(node_); }
  std::string name() const { return Views().name(node_); }
  std::uint32_t inputs() const { return Views().input_count(node_); }
  std::uint32_t outputs() const { return Views().output_count(node_); }
  /// Null: absent.
  const TimTensorDesc* input(std::uint32_t index) const {
    return Views().input(node_, index);
  }
  const TimTensorDesc* output(std::uint32_t index) const {
    return Views().output(node_, index);
  }
  bool fused() const { return Views().epilogue_count(node_) > 0; }
  /// The graph that a composite consists of; null: it is none.
  const TimGraph* body() const { return Views().body(node_); }

  std::int64_t Int(const char* attribute, std::int64_t otherwise) const {
    TimAttribute value = Find(attribute);
    return value.type == TIM_ATTRIBUTE_INT || value.type == TIM_ATTRIBUTE_BOOL
               ? value.int_value
               : otherwise;
  }
  double Float(const char* attribute, double otherwise) const {
    TimAttribute value = Find(attribute);
    return value.type == TIM_ATTRIBUTE_FLOAT ? value.float_value : otherwise;
  }
  std::string Text(const char* attribute, const std::string& otherwise) const {
    TimAttribute value = Find(attribute);
    return value.type == TIM_ATTRIBUTE_STRING ? std::string(value.string_value)
                                              : otherwise;
  }
  /// Empty where there is none of the name and type.
  std::vector<std::int64_t> Ints(const char* attribute) const {
    TimAttribute value = Find(attribute);
    if (value.type != TIM_ATTRIBUTE_INTS) return {};
    return std::vector<std::int64_t>(value.ints, value.ints + value.count);
  }

 private:
  TimAttribute Find(const char* name) const {
    TimAttribute value = TimAttribute();
    value.struct_size = TIM_SIZE_THROUGH(TimAttribute, graph);
    value.type = -1;
    if (Views().attribute(node_, name, &value) != TIM_OK) value.type = -1;
    return value;
  }

  const TimNode* node_;
};

/// A graph; valid during the call that got it.
class Graph {
 public:
  explicit Graph(const TimGraph* graph) : graph_(graph) {}

  const TimGraph* get() const { return graph_; }
  std::uint32_t nodes() const { return Views().node_count(graph_); }
  /// Nodes come in topological order.
  Node node(std::uint32_t index) const {
    return Node(Views().node(graph_, index));
  }
  /// Numbers of values, -1: absent.
  std::int32_t input_of(const Node& node, std::uint32_t index) const {
    return Views().input_value(graph_, node.get(), index);
  }
  std::int32_t output_of(const Node& node, std::uint32_t index) const {
    return Views().output_value(graph_, node.get(), index);
  }
  std::vector<std::int32_t> inputs() const {
    std::vector<std::int32_t> values;
    for (std::uint32_t i = 0; i < Views().graph_input_count(graph_); ++i) {
      values.push_back(Views().graph_input(graph_, i));
    }
    return values;
  }
  std::vector<std::int32_t> outputs() const {
    std::vector<std::int32_t> values;
    for (std::uint32_t i = 0; i < Views().graph_output_count(graph_); ++i) {
      values.push_back(Views().graph_output(graph_, i));
    }
    return values;
  }
  const TimTensorDesc* value(std::int32_t id) const {
    return Views().value(graph_, id);
  }
  /// The bytes of a constant, dense; null data: it is none.
  TimBytes constant(std::int32_t id) const {
    TimBytes bytes = {nullptr, 0};
    std::uint64_t hash[2];
    if (Views().value_constant(graph_, id, &bytes, hash) != TIM_OK) {
      bytes = {nullptr, 0};
    }
    return bytes;
  }
  std::uint64_t bytes(std::int32_t id) const {
    return Views().byte_size(value(id));
  }

 private:
  const TimGraph* graph_;
};

/// A part that was compiled.
class Program {
 public:
  virtual ~Program() {}
  /// Bytes that LoadProgram() takes; empty: it is not stored.
  virtual std::string Serialize() const { return ""; }
};

/// A device in single-stream mode: calls come one at a time, on a thread of the
/// host's, and have finished when they return.  All failures are thrown.
class Device {
 public:
  virtual ~Device() {}
  virtual TimBuffer* Allocate(std::uint64_t bytes, std::int32_t memory) = 0;
  virtual void Release(TimBuffer* buffer) = 0;
  virtual void CopyIn(const void* host, const TimRange& to) = 0;
  virtual void CopyOut(const TimRange& from, void* host) = 0;

  /// Called where SharesHostMemory() is true: a buffer in memory that outlives
  /// it, and the address of any buffer.
  virtual TimBuffer* ImportHost(void* /*memory*/, std::uint64_t /*bytes*/) {
    throw Error(TIM_UNIMPLEMENTED, "the device has memory of its own");
  }
  virtual void* HostAddress(TimBuffer*) { return nullptr; }
  /// The device as functions of the host know it.
  TimDevice* handle() { return reinterpret_cast<TimDevice*>(this); }

  /// Devices with a compiler of their own claim nodes by
  /// Sinks().claim(), and says of others why not by Sinks().refuse().
  virtual void Claim(const Graph&, TimClaims*) {}
  virtual std::unique_ptr<Program> Compile(const Graph&) {
    throw Error(TIM_UNIMPLEMENTED, "the device compiles no parts");
  }
  virtual std::unique_ptr<Program> LoadProgram(const void* /*data*/,
                                               std::uint64_t /*bytes*/) {
    throw Error(TIM_UNIMPLEMENTED, "the device stores no parts");
  }
  virtual void Execute(Program&, const TimRange* /*inputs*/,
                       std::uint32_t /*input_count*/,
                       const TimRange* /*outputs*/,
                       std::uint32_t /*output_count*/) {
    throw Error(TIM_UNIMPLEMENTED, "the device runs no parts");
  }
  virtual void Optimize(const Graph&, std::int32_t /*level*/, TimEdits*) {}
};

namespace internal {

inline Device& Of(TimDevice* device) {
  return *reinterpret_cast<Device*>(device);
}
inline Program* Of(TimProgram* program) {
  return reinterpret_cast<Program*>(program);
}

inline const TimDeviceFns* DeviceFns() {
  static const TimDeviceFns fns = [] {
    TimDeviceFns f = TimDeviceFns();
    f.struct_size = TIM_SIZE_THROUGH(TimDeviceFns, native_handle);
    f.allocate = [](TimDevice* device, std::uint64_t bytes, std::int32_t memory,
                    TimBuffer** out, TimMessage* m) {
      return Guard(m, [&] { *out = Of(device).Allocate(bytes, memory); });
    };
    f.release = [](TimDevice* device, TimBuffer* buffer) {
      Quiet([&] { Of(device).Release(buffer); });
    };
    f.copy_in = [](TimDevice* device, TimStream*, const void* host, TimRange to,
                   TimMessage* m) {
      return Guard(m, [&] { Of(device).CopyIn(host, to); });
    };
    f.copy_out = [](TimDevice* device, TimStream*, TimRange from, void* host,
                    TimMessage* m) {
      return Guard(m, [&] { Of(device).CopyOut(from, host); });
    };
    return f;
  }();
  return &fns;
}

/// Functions of devices that work in the host's memory.
inline const TimDeviceFns* HostMemoryDeviceFns() {
  static const TimDeviceFns fns = [] {
    TimDeviceFns f = *DeviceFns();
    f.import_host = [](TimDevice* device, void* memory, std::uint64_t bytes,
                       TimBuffer** out, TimMessage* m) {
      return Guard(m, [&] { *out = Of(device).ImportHost(memory, bytes); });
    };
    f.host_address = [](TimDevice* device, TimBuffer* buffer) {
      void* address = nullptr;
      Quiet([&] { address = Of(device).HostAddress(buffer); });
      return address;
    };
    return f;
  }();
  return &fns;
}

/// The plug-in's SharesHostMemory(), or false where it has none.
template <typename Plugin>
auto SharesHostMemory(int) -> decltype(Plugin::SharesHostMemory()) {
  return Plugin::SharesHostMemory();
}
template <typename Plugin>
bool SharesHostMemory(long) {
  return false;
}

inline const TimGraphFns* GraphFns() {
  static const TimGraphFns fns = [] {
    TimGraphFns f = TimGraphFns();
    f.struct_size = TIM_SIZE_THROUGH(TimGraphFns, optimize);
    f.claim = [](TimDevice* device, const TimGraph* graph, TimClaims* claims,
                 TimMessage* m) {
      return Guard(m, [&] { Of(device).Claim(Graph(graph), claims); });
    };
    f.compile = [](TimDevice* device, const TimGraph* part, const TimOption*,
                   std::uint32_t, TimProgram** out, TimMessage* m) {
      return Guard(m, [&] {
        *out = reinterpret_cast<TimProgram*>(
            Of(device).Compile(Graph(part)).release());
      });
    };
    f.serialize = [](TimDevice*, TimProgram* program,
                     void (*receive)(void*, const void*, std::uint64_t),
                     void* state, TimMessage* m) {
      return Guard(m, [&] {
        const std::string blob = Of(program)->Serialize();
        if (blob.empty()) throw Error(TIM_UNIMPLEMENTED, "it is not stored");
        receive(state, blob.data(), blob.size());
      });
    };
    f.load = [](TimDevice* device, TimBytes blob, TimProgram** out,
                TimMessage* m) {
      return Guard(m, [&] {
        *out = reinterpret_cast<TimProgram*>(
            Of(device).LoadProgram(blob.data, blob.bytes).release());
      });
    };
    f.drop_program = [](TimDevice*, TimProgram* program) {
      Quiet([&] { delete Of(program); });
    };
    // A program has no memory of its own: it is what is prepared.
    f.prepare = [](TimDevice*, TimProgram* program, TimPrepared** out,
                   TimMessage*) {
      *out = reinterpret_cast<TimPrepared*>(program);
      return static_cast<TimCode>(TIM_OK);
    };
    f.drop_prepared = [](TimDevice*, TimPrepared*) {};
    f.execute = [](TimDevice* device, TimStream*, TimPrepared* prepared,
                   const TimRange* inputs, std::uint32_t input_count,
                   const TimRange* outputs, std::uint32_t output_count,
                   TimMessage* m) {
      return Guard(m, [&] {
        Of(device).Execute(*reinterpret_cast<Program*>(prepared), inputs,
                           input_count, outputs, output_count);
      });
    };
    f.optimize = [](TimDevice* device, const TimGraph* graph,
                    std::int32_t level, TimEdits* edits, TimMessage* m) {
      return Guard(m, [&] { Of(device).Optimize(Graph(graph), level, edits); });
    };
    return f;
  }();
  return &fns;
}

}  // namespace internal

/// The table of a plug-in class with these static members:
///   const char* Kind(), Vendor(), Version();
///   bool HasGraphs();  // its devices claim parts,
///   bool Optimizes();  // and edit them before
///   void Initialize(const TimOption* options, uint32_t count);  // throws
///   void Shutdown();
///   uint32_t DeviceCount();
///   void Describe(uint32_t index, TimDeviceProps* out);        // throws
///   plug::Device* Open(uint32_t index);                        // throws
/// and, where its devices work in the host's memory, which they then import,
///   bool SharesHostMemory();
/// Kernels and operators are tables of the C header: pass them on.
template <typename Plugin>
const TimPlugin* Table(const TimKernelFns* kernels = nullptr,
                       const TimOpFns* ops = nullptr) {
  static const TimPlugin table = [&] {
    TimPlugin t = TimPlugin();
    t.struct_size = TIM_SIZE_THROUGH(TimPlugin, ops);
    t.abi_major = TIM_ABI_MAJOR;
    t.abi_minor = TIM_ABI_MINOR;
    t.kind = Plugin::Kind();
    t.vendor = Plugin::Vendor();
    t.version = Plugin::Version();
    t.initialize = [](const TimHost* host, const TimOption* options,
                      std::uint32_t count, TimMessage* m) {
      HostTable() = host;
      return Guard(m, [&] { Plugin::Initialize(options, count); });
    };
    t.shutdown = [] { Quiet([] { Plugin::Shutdown(); }); };
    t.device_count = []() -> std::uint32_t { return Plugin::DeviceCount(); };
    t.describe = [](std::uint32_t index, TimDeviceProps* out, TimMessage* m) {
      return Guard(m, [&] { Plugin::Describe(index, out); });
    };
    t.open = [](std::uint32_t index, TimDevice** out, TimMessage* m) {
      return Guard(m, [&] {
        Device* const device = Plugin::Open(index);
        *out = reinterpret_cast<TimDevice*>(device);
      });
    };
    t.close = [](TimDevice* device) {
      Quiet([&] { delete &internal::Of(device); });
    };
    t.device = internal::SharesHostMemory<Plugin>(0)
                   ? internal::HostMemoryDeviceFns()
                   : internal::DeviceFns();
    t.kernels = kernels;
    static TimGraphFns graphs = *internal::GraphFns();
    if (!Plugin::Optimizes()) graphs.optimize = nullptr;
    t.graphs = Plugin::HasGraphs() ? &graphs : nullptr;
    t.ops = ops;
    return t;
  }();
  return &table;
}

}  // namespace plug
}  // namespace tim

/// Exports a plug-in class.
#define TIM_PLUG(Plugin) TIM_PLUG_WITH(Plugin, nullptr, nullptr)
/// The same with kernels and operators, tables of the C header or nullptr.
#define TIM_PLUG_WITH(Plugin, kernels, ops)                                  \
  extern "C" TIM_PLUGIN_EXPORT const TimPlugin* TimPluginGet(                \
      std::uint16_t major, std::uint16_t) {                                  \
    return major == TIM_ABI_MAJOR ? ::tim::plug::Table<Plugin>(kernels, ops) \
                                  : nullptr;                                 \
  }

#endif  // TIM_PLUGIN_PLUGIN_H_
