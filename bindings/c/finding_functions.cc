// Findings of interlock.h, and their accesses.
#include <string>
#include <string_view>

#include "bindings/c/handles.h"
#include "bindings/c/interlock.h"
#include "encoder/program/finding_kind.h"
#include "encoder/program/program.h"
#include "simulator/bytes/access_ref.h"
#include "simulator/report/expectations.h"
#include "simulator/report/finding.h"
#include "simulator/report/operand_text.h"
#include "simulator/report/report.h"
#include "simulator/schedules/displacements.h"

namespace interlock {
namespace {

// The numbers of the header are those of the library.
static_assert(ILK_RAW == static_cast<int>(FindingKind::kReadAfterWrite));
static_assert(ILK_WAR == static_cast<int>(FindingKind::kWriteAfterRead));
static_assert(ILK_WAW == static_cast<int>(FindingKind::kWriteAfterWrite));
static_assert(ILK_REORDERED == static_cast<int>(FindingKind::kReordered));
static_assert(ILK_CLOBBER == static_cast<int>(FindingKind::kClobber));
static_assert(ILK_UNINITIALIZED == static_cast<int>(FindingKind::kUninitialized));
static_assert(ILK_USE_AFTER_FREE == static_cast<int>(FindingKind::kUseAfterFree));
static_assert(ILK_ALIAS == static_cast<int>(FindingKind::kAlias));
static_assert(ILK_UNDECLARED == static_cast<int>(FindingKind::kUndeclared));
static_assert(ILK_GRADIENT == static_cast<int>(FindingKind::kGradient));
static_assert(ILK_DEADLOCK == static_cast<int>(FindingKind::kDeadlock));
static_assert(ILK_UNKNOWN == static_cast<int>(Observability::kUnknown));
static_assert(ILK_OBSERVABLE == static_cast<int>(Observability::kObservable));
static_assert(ILK_UNOBSERVABLE == static_cast<int>(Observability::kUnobservable));
static_assert(ILK_MASKED == static_cast<int>(Observability::kMasked));

const Dispatch& dispatch_of(const ilk_access& access) {
  return access.sourced.program.dispatch(access.ref.dispatch);
}

const Access& operand_of(const ilk_access& access) {
  return access_of(access.sourced.program, access.ref);
}

}  // namespace
}  // namespace interlock

extern "C" {

ilk_kind ilk_finding_kind(const ilk_finding* finding) {
  if (finding == nullptr) return ILK_RAW;
  return static_cast<ilk_kind>(finding->finding.kind);
}

const char* ilk_finding_word(const ilk_finding* finding) {
  if (finding == nullptr) return nullptr;
  return interlock::word_of(finding->finding.kind).data();  // Of a literal.
}

ilk_observability ilk_finding_observability(const ilk_finding* finding) {
  if (finding == nullptr) return ILK_UNKNOWN;
  return static_cast<ilk_observability>(finding->finding.observability);
}

const char* ilk_finding_memory(const ilk_finding* finding) {
  if (finding == nullptr) return nullptr;
  const interlock::Program& program = finding->sourced.program;
  const interlock::MemoryId memory = finding->finding.memory;
  if (!memory.is_some()) return nullptr;
  return finding->memory.get(
      [&] { return std::string(program.name(program.memory(memory).name)); });
}

uint64_t ilk_finding_begin(const ilk_finding* finding) {
  if (finding == nullptr) return 0;
  return finding->finding.overlap.begin;
}

uint64_t ilk_finding_end(const ilk_finding* finding) {
  if (finding == nullptr) return 0;
  return finding->finding.overlap.end;
}

const ilk_access* ilk_finding_first(const ilk_finding* finding) {
  if (finding == nullptr) return nullptr;
  return finding->first ? &*finding->first : nullptr;
}

const ilk_access* ilk_finding_second(const ilk_finding* finding) {
  if (finding == nullptr) return nullptr;
  return finding->second ? &*finding->second : nullptr;
}

const char* ilk_finding_headline(const ilk_finding* finding) {
  if (finding == nullptr) return nullptr;
  return finding->finding.headline.c_str();
}

const char* ilk_finding_fix(const ilk_finding* finding) {
  if (finding == nullptr) return nullptr;
  return finding->finding.fix.c_str();
}

const char* ilk_finding_text(const ilk_finding* finding) {
  if (finding == nullptr) return nullptr;
  return finding->text.get([&] {
    return interlock::text_of_finding(finding->sourced.program, finding->finding,
                                      finding->sourced.name);
  });
}

size_t ilk_finding_detail_count(const ilk_finding* finding) {
  if (finding == nullptr) return 0;
  return finding->finding.details.size();
}

const char* ilk_finding_detail(const ilk_finding* finding, size_t index) {
  if (finding == nullptr) return nullptr;
  const auto& details = finding->finding.details;
  return index < details.size() ? details[index].c_str() : nullptr;
}

size_t ilk_finding_witness_count(const ilk_finding* finding) {
  if (finding == nullptr) return 0;
  return finding->witness.size();
}

const char* ilk_finding_witness(const ilk_finding* finding, size_t index) {
  if (finding == nullptr) return nullptr;
  if (index >= finding->witness.size()) return nullptr;
  return finding->witness[index].get([&] {
    return interlock::text_of(finding->sourced.program, finding->finding.witness[index]);
  });
}

const char* ilk_finding_expectation(const ilk_finding* finding) {
  if (finding == nullptr) return nullptr;
  return finding->expectation.get(
      [&] { return interlock::expectation_line(finding->sourced.program, {}, finding->finding); });
}

uint64_t ilk_access_dispatch(const ilk_access* access) {
  if (access == nullptr) return UINT64_MAX;
  if (!interlock::dispatch_of(*access).is_counted()) return UINT64_MAX;
  return access->sourced.program.number_of(access->ref.dispatch);
}

const char* ilk_access_label(const ilk_access* access) {
  if (access == nullptr) return nullptr;
  return access->label.get(
      [&] { return access->sourced.program.reference_of(access->ref.dispatch); });
}

const char* ilk_access_kernel(const ilk_access* access) {
  if (access == nullptr) return nullptr;
  const interlock::Dispatch& dispatch = interlock::dispatch_of(*access);
  if (dispatch.host != interlock::HostAccess::kNone) return nullptr;
  return access->kernel.get(
      [&] { return std::string(access->sourced.program.name(dispatch.kernel_name)); });
}

const char* ilk_access_verb(const ilk_access* access) {
  if (access == nullptr) return nullptr;
  return access->verb.get(
      [&] { return std::string(interlock::verb_of(interlock::operand_of(*access))); });
}

uint64_t ilk_access_begin(const ilk_access* access) {
  if (access == nullptr) return 0;
  return interlock::operand_of(*access).range.begin;
}

uint64_t ilk_access_end(const ilk_access* access) {
  if (access == nullptr) return 0;
  return interlock::operand_of(*access).range.end;
}

const char* ilk_access_tensor(const ilk_access* access) {
  if (access == nullptr) return nullptr;
  const interlock::TensorId tensor = interlock::operand_of(*access).tensor;
  if (!tensor.is_some()) return nullptr;
  return access->tensor.get(
      [&] { return std::string(interlock::name_of(access->sourced.program, tensor)); });
}

uint64_t ilk_access_line(const ilk_access* access) {
  if (access == nullptr) return 0;
  return access->sourced.line_of(interlock::dispatch_of(*access).statement);
}

}  // extern "C"
