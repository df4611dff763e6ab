/* libinterlock: programs, their check and the passes over them, for C and whatever calls C.
 *
 *     ilk_program* program = NULL;
 *     ilk_report* report = NULL;
 *     ilk_error* error = NULL;
 *     if (ilk_program_read("step.ilk", NULL, &program, &error) == ILK_OK &&
 *         ilk_check(program, NULL, &report, &error) == ILK_OK) {
 *       fputs(ilk_report_text(report), stdout);
 *     } else {
 *       fprintf(stderr, "%s\n", ilk_error_message(error));
 *     }
 *     ilk_report_free(report);
 *     ilk_program_free(program);
 *     ilk_error_free(error);
 *
 * Handles. Each kind is opaque and ends with its own ..._free(), which takes a null one, too. What
 * a function returns by `const char*`, or as a handle that is `const`, belongs to the handle that
 * it was asked of, and ends with it. A function that makes a handle takes all of its arguments by
 * value: a report outlives its program.
 *
 * Errors. A function that can fail returns an ilk_status. If that is not ILK_OK, it has set its
 * result to null and, where `error` is not null, `*error` to a new error, for the caller to free.
 * After ILK_NO_MEMORY it may be null, for which ilk_error_status() and ilk_error_message() say so.
 * `*error` stays as it was otherwise. No exception leaves the library. What the library itself gets
 * wrong ends the process with a line on standard error: a wrong verdict would be worse.
 *
 * Text is bytes, UTF-8 where the input is; names of programs are ASCII. Numbers of lines and
 * columns are from 1, all others from 0. Ranges of bytes are half open.
 *
 * Threads. Several threads may use one handle at once in functions that take it as `const`. All
 * others need it for themselves, ilk_options_stop() excepted. Handles share nothing.
 *
 * Versions. A function or an enumerator is added, but never changed or taken away, as long as
 * ILK_ABI_VERSION stays (docs/versions.md); it is the number in libinterlock.so.N.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(ILK_BUILDS_LIBRARY) && defined(__GNUC__)
#define ILK_API __attribute__((visibility("default")))
#else
#define ILK_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define ILK_ABI_VERSION 0

/* "0.1.0": of the library that is loaded. */
ILK_API const char* ilk_version(void);

/* ILK_ABI_VERSION of the header that the loaded library was made with. */
ILK_API uint32_t ilk_abi_version(void);

typedef enum ilk_status {
  ILK_OK = 0,
  ILK_BAD_INPUT = 1,    /* A program or a file is not what it is to be. */
  ILK_BAD_ARGUMENT = 2, /* The call is wrong: a null handle, a name that there is not. */
  ILK_NOTHING = 3, /* There is nothing to do it to: a program without a finding, to minimize. */
  ILK_STOPPED = 4, /* ilk_options_stop() was called. */
  ILK_NO_MEMORY = 5,
  ILK_FAILED = 6 /* What stands outside of the library failed, such as an encoder in a process. */
} ilk_status;

/* --- Errors --------------------------------------------------------------------------------------
 */

typedef struct ilk_error ilk_error;

ILK_API void ilk_error_free(ilk_error* error);
ILK_API ilk_status ilk_error_status(const ilk_error* error);

/* What is wrong, as complete sentences; with file, line and column before them if it has a place.
 */
ILK_API const char* ilk_error_message(const ilk_error* error);

/* The place in the text; 0: it has none. */
ILK_API uint64_t ilk_error_line(const ilk_error* error);
ILK_API uint64_t ilk_error_column(const ilk_error* error);

/* --- Options: limits, and how work is asked to end
 * ------------------------------------------------ */

/* Every function that takes options takes null for the defaults. */
typedef struct ilk_options ilk_options;

typedef enum ilk_option {
  /* Of reading. */
  ILK_INPUT_BYTES = 0,     /* Of a text with its program; 2^30. */
  ILK_STATEMENT_COUNT = 1, /* 20,000,000. */
  ILK_EXPANSION_COUNT = 2, /* Statements that replays and backward passes add; 2^20. */
  /* Of ilk_check(). */
  ILK_ALL_PAIRS = 16, /* 1: every hazardous pair, not only the latest accesses; 0. */
  ILK_COUNT_POSSIBLE =
      17, /* 1: hazards count where approximate dispatches need not touch bytes; 0. */
  ILK_COUNT_OWN_READS = 18,      /* 1: writes after own reads count that no dependency names; 0. */
  ILK_IGNORE_EXPECT = 19,        /* 1: as if the program had no `expect` lines; 0. */
  ILK_HAZARD_COUNT = 20,         /* Hazards listed; 250,000. */
  ILK_OBSERVABILITY_BUDGET = 21, /* Dispatches executed to see what an output shows; 4,000,000. */
  ILK_REDUNDANCY_BUDGET = 22,    /* Visits, to see which sync can go; 200,000,000. */
  /* Of ilk_minimize(). */
  ILK_EVALUATION_COUNT = 32, /* Of smaller programs; 100,000. */
  ILK_ANY_KERNELS = 33,      /* 1: the kernels of the finding may change; 0. */
  /* Of ilk_encode(). */
  ILK_QUEUE_COUNT =
      48, /* Queues at most, for encoders that ask for it; 0: as many as they choose. */
  /* Of ilk_find(). */
  ILK_RUN_COUNT = 64, /* Programs; 10,000. */
  ILK_SEED = 65       /* Of the programs; 1. */
} ilk_option;

/* Null: there is no memory for it. */
ILK_API ilk_options* ilk_options_create(void);
ILK_API void ilk_options_free(ilk_options* options);

/* ILK_BAD_ARGUMENT: there is no such option, or it cannot have that value. */
ILK_API ilk_status ilk_options_set(ilk_options* options, ilk_option option, uint64_t value);

/* Asks all work with these options to end, now and later: it returns ILK_STOPPED, within a second.
 * Any thread may call it at any time, and a signal handler too. */
ILK_API void ilk_options_stop(ilk_options* options);

/* --- Programs
 * ------------------------------------------------------------------------------------- */

/* It does not change once it is made. */
typedef struct ilk_program ilk_program;

/* Reads a program of text (docs/format.md). `name` stands for the file in messages; null: "<text>".
 * ILK_BAD_INPUT: with the place, what was found there and what was expected. */
ILK_API ilk_status ilk_program_parse(const char* text, size_t size, const char* name,
                                     const ilk_options* options, ilk_program** program,
                                     ilk_error** error);

/* The same of a file. */
ILK_API ilk_status ilk_program_read(const char* path, const ilk_options* options,
                                    ilk_program** program, ilk_error** error);

ILK_API void ilk_program_free(ilk_program* program);

/* What it was made of, comments and all. */
ILK_API const char* ilk_program_source(const ilk_program* program);

/* The canonical text, which reads as the same program. Null: there is no memory for it. */
ILK_API const char* ilk_program_text(const ilk_program* program);

/* As messages name it. */
ILK_API const char* ilk_program_name(const ilk_program* program);

ILK_API uint64_t ilk_program_dispatch_count(const ilk_program* program);

/* --- Programs, built
 * -------------------------------------------------------------------------------- */

/* Statements in the order of the calls. A name is [A-Za-z_][A-Za-z0-9_.]*, declared before it is
 * used. After an error the builder is as it was before the call. */
typedef struct ilk_builder ilk_builder;

typedef enum ilk_mode {
  ILK_READS = 0,
  ILK_WRITES = 1,
  ILK_UPDATES = 2, /* Reads and writes. */
  ILK_ATOMICS = 3  /* Reads and writes; those of one operation may overlap. */
} ilk_mode;

typedef enum ilk_barrier {
  ILK_FULL = 0,
  ILK_EXECUTION = 1 /* Orders, and makes nothing visible: enough for a write after a read. */
} ilk_barrier;

/* Of a whole memory or tensor, in ilk_builder_access(). */
#define ILK_WHOLE UINT64_MAX

/* Null: there is no memory for it. */
ILK_API ilk_builder* ilk_builder_create(void);
ILK_API void ilk_builder_free(ilk_builder* builder);

ILK_API ilk_status ilk_builder_memory(ilk_builder* builder, const char* name, uint64_t size,
                                      ilk_error** error);

/* Begins a dispatch; ends the one before. `label` may be null. A kernel with an upper-case initial
 * is opaque: what it declares to access is all that is known of it. */
ILK_API ilk_status ilk_builder_dispatch(ilk_builder* builder, const char* label, const char* kernel,
                                        ilk_error** error);

/* An access of the dispatch that was begun last: bytes [begin, end) of a memory or a tensor; all of
 * it, if `end` is ILK_WHOLE. Reads come before writes, updates and atomics, whatever the order of
 * the calls; those of one mode keep theirs. */
ILK_API ilk_status ilk_builder_access(ilk_builder* builder, ilk_mode mode, const char* name,
                                      uint64_t begin, uint64_t end, ilk_error** error);

/* `eps=1e-05` of that dispatch, or `atomic=add`, which atomics need. */
ILK_API ilk_status ilk_builder_attribute(ilk_builder* builder, const char* key, const char* value,
                                         ilk_error** error);

ILK_API ilk_status ilk_builder_barrier(ilk_builder* builder, ilk_barrier barrier,
                                       ilk_error** error);

/* Any other statement: one line of text, which is read by ilk_builder_finish(). */
ILK_API ilk_status ilk_builder_line(ilk_builder* builder, const char* line, ilk_error** error);

/* The program of what was built so far; the builder stays, and more can be added. An error has the
 * line of ilk_builder_text(). */
ILK_API ilk_status ilk_builder_finish(ilk_builder* builder, const ilk_options* options,
                                      ilk_program** program, ilk_error** error);

/* The text so far, until the next call with this builder. Null: there is no memory for it. */
ILK_API const char* ilk_builder_text(ilk_builder* builder);

/* --- Check
 * ------------------------------------------------------------------------------------------ */

typedef struct ilk_report ilk_report;
typedef struct ilk_finding ilk_finding;
typedef struct ilk_access ilk_access;

/* What `interlock check` says of a program. */
ILK_API ilk_status ilk_check(const ilk_program* program, const ilk_options* options,
                             ilk_report** report, ilk_error** error);
ILK_API void ilk_report_free(ilk_report* report);

typedef enum ilk_verdict {
  ILK_AS_EXPECTED = 0, /* Nothing is found, or exactly what the `expect` lines say. */
  ILK_UNEXPECTED = 1,  /* A finding that no line expects, or a line that does not hold. */
  ILK_NO_VERDICT = 2   /* A limit ended the check before it could tell. */
} ilk_verdict;
ILK_API ilk_verdict ilk_report_verdict(const ilk_report* report);

typedef enum ilk_number {
  ILK_DISPATCHES = 0,
  ILK_ACCESSES = 1,
  ILK_BARRIERS = 2,
  ILK_FEWEST_BARRIERS = 3,    /* That this order can do with. */
  ILK_LONGEST_CHAIN = 4,      /* Fewest barriers in any order. */
  ILK_REDUNDANT_BARRIERS = 5, /* None of those after the last dispatch. */
  ILK_QUEUES = 6
} ilk_number;
/* UINT64_MAX: it is not judged, as with several queues, or there is no such number. */
ILK_API uint64_t ilk_report_number(const ilk_report* report, ilk_number number);

/* "3 dispatches, 9 accesses, 1 barrier; …; 1 finding." This and the next two are null if there is
 * no memory for them. */
ILK_API const char* ilk_report_summary(const ilk_report* report);

/* As `interlock check --advice` prints it. */
ILK_API const char* ilk_report_text(const ilk_report* report);

/* All of it, for programs: one JSON object (docs/json.md). */
ILK_API const char* ilk_report_json(const ilk_report* report);

/* The functions of findings and accesses below take a null one, too. Of it text and accesses are
 * null, numbers 0, its dispatch is UINT64_MAX, its observability ILK_UNKNOWN, and its kind 0. */

ILK_API size_t ilk_report_finding_count(const ilk_report* report);

/* Observable ones first; null: there are not so many. */
ILK_API const ilk_finding* ilk_report_finding(const ilk_report* report, size_t index);

typedef enum ilk_kind {
  ILK_RAW = 0,
  ILK_WAR = 1,
  ILK_WAW = 2,
  ILK_REORDERED = 3,
  ILK_CLOBBER = 4,
  ILK_UNINITIALIZED = 5,
  ILK_USE_AFTER_FREE = 6,
  ILK_ALIAS = 7,
  ILK_UNDECLARED = 8,
  ILK_GRADIENT = 10,
  ILK_DEADLOCK = 11
} ilk_kind;
ILK_API ilk_kind ilk_finding_kind(const ilk_finding* finding);

/* "RAW", "use-after-free": as `expect` lines have it. */
ILK_API const char* ilk_finding_word(const ilk_finding* finding);

typedef enum ilk_observability {
  ILK_UNKNOWN = 0, /* Not judged. */
  ILK_OBSERVABLE = 1,
  ILK_UNOBSERVABLE = 2,
  ILK_MASKED = 3
} ilk_observability;
ILK_API ilk_observability ilk_finding_observability(const ilk_finding* finding);

/* The bytes concerned. Null and 0 of a deadlock. */
ILK_API const char* ilk_finding_memory(const ilk_finding* finding);
ILK_API uint64_t ilk_finding_begin(const ilk_finding* finding);
ILK_API uint64_t ilk_finding_end(const ilk_finding* finding);

/* The two accesses, the earlier one first; docs/json.md says which of which kind. Null: there is
 * none, or the end of the program reads. */
ILK_API const ilk_access* ilk_finding_first(const ilk_finding* finding);
ILK_API const ilk_access* ilk_finding_second(const ilk_finding* finding);

/* Sentences for a person; their wording may change. The fix ends without a full stop where it is a
 * line, and may be empty. ilk_finding_text() has all of them, as reports print them. */
ILK_API const char* ilk_finding_headline(const ilk_finding* finding);
ILK_API const char* ilk_finding_fix(const ilk_finding* finding);
ILK_API const char* ilk_finding_text(const ilk_finding* finding);
ILK_API size_t ilk_finding_detail_count(const ilk_finding* finding);
ILK_API const char* ilk_finding_detail(const ilk_finding* finding, size_t index); /* Or null. */

/* The schedule that shows it, as `witness` lines say it: moves away from reference order. */
ILK_API size_t ilk_finding_witness_count(const ilk_finding* finding);
ILK_API const char* ilk_finding_witness(const ilk_finding* finding, size_t index); /* Or null. */

/* The `expect` line that expects it. */
ILK_API const char* ilk_finding_expectation(const ilk_finding* finding);

/* Of the dispatch: its index, UINT64_MAX for what the host or a barrier does; its label, or the
 * index as text; its kernel, or null for what the host does. */
ILK_API uint64_t ilk_access_dispatch(const ilk_access* access);
ILK_API const char* ilk_access_label(const ilk_access* access);
ILK_API const char* ilk_access_kernel(const ilk_access* access);

/* "reads", "writes", "updates", … */
ILK_API const char* ilk_access_verb(const ilk_access* access);

/* Its whole range in the memory; the tensor, or null for a range of the memory. */
ILK_API uint64_t ilk_access_begin(const ilk_access* access);
ILK_API uint64_t ilk_access_end(const ilk_access* access);
ILK_API const char* ilk_access_tensor(const ilk_access* access);

/* The line of the program's source where the dispatch stands. */
ILK_API uint64_t ilk_access_line(const ilk_access* access);

/* --- Passes
 * ----------------------------------------------------------------------------------------- */

/* The program with the sync that an encoder places: one of `interlock list encoders`, or
 * "exec:COMMAND" or "lib:FILE". ILK_FAILED: such an encoder does not answer, or not with the
 * program. ILK_BAD_INPUT: it is not for programs of this kind. */
ILK_API ilk_status ilk_encode(const ilk_program* program, const char* encoder,
                              const ilk_options* options, ilk_program** encoded, ilk_error** error);

/* The program with a place for each tensor that has none, as one of `interlock list planners` has
 * it. */
ILK_API ilk_status ilk_plan(const ilk_program* program, const char* planner,
                            const ilk_options* options, ilk_program** planned, ilk_error** error);

/* The program with the smallest sync that we find to repair its hazards; its source is that of
 * `program` with lines added and changed. It may have other findings still. */
ILK_API ilk_status ilk_fix(const ilk_program* program, const ilk_options* options,
                           ilk_program** fixed, ilk_error** error);

/* The smallest program found with the same finding, with an `expect` line for it and a witness.
 * ILK_NOTHING: the program has no finding. */
ILK_API ilk_status ilk_minimize(const ilk_program* program, const ilk_options* options,
                                ilk_program** minimized, ilk_error** error);

/* Tries an encoder, named as for ilk_encode(), on programs that a seed makes; `*found` is the first
 * that it gets wrong, as small as we can make it, with `expect` lines, as the encoder encodes it.
 * Null: it got all of them right. */
ILK_API ilk_status ilk_find(const char* encoder, const ilk_options* options, ilk_program** found,
                            ilk_error** error);

#ifdef __cplusplus
}
#endif
