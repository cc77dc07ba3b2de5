// The division of a graph among devices, for people and tools.
#ifndef TIM_IR_PARTITION_H_
#define TIM_IR_PARTITION_H_

#include <cstdint>
#include <string>
#include <vector>

namespace tim::ir {

/// The cost of a copy from a device to another one, as it was assumed.
struct PartitionLink {
  int to = 0;  ///< Index of the device.
  double latency_us = 0;
  double gbytes_per_second = 0;
  bool direct = false;  ///< False: through memory of the host.
};

/// Figures of a device that the choice was made with.
struct PartitionDevice {
  std::string spec;  ///< "opencl:1".
  double gflops = 0;
  double gbytes_per_second = 0;
  double launch_us = 0;
  std::vector<PartitionLink> links;  ///< To each other device.
};

/// A value that a part reads and another one makes.
struct PartitionInput {
  std::string value;
  int64_t bytes = 0;
  int from = -1;  ///< Index of the part; -1: an input or state of the graph.
};

/// Connected nodes of one device.
struct PartitionPart {
  int device = 0;
  bool graph = false;  ///< Compiled as a whole by the device, else by kernels.
  std::vector<int> nodes;  ///< Indices in Partition::nodes.
  std::vector<PartitionInput> inputs;
  double predicted_us = 0;
};

struct PartitionNode {
  std::string name;
  int part = 0;
  std::string kernel;  ///< "opencl:1:conv2d_f32".
  double predicted_us = 0;
  std::vector<std::string> refused;  ///< "kernel: reason", of every device.
};

/// A division that was compared with others.
struct ComparedPlan {
  std::string plan;  ///< "all on opencl:0", "list scheduling", ...
  double predicted_us = 0;
  int64_t peak_bytes = 0;  ///< Constants and live values, an estimate.
};

/// Parts are convex, and the graph of parts has no cycle.
struct Partition {
  std::string policy;  ///< Keys that differ from the default.
  std::vector<PartitionDevice> devices;
  std::vector<PartitionPart> parts;
  std::vector<PartitionNode> nodes;
  std::vector<ComparedPlan> compared;  ///< None where nothing was to choose.
  std::string chosen;                  ///< ComparedPlan::plan, or empty.
};

}  // namespace tim::ir

#endif  // TIM_IR_PARTITION_H_
