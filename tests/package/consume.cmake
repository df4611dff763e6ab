# Installs the build into a fresh prefix and moves it, then builds and runs consumers: one that knows
# only where it now is, and two that have the source tree, as a subdirectory and by FetchContent. The
# package is new each time. Consumers keep their builds, as users do, so that only what changed compiles
# again: what is installed has the times of what it is a copy of. `./dev prove` has them from nothing.
set(prefix ${BUILD_DIR}/package/prefix)
set(moved ${BUILD_DIR}/package/moved)
set(consumer ${BUILD_DIR}/package/consumer)
set(tested ${BUILD_DIR}/package/encoder_test)
file(REMOVE_RECURSE ${prefix} ${moved})
if("$ENV{INTERLOCK_TEST_ALL}" STREQUAL "1")
  file(REMOVE_RECURSE ${consumer} ${tested} ${BUILD_DIR}/package/subdirectory ${BUILD_DIR}/package/fetched)
endif()

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix})
file(RENAME ${prefix} ${moved})
# No absolute path is in what consumers read.
file(GLOB_RECURSE package_files ${moved}/*.cmake ${moved}/*.pc)
foreach(file IN LISTS package_files)
  file(STRINGS ${file} absolute REGEX "[ ;=<:\"]/(usr|opt|work|home|root|tmp)/")
  if(absolute)
    message(FATAL_ERROR "${file} has a path of this machine in it: ${absolute}")
  endif()
endforeach()
# Nor in what they link, debug information included.
file(GLOB_RECURSE package_files ${moved}/*.so ${moved}/*.a)
foreach(file IN LISTS package_files)
  file(STRINGS ${file} absolute LIMIT_COUNT 1 REGEX "${SOURCE_DIR}/")
  if(absolute)
    message(FATAL_ERROR "${file} has a path of this machine in it: ${absolute}")
  endif()
endforeach()
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${consumer} -G ${GENERATOR}
  -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${moved})
run(${CMAKE_COMMAND} --build ${consumer})
run(${consumer}/consumer)
run(${consumer}/recorder_consumer)

# The project of docs/testing.md, as that page builds it.
run(${CMAKE_COMMAND} -S ${SOURCE_DIR}/docs/examples/encoder_test -B ${tested} -G ${GENERATOR}
  -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${moved})
run(${CMAKE_COMMAND} --build ${tested})
run(${tested}/my_encoder_test)

if(EXISTS ${consumer}/c_consumer)
  run(${consumer}/c_consumer ${SOURCE_DIR}/corpus/bugs/mlx-3630.ilk)
endif()

# What links the recorder builds nothing of Interlock. Of the test of an encoder only its own source is
# compiled, since what it links takes minutes; `./dev prove package.consume` builds and runs all of it.
foreach(how subdirectory fetched)
  set(folder ${BUILD_DIR}/package/${how})
  run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${folder} -G ${GENERATOR}
    -DCMAKE_CXX_COMPILER=${COMPILER} -DSOURCE=${SOURCE_DIR} -DHOW=${how}
    -DINTERLOCK_CUDA=OFF -DINTERLOCK_VULKAN=OFF -DINTERLOCK_CAPTURE=OFF -DCMAKE_BUILD_TYPE=Debug)
  run(${CMAKE_COMMAND} --build ${folder})
  run(${folder}/recorder_consumer)
  if("$ENV{INTERLOCK_TEST_ALL}" STREQUAL "1")
    run(${CMAKE_COMMAND} --build ${folder} --target my_encoder_test)
    run(${folder}/my_encoder_test)
  elseif(GENERATOR STREQUAL "Ninja")
    run(${CMAKE_COMMAND} --build ${folder}
      --target ${SOURCE_DIR}/docs/examples/encoder_test/my_encoder_test.cc^)
  endif()
endforeach()
