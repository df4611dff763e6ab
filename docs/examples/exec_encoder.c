/* An encoder for `--encoder=exec:`: a barrier where a dispatch conflicts with one since the last.
 * cc -std=c99 -o exec_encoder exec_encoder.c */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct access {
  char how[16], memory[256];
  unsigned long long begin, end;
};

static struct access *since;
static size_t since_count, since_room;

static int conflicts(const struct access *a, const struct access *b) {
  if (strcmp(a->memory, b->memory) != 0) return 0;
  if (a->begin >= a->end || b->begin >= b->end) return 0;
  if (a->begin >= b->end || b->begin >= a->end) return 0;
  const int may_overlap = strcmp(a->how, "read") == 0 || strncmp(a->how, "atomic-", 7) == 0;
  return !(may_overlap && strcmp(a->how, b->how) == 0);
}

/* Reads "read a 0 64" at `text`; returns what follows, or null if there is none. */
static const char *read_access(const char *text, struct access *out) {
  int length = 0;
  if (sscanf(text, "%15s %255s %llu %llu%n", out->how, out->memory, &out->begin, &out->end,
             &length) != 4) {
    return NULL;
  }
  text += length;
  return *text == ',' ? text + 1 : text;
}

static int needs_barrier(const char *accesses) {
  struct access access;
  while ((accesses = read_access(accesses, &access)) != NULL) {
    for (size_t i = 0; i < since_count; ++i) {
      if (conflicts(&since[i], &access)) return 1;
    }
  }
  return 0;
}

static void remember(const char *accesses) {
  struct access access;
  while ((accesses = read_access(accesses, &access)) != NULL) {
    if (since_count == since_room) {
      since_room = 2 * since_room + 64;
      since = realloc(since, since_room * sizeof *since);
      if (since == NULL) exit(1);
    }
    since[since_count++] = access;
  }
}

/* Writes the program with its barriers to `out`, which has room for one before each line. */
static size_t encode(char *program, char *out) {
  size_t size = 0;
  since_count = 0;
  for (char *line = program, *next; *line != '\0'; line = next) {
    next = strchr(line, '\n');
    *next++ = '\0';
    const char *mark = strstr(line, "  # ");
    const char *accesses = mark != NULL ? mark + 4 : "";
    const char *destroy = strstr(line, "destroy ");
    const int is_destroy =
        since_count > 0 && destroy != NULL && (destroy == line || destroy[-2] == ':');
    if (is_destroy || needs_barrier(accesses)) {
      size += (size_t)sprintf(out + size, "barrier\n");
      since_count = 0;
    }
    remember(accesses);
    size += (size_t)sprintf(out + size, "%s\n", line);
  }
  return size;
}

int main(void) {
  size_t size;
  while (scanf("program %zu", &size) == 1 && getchar() == '\n') {
    char *program = malloc(size + 1);
    char *out = malloc(9 * size + 1);
    if (program == NULL || out == NULL || fread(program, 1, size, stdin) != size) return 1;
    program[size] = '\0';
    const size_t out_size = encode(program, out);
    printf("program %zu\n", out_size);
    fwrite(out, 1, out_size, stdout);
    fflush(stdout);
    free(out);
    free(program);
  }
  return 0;
}
