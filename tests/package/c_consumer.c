/* What a tool in C writes: one finding is in the file. */
#include <interlock/interlock.h>
#include <stdio.h>

int main(int argc, char** argv) {
  ilk_program* program = NULL;
  ilk_report* report = NULL;
  ilk_error* error = NULL;
  size_t count = 0;
  if (argc > 1 && ilk_program_read(argv[1], NULL, &program, &error) == ILK_OK &&
      ilk_check(program, NULL, &report, &error) == ILK_OK) {
    count = ilk_report_finding_count(report);
    puts(ilk_report_summary(report));
  } else {
    puts(ilk_error_message(error));
  }
  ilk_report_free(report);
  ilk_program_free(program);
  ilk_error_free(error);
  return count == 1 ? 0 : 1;
}
