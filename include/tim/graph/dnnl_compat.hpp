// Programs that were written against oneDNN's Graph API, unchanged: its names
// for what tim/graph has.  Add -I<prefix>/include/tim/graph/dnnl and keep the
// includes.  Memory, primitives and SYCL of oneDNN are not here.
#ifndef TIM_GRAPH_DNNL_COMPAT_HPP_
#define TIM_GRAPH_DNNL_COMPAT_HPP_

#include "tim/graph/dnnl_names.h"
#include "tim/graph/graph.hpp"
#include "tim/graph/graph_ocl.hpp"
#include "tim/graph/threadpool.hpp"

namespace dnnl {

// A name space that clients may open again, not an alias.
namespace graph {
using namespace ::tim::graph;  // NOLINT
// Found before what is further out by those who open this name space again.
using ::tim::graph::allocator;
using ::tim::graph::compiled_partition;
using ::tim::graph::engine;
using ::tim::graph::error;
using ::tim::graph::graph;
using ::tim::graph::handle;
using ::tim::graph::logical_tensor;
using ::tim::graph::op;
using ::tim::graph::partition;
using ::tim::graph::status;
using ::tim::graph::stream;
using ::tim::graph::tensor;
// Names of tim::graph: dnnl::ocl_interop is about engines and streams alone.
namespace ocl_interop = ::tim::graph::ocl_interop;
}  // namespace graph

using ::tim::graph::accumulation_mode;
using ::tim::graph::engine;
using ::tim::graph::error;
using ::tim::graph::fpmath_mode;
using ::tim::graph::handle;
using ::tim::graph::handle_traits;
using ::tim::graph::status;
using ::tim::graph::stream;

using ::tim::graph::get_default_fpmath_mode;
using ::tim::graph::set_default_fpmath_mode;
using ::tim::graph::set_verbose;

using version_t = tim_graph_version_t;
inline const version_t* version() { return tim_graph_version(); }

using ::tim::graph::convert_to_c;

namespace ocl_interop {
using ::tim::graph::ocl_interop::get_command_queue;
using ::tim::graph::ocl_interop::get_context;
using ::tim::graph::ocl_interop::get_device;
using ::tim::graph::ocl_interop::get_engine_cache_blob;
using ::tim::graph::ocl_interop::get_engine_cache_blob_id;
using ::tim::graph::ocl_interop::make_engine;
using ::tim::graph::ocl_interop::make_stream;
using ::tim::graph::ocl_interop::memory_kind;
}  // namespace ocl_interop

namespace threadpool_interop {
using ::tim::graph::threadpool_interop::get_threadpool;
using ::tim::graph::threadpool_interop::make_stream;
using ::tim::graph::threadpool_interop::threadpool_iface;
}  // namespace threadpool_interop

}  // namespace dnnl

namespace oneapi {
namespace dnnl = ::dnnl;
}  // namespace oneapi

#endif  // TIM_GRAPH_DNNL_COMPAT_HPP_
