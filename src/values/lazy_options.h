// Options of lazy mode, of the process.
#ifndef TIM_VALUES_LAZY_OPTIONS_H_
#define TIM_VALUES_LAZY_OPTIONS_H_

#include "tim/values/mode.h"

namespace tim::values::internal {

LazyOptions CurrentLazyOptions();

}  // namespace tim::values::internal

#endif  // TIM_VALUES_LAZY_OPTIONS_H_
