// oneDNN's header of this name: all names of the compatible API.
#ifndef TIM_GRAPH_DNNL_ONEAPI_DNNL_DNNL_THREADPOOL_IFACE_HPP_
#define TIM_GRAPH_DNNL_ONEAPI_DNNL_DNNL_THREADPOOL_IFACE_HPP_

#include "tim/graph/dnnl_compat.hpp"

#endif  // TIM_GRAPH_DNNL_ONEAPI_DNNL_DNNL_THREADPOOL_IFACE_HPP_
