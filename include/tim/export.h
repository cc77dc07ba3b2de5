// The visibility of what the library's binary exports, for all fronts.
#ifndef TIM_EXPORT_H_
#define TIM_EXPORT_H_

#include "tim/vx/export.h"

/// On functions that the library defines; nothing else of it can be linked to.
#define TIM_API TIM_VX_API

#endif  // TIM_EXPORT_H_
