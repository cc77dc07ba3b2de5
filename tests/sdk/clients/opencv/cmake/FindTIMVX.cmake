# Finds TIM-VX as OpenCV does: TIMVX_INSTALL_DIR, and in VIVANTE_SDK_DIR every
# library of VIVANTE_SDK_LIB_CANDIDATES, a cache variable that may be empty.
set(TIMVX_INSTALL_DIR "" CACHE PATH "Where TIM-VX is installed")
set(VIVANTE_SDK_DIR "" CACHE PATH "Where the driver is installed")
set(VIVANTE_SDK_LIB_CANDIDATES "OpenVX;VSC;GAL;ArchModelSw;NNArchPerf"
    CACHE STRING "Libraries of the driver")

set(TIMVX_FOUND OFF)
find_path(TIMVX_INC_DIR tim/vx/graph.h
          PATHS "${TIMVX_INSTALL_DIR}/include" NO_DEFAULT_PATH)
find_library(TIMVX_LIB tim-vx PATHS "${TIMVX_INSTALL_DIR}/lib" NO_DEFAULT_PATH)
if(TIMVX_INC_DIR AND TIMVX_LIB)
  set(TIMVX_FOUND ON)
endif()
set(VIVANTE_SDK_LIBS)
foreach(name IN LISTS VIVANTE_SDK_LIB_CANDIDATES)
  find_library(VIVANTE_${name}_LIB ${name}
               PATHS "${VIVANTE_SDK_DIR}/lib" NO_DEFAULT_PATH)
  if(VIVANTE_${name}_LIB)
    list(APPEND VIVANTE_SDK_LIBS "${VIVANTE_${name}_LIB}")
  else()
    message(STATUS "TIM-VX: no library ${name} of the driver")
    set(TIMVX_FOUND OFF)
  endif()
endforeach()
