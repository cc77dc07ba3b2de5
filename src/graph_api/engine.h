// Engines: a kind of memory, and the devices that compute behind it.
#ifndef TIM_GRAPH_API_ENGINE_H_
#define TIM_GRAPH_API_ENGINE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "device/device.h"
#include "graph_api/allocator.h"
#include "graph_api/client_held.h"
#include "graph_api/engine_programs.h"
#include "runtime/ready_graph.h"
#include "tim/graph/c.h"

namespace tim::graph {

/// Families of devices that understand each other's opaque layouts.
enum class DeviceFamily : uint8_t { kHost = 1, kOpenCl = 2 };

/// Parts of an engine.
struct EngineParts {
  tim_graph_engine_kind_t kind = tim_graph_cpu;
  device::Devices devices;  ///< The first is the host, the last one computes.
  std::shared_ptr<const Allocator> allocator;
  std::shared_ptr<EnginePrograms> programs;
  /// A cpu engine whose client has named the device that computes.
  bool offloaded = false;
};

/// A cpu engine's tensors are host memory, a gpu engine's are memory of its
/// device.  Does not change; any thread.
class Engine {
 public:
  explicit Engine(EngineParts parts);
  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  tim_graph_engine_kind_t kind() const { return parts_.kind; }
  const device::Devices& devices() const { return parts_.devices; }
  const std::shared_ptr<device::Device>& device() const {
    return parts_.devices.back();
  }
  DeviceFamily family() const;
  const std::shared_ptr<const Allocator>& allocator() const {
    return parts_.allocator;
  }
  EnginePrograms& programs() const { return *parts_.programs; }
  bool offloaded() const { return parts_.offloaded; }
  /// Surroundings that its plans are prepared with.
  runtime::Surroundings surroundings() const;
  /// Never given twice in a process, unlike addresses.
  uint64_t number() const { return number_; }

 private:
  const EngineParts parts_;
  const uint64_t number_;
};

/// How many engines of the kind there are.
size_t CountEngines(tim_graph_engine_kind_t kind);

/// kInvalidArgument for the kind `any`, an index beyond the last engine, and a
/// device that is not there.
/// \param allocator null: the kind's own.
/// \param offload name of the device that a cpu engine computes on; empty: what
/// TIMCL_GRAPH_OFFLOAD names, else the CPU.
Result<EngineParts> SelectEngine(tim_graph_engine_kind_t kind, size_t index,
                                 std::shared_ptr<const Allocator> allocator,
                                 const std::string& offload = {});

/// A store for the programs of an engine of `device`: the user's cache of built
/// programs.
std::shared_ptr<EnginePrograms> ProgramsFor(const device::Device& device);

}  // namespace tim::graph

/// Engines are objects of clients, never others.
struct tim_graph_engine final : tim::graph::Engine,
                                tim::graph::ClientHeld<tim_graph_engine> {
  using Engine::Engine;
};

#endif  // TIM_GRAPH_API_ENGINE_H_
