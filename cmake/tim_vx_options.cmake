# Options of TIM-VX's own build that clients pass. They are accepted so that no
# script has to change: the features are always on, need no switch, or concern
# the NPU's driver.
foreach(name
    TIM_VX_ENABLE_LAYOUT_INFER TIM_VX_ENABLE_CUSTOM_OP TIM_VX_ENABLE_PLATFORM
    TIM_VX_ENABLE_PLATFORM_LITE TIM_VX_ENABLE_VIPLITE TIM_VX_ENABLE_GRPC
    TIM_VX_ENABLE_NBG_PARSER TIM_VX_ENABLE_TENSOR_CACHE
    TIM_VX_ENABLE_NODE_TRACE TIM_VX_ENABLE_API_TRACE TIM_VX_ENABLE_40BIT
    TIM_VX_USE_EXTERNAL_OVXLIB TIM_VX_DBG_ENABLE_TENSOR_HNDL
    TIM_VX_CODE_COVERAGE USE_VXC_BINARY VIP_LITE_SDK OVXLIB_LIB OVXLIB_INC
    EXTERNAL_VIV_SDK CONFIG)
  # Reading a variable keeps CMake from calling it unused.
  set(ignored "${${name}}")
endforeach()

if(TIM_VX_ENABLE_GRPC)
  message(WARNING "TIM_VX_ENABLE_GRPC: TIM-CL has no gRPC platform; ignored")
endif()
