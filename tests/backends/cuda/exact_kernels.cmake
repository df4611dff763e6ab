# Compiles the kernels of the CUDA backend to PTX, and looks at what they compute with: IEEE
# operations rounded to nearest, and none that is fused, approximate or flushes subnormal numbers.
set(ptx ${OUT_DIR}/exact_kernels.ptx)
execute_process(COMMAND ${NVCC} ${NUMERICS} -arch=compute_75 -ptx -I${SOURCE_DIR}
    ${SOURCE_DIR}/backends/cuda/kernels/device_functions.cu -o ${ptx}
  COMMAND_ERROR_IS_FATAL ANY)
file(READ ${ptx} text)
foreach(inexact IN ITEMS "fma\\.rn" "mad\\.[a-z]+\\.f(32|64)" "\\.approx" "\\.ftz" "div\\.full" "atom[a-z.]*\\.f32")
  string(REGEX MATCH "[^\n]*${inexact}[^\n]*" found "${text}")
  if(found)
    message(FATAL_ERROR "The kernels have an operation that the CPU has not: ${found}")
  endif()
endforeach()
foreach(exact IN ITEMS add mul div sqrt)
  if(NOT text MATCHES "${exact}\\.rn\\.f32")
    message(FATAL_ERROR "The kernels have no ${exact}.rn.f32: this looks at something else.")
  endif()
endforeach()
