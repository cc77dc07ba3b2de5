// A library that names no operators, or does so for another version of TIM-CL.
#include <cstdint>

#ifdef OTHER_VERSION
extern "C" int32_t tim_vx_check_operators(const void*) { return 7; }
#else
extern "C" int32_t tim_vx_planted_without_operators() { return 0; }
#endif
