// All headers of tim::values.
#ifndef TIM_VALUES_VALUES_H_
#define TIM_VALUES_VALUES_H_

#include "tim/values/control.h"
#include "tim/values/device.h"
#include "tim/values/dlpack.h"
#include "tim/values/event.h"
#include "tim/values/gradient.h"
#include "tim/values/graph.h"
#include "tim/values/holder.h"
#include "tim/values/mode.h"
#include "tim/values/node.h"
#include "tim/values/opencl.h"
#include "tim/values/ops.h"
#include "tim/values/pattern.h"
#include "tim/values/types.h"
#include "tim/values/value.h"
#include "tim/values/variable.h"

#endif  // TIM_VALUES_VALUES_H_
