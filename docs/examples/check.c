/* Checks a program that it builds, prints what is wrong with it, and prints it repaired. */
#include <stdio.h>

#include "bindings/c/interlock.h" /* Installed: <interlock/interlock.h> */

/* Two dispatches on the same bytes, and nothing between them. */
static ilk_program* build_program(ilk_error** error) {
  ilk_program* program = NULL;
  ilk_builder* builder = ilk_builder_create();
  if (ilk_builder_memory(builder, "a", 4096, error) == ILK_OK &&
      ilk_builder_memory(builder, "sum", 4, error) == ILK_OK &&
      ilk_builder_dispatch(builder, "make", "Produce", error) == ILK_OK &&
      ilk_builder_access(builder, ILK_WRITES, "a", 0, ILK_WHOLE, error) == ILK_OK &&
      ilk_builder_dispatch(builder, "add", "Consume", error) == ILK_OK &&
      ilk_builder_access(builder, ILK_READS, "a", 0, 1024, error) == ILK_OK &&
      ilk_builder_access(builder, ILK_WRITES, "sum", 0, ILK_WHOLE, error) == ILK_OK) {
    ilk_builder_finish(builder, NULL, &program, error);
  }
  ilk_builder_free(builder);
  return program;
}

/* Not every finding has two accesses and a memory. */
static const char* text_or_none(const char* text) { return text != NULL ? text : "none"; }

static void print_findings(const ilk_report* report) {
  size_t i;
  for (i = 0; i < ilk_report_finding_count(report); ++i) {
    const ilk_finding* finding = ilk_report_finding(report, i);
    printf("%s of %s and %s in %s[%lu:%lu]\n", ilk_finding_word(finding),
           text_or_none(ilk_access_label(ilk_finding_first(finding))),
           text_or_none(ilk_access_label(ilk_finding_second(finding))),
           text_or_none(ilk_finding_memory(finding)), (unsigned long)ilk_finding_begin(finding),
           (unsigned long)ilk_finding_end(finding));
  }
}

int main(void) {
  ilk_error* error = NULL;
  ilk_report* report = NULL;
  ilk_program* fixed = NULL;
  ilk_program* program = build_program(&error);
  int status = 2;
  if (program != NULL && ilk_check(program, NULL, &report, &error) == ILK_OK &&
      ilk_fix(program, NULL, &fixed, &error) == ILK_OK) {
    print_findings(report);
    fputs(ilk_program_source(fixed), stdout);
    status = ilk_report_verdict(report) == ILK_AS_EXPECTED ? 0 : 1;
  } else {
    fprintf(stderr, "%s\n", ilk_error_message(error));
  }
  ilk_program_free(fixed);
  ilk_report_free(report);
  ilk_program_free(program);
  ilk_error_free(error);
  return status;
}
