// A plug-in on oneDNN, a library of primitives for CPUs: the device "onednn:0"
// claims what oneDNN computes in float32, compiles it to primitives whose
// formats oneDNN chooses, and runs them on its threads.
//
// README.md says what it takes, and how it is built and measured.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "operators.h"

// Functions of OpenMP, with which Debian's library is built: the threads that
// parallel regions of the calling thread have.
extern "C" void omp_set_num_threads(int threads);
extern "C" int omp_get_max_threads(void);

struct TimBuffer {
  tim::onednn::Bytes own;
  void* address = nullptr;
};

namespace {

using tim::onednn::Bytes;
using tim::onednn::Part;
using tim::plug::Check;
using tim::plug::Error;
using tim::plug::Graph;
using tim::plug::Node;
using tim::plug::Program;
using tim::plug::Sinks;
using tim::plug::Views;

// Figures for predictions: what of a core's greatest speed primitives reach,
// its clock, what a core reads in a second, and the time of a call.
constexpr double kEfficiency = 0.5;
constexpr double kGigahertz = 2.5;
constexpr double kGigabytesPerSecond = 10;
constexpr double kStepMicroseconds = 3;

// 0: those that OpenMP would have.
int g_threads = 0;

int Threads() { return g_threads > 0 ? g_threads : omp_get_max_threads(); }

// Threads are a property of the calling thread.
void UseThreads() {
  if (g_threads > 0) omp_set_num_threads(g_threads);
}

bool Has(dnnl::cpu_isa isa) {
  const auto wanted = static_cast<unsigned>(isa);
  return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & wanted) ==
         wanted;
}

// Operations that a core does per cycle: two units that multiply and add.
double FlopsPerCycle() {
  if (Has(dnnl::cpu_isa::avx512_core)) return 64;
  if (Has(dnnl::cpu_isa::avx2)) return 32;
  return Has(dnnl::cpu_isa::avx) ? 16 : 8;
}

double Gflops() { return Threads() * kGigahertz * FlopsPerCycle(); }

double MicrosecondsOf(const Node& node) {
  double flops = 0;
  double read = 0;
  double written = 0;
  Views().estimate(node.get(), &flops, &read, &written);
  return kStepMicroseconds + flops / (Gflops() * kEfficiency * 1e3) +
         (read + written) / (kGigabytesPerSecond * 1e3);
}

std::int64_t MemoryBytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long size = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || size <= 0) return std::int64_t{1} << 30;
  return static_cast<std::int64_t>(pages) * size;
}

// A workspace of the device's pool, as long as a run lasts.
class Workspace {
 public:
  Workspace(TimDevice* device, std::size_t bytes) : device_(device) {
    if (bytes == 0) return;
    std::vector<char> room(1024, 0);
    TimMessage message = {TIM_SIZE_THROUGH(TimMessage, text), 1024,
                          room.data()};
    const TimCode code =
        tim::plug::HostTable()->pool_allocate(device, bytes, &range_, &message);
    if (code != TIM_OK) throw Error(code, room.data());
  }
  ~Workspace() {
    if (range_.buffer == nullptr) return;
    tim::plug::HostTable()->pool_release(device_, &range_, nullptr);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  const TimRange& range() const { return range_; }

 private:
  TimDevice* const device_;
  TimRange range_ = {nullptr, 0, 0};
};

class OneDnn final : public tim::plug::Device {
 public:
  TimBuffer* Allocate(std::uint64_t bytes, std::int32_t) override {
    if (bytes > static_cast<std::uint64_t>(MemoryBytes())) {
      throw Error(TIM_OUT_OF_MEMORY, "a buffer of " + std::to_string(bytes) +
                                         " bytes exceeds the machine's memory");
    }
    std::unique_ptr<TimBuffer> buffer(new TimBuffer());
    buffer->own = Bytes(static_cast<std::size_t>(bytes));
    buffer->address = buffer->own.data();
    return buffer.release();
  }
  TimBuffer* ImportHost(void* memory, std::uint64_t) override {
    std::unique_ptr<TimBuffer> buffer(new TimBuffer());
    buffer->address = memory;
    return buffer.release();
  }
  void* HostAddress(TimBuffer* buffer) override { return buffer->address; }
  void Release(TimBuffer* buffer) override { delete buffer; }
  void CopyIn(const void* host, const TimRange& to) override {
    std::memcpy(At(to), host, static_cast<std::size_t>(to.bytes));
  }
  void CopyOut(const TimRange& from, void* host) override {
    std::memcpy(host, At(from), static_cast<std::size_t>(from.bytes));
  }

  // All that it takes, as one set, with the constants of it.
  void Claim(const Graph& graph, TimClaims* claims) override {
    std::vector<const TimNode*> nodes;
    std::vector<std::int32_t> constants;
    double microseconds = 0;
    for (std::uint32_t i = 0; i < graph.nodes(); ++i) {
      const Node node = graph.node(i);
      const std::string reason = tim::onednn::RefusalOf(node);
      if (!reason.empty()) {
        Sinks().refuse(claims, node.get(), reason.c_str());
        continue;
      }
      nodes.push_back(node.get());
      microseconds += MicrosecondsOf(node);
      for (std::uint32_t k = 0; k < node.inputs(); ++k) {
        const std::int32_t value = graph.input_of(node, k);
        if (value < 0 || graph.constant(value).data == nullptr) continue;
        constants.push_back(value);
      }
    }
    if (nodes.empty()) return;
    Check(Sinks().claim(claims, nodes.data(),
                        static_cast<std::uint32_t>(nodes.size()), microseconds,
                        "primitives"),
          "claim");
    Check(Sinks().claim_constants(claims, constants.data(),
                                  static_cast<std::uint32_t>(constants.size())),
          "claim_constants");
  }

  std::unique_ptr<Program> Compile(const Graph& graph) override {
    UseThreads();
    dnnl::stream stream(engine_);
    return tim::onednn::PartBuilder(engine_, stream, graph).Build();
  }

  void Execute(Program& program, const TimRange* inputs,
               std::uint32_t input_count, const TimRange* outputs,
               std::uint32_t output_count) override {
    UseThreads();
    Part& part = static_cast<Part&>(program);
    const Workspace workspace(handle(), part.workspace_bytes());
    const auto addresses = [](const TimRange* ranges, std::uint32_t count) {
      std::vector<void*> list;
      for (std::uint32_t i = 0; i < count; ++i) list.push_back(At(ranges[i]));
      return list;
    };
    part.Run(stream_, addresses(inputs, input_count),
             addresses(outputs, output_count),
             part.workspace_bytes() == 0 ? nullptr : At(workspace.range()));
  }

 private:
  static void* At(const TimRange& range) {
    return static_cast<char*>(range.buffer->address) + range.offset;
  }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
};

// The number of threads that an option asks for.
int ThreadsOf(const std::string& value) {
  char* end = nullptr;
  const long threads = std::strtol(value.c_str(), &end, 10);
  if (value.empty() || *end != 0 || threads < 0 || threads > 1024) {
    throw Error(TIM_INVALID_ARGUMENT, "threads is '" + value +
                                          "', not a number from 0 (those of "
                                          "OpenMP) to 1024");
  }
  return static_cast<int>(threads);
}

struct Plugin {
  static const char* Kind() { return "onednn"; }
  static const char* Vendor() { return "TIM-CL samples"; }
  static const char* Version() { return "1.0"; }
  static bool HasGraphs() { return true; }
  static bool Optimizes() { return false; }
  static bool SharesHostMemory() { return true; }
  // The library takes min_nodes.
  static void Initialize(const TimOption* options, std::uint32_t count) {
    g_threads = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::string key = options[i].key;
      if (key == "threads") {
        g_threads = ThreadsOf(options[i].value);
      } else if (key != "min_nodes") {
        throw Error(TIM_INVALID_ARGUMENT,
                    "there is no option '" + key +
                        "'; there are threads and min_nodes");
      }
    }
  }
  static void Shutdown() {}
  static std::uint32_t DeviceCount() { return 1; }
  static void Describe(std::uint32_t, TimDeviceProps* out) {
    const dnnl_version_t& version = *dnnl::version();
    out->score = 45;
    out->device_class = TIM_CLASS_CPU;
    out->flags = TIM_DEVICE_UNIFIED_MEMORY;
    std::snprintf(out->name, sizeof(out->name), "oneDNN on CPU");
    std::snprintf(out->vendor, sizeof(out->vendor), "oneAPI");
    std::snprintf(out->driver, sizeof(out->driver), "%d.%d.%d", version.major,
                  version.minor, version.patch);
    std::snprintf(out->compatibility, sizeof(out->compatibility), "isa %x",
                  static_cast<unsigned>(dnnl::get_effective_cpu_isa()));
    out->compute_units = Threads();
    out->memory_bytes = MemoryBytes();
    out->max_allocation_bytes = MemoryBytes();
    out->alignment = tim::onednn::kAlignment;
    out->gflops = Gflops();
    out->gbytes_per_second = kGigabytesPerSecond;
    out->launch_us = kStepMicroseconds;
  }
  static tim::plug::Device* Open(std::uint32_t) { return new OneDnn(); }
};

}  // namespace

TIM_PLUG(Plugin)
