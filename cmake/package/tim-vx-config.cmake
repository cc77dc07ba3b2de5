# The package tim-cl under TIM-VX's names: targets tim-vx::tim-vx and
# tim-vx::tim-vx-static, and the same without a namespace.
include("${CMAKE_CURRENT_LIST_DIR}/../tim-cl/tim-cl-config.cmake")
foreach(_tim_cl_name tim-vx::tim-vx tim-vx)
  _tim_cl_targets(${_tim_cl_name} libtim-cl STATIC ${_tim_cl_system})
endforeach()
