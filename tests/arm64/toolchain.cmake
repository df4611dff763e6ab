# Compiles for 64-bit ARM with Debian's g++-aarch64-linux-gnu; libraries are those of the folder that
# sysroot.sh has made, which INTERLOCK_ARM64_SYSROOT names. Programs run in QEMU's user mode.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)

# CMake reads this file again for each probe of the compiler.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES INTERLOCK_ARM64_SYSROOT)
set(CMAKE_FIND_ROOT_PATH ${INTERLOCK_ARM64_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
