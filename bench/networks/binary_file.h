// A network as a binary graph: how large it is, and how long loading takes.
#ifndef TIM_BENCH_NETWORKS_BINARY_FILE_H_
#define TIM_BENCH_NETWORKS_BINARY_FILE_H_

#include <nlohmann/json.hpp>
#include <string>

#include "base/status.h"
#include "bench/networks/network.h"

namespace tim::bench {

/// Compiles the network and writes its binary graph; gives
///   network, device, compile_s, weight_bytes, file_bytes
///   ratio            of the last two
Result<nlohmann::json> WriteBinaryFile(const Network& network,
                                       const std::string& path);

/// Maps such a file and makes it ready to run, as tim::lite does; gives
///   file_bytes, device
///   load_s           from the mapped file until it can run
///   programs_built   from source, meanwhile
///   run_ms           of the first run
Result<nlohmann::json> LoadBinaryFile(const std::string& path);

}  // namespace tim::bench

#endif  // TIM_BENCH_NETWORKS_BINARY_FILE_H_
