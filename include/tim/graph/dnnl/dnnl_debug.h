/* oneDNN's header of this name: all names of the compatible API. */
#ifndef TIM_GRAPH_DNNL_DNNL_DEBUG_H_
#define TIM_GRAPH_DNNL_DNNL_DEBUG_H_

#ifdef __cplusplus
#include "tim/graph/dnnl_compat.hpp"
#else
#include "tim/graph/dnnl_names.h"
#endif

#endif /* TIM_GRAPH_DNNL_DNNL_DEBUG_H_ */
