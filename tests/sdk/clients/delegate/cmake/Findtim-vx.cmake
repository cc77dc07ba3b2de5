# Finds TIM-VX as a TFLite delegate does: an installed tree in TIM_VX_INSTALL,
# else the sources, which FetchContent gets.  Both give the target tim-vx.
if(DEFINED TIM_VX_INSTALL)
  add_library(tim-vx SHARED IMPORTED)
  set_target_properties(tim-vx PROPERTIES
    IMPORTED_LOCATION "${TIM_VX_INSTALL}/lib/libtim-vx.so")
  include_directories("${TIM_VX_INSTALL}/include")
else()
  include(FetchContent)
  set(TIM_VX_ENABLE_PLATFORM ON CACHE BOOL "Several devices")
  FetchContent_Declare(tim-vx
    GIT_REPOSITORY https://tim-vx.invalid/tim-vx.git GIT_TAG main)
  FetchContent_GetProperties(tim-vx)
  if(NOT tim-vx_POPULATED)
    FetchContent_Populate(tim-vx)
  endif()
  include_directories("${tim-vx_SOURCE_DIR}/include")
  add_subdirectory("${tim-vx_SOURCE_DIR}" "${tim-vx_BINARY_DIR}")
endif()
set(tim-vx_FOUND TRUE)
