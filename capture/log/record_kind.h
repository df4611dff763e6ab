// RecordKind: what a record of a log is about. The numbers are part of the file format: a new kind
// gets a new number, and a number is never used again.
#pragma once

#include <cstdint>

namespace interlock {

enum class RecordKind : uint32_t {
  kNone = 0,
  kProcess = 1,
  kDevice = 2,
  kQueue = 3,
  kObjectName = 4,
  kDestroy = 5,
  kNotUnderstood = 6,
  kLost = 7,
  kRunOptions = 8,

  kAllocateMemory = 16,
  kCreateBuffer = 17,
  kBindBuffer = 18,
  kCreateImage = 19,
  kBindImage = 20,
  kCreateImageView = 21,
  kCreateBufferView = 22,
  kHostRange = 23,
  kBufferAddress = 24,
  kImportMemory = 25,
  kShareMemory = 27,  // 26 was without sizes.

  kCreateShaderModule = 32,
  kCreateSetLayout = 33,
  kCreatePipelineLayout = 34,
  kCreateComputePipeline = 35,
  kAllocateSets = 36,
  kFreeSets = 37,
  kResetSetPool = 38,
  kUpdateSets = 39,
  kCreateRenderPass = 40,
  kCreateFramebuffer = 41,
  kCreateGraphicsPipeline = 42,

  kAllocateCommands = 48,
  kBeginCommands = 49,
  kResetCommands = 50,
  kResetCommandPool = 51,
  kFreeCommands = 52,
  kBindPipeline = 53,
  kBindSets = 54,
  kPushSet = 55,
  kDispatch = 56,
  kDispatchIndirect = 57,
  kTransfer = 58,
  kBarrier = 59,
  kSetEvent = 60,
  kWaitEvents = 61,
  kExecuteCommands = 62,
  kLabel = 63,
  kNotUnderstoodCommand = 64,
  kResetEvent = 65,
  kBeginPass = 66,
  kNextSubpass = 67,
  kBeginRendering = 68,
  kEndPass = 69,
  kBindVertexBuffers = 70,
  kBindIndexBuffer = 71,
  kDraw = 72,
  kPushConstants = 73,

  kSubmit = 80,
  kCreateSemaphore = 81,
  kFenceReached = 82,
  kSemaphoreReached = 83,
  kHostSignal = 84,
  kWaitIdle = 85,
  kAcquire = 86,
  kPresent = 87,
  kResult = 88,
  kSwapchainImages = 90,
  kShareSync = 91,  // 89 was without numbers of files.
  kResetFences = 92,
  kHostEvent = 93,

  kExactMode = 96,
  kExactSlot = 97,
  kExactSubmission = 98,
  kExactAccesses = 99,
  kExactRemark = 100,
  kValidation = 112,
  kValidationMessage = 113,
  kDroppedBarrier = 114,
  kModule = 115,
  kCaller = 116,
  kQueueLabel = 117,
};

}  // namespace interlock
