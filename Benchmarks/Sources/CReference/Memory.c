#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "CReference.h"

enum { huge_page = 2 << 20 };

static size_t rounded(size_t byte_count) { return (byte_count + huge_page - 1) & ~(size_t)(huge_page - 1); }

void *reference_map(size_t byte_count) {
  // Over-allocated by one huge page so that the used part can begin on a boundary; the rest goes back at once.
  size_t size = rounded(byte_count);
  uint8_t *memory =
      mmap(NULL, size + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  size_t front = (huge_page - ((uintptr_t)memory & (huge_page - 1))) & (huge_page - 1);
  if (front > 0) munmap(memory, front);
  if (front < huge_page) munmap(memory + front + size, huge_page - front);
  madvise(memory + front, size, MADV_HUGEPAGE);
  return memory + front;
}

void reference_unmap(void *memory, size_t byte_count) {
  if (memory != NULL) munmap(memory, rounded(byte_count));
}

uint64_t reference_peak_resident_byte_count(void) {
  FILE *status = fopen("/proc/self/status", "r");
  if (status == NULL) return 0;
  char line[256];
  unsigned long long kibibytes = 0;
  while (fgets(line, sizeof line, status) != NULL) {
    if (sscanf(line, "VmHWM: %llu", &kibibytes) == 1) break;
  }
  fclose(status);
  return kibibytes * 1024;
}

int reference_copy_file(const char *source, const char *target) {
  int from = open(source, O_RDONLY | O_CLOEXEC);
  if (from < 0) return errno;
  int failure = 0;
  int to = open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (to < 0) failure = errno;
  while (failure == 0) {
    ssize_t count = sendfile(to, from, NULL, 64 << 20);
    if (count < 0) failure = errno;
    if (count <= 0) break;
  }
  if (failure == 0 && fdatasync(to) != 0) failure = errno;
  if (to >= 0) close(to);
  close(from);
  return failure;
}

int reference_drop_cache(const char *path) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno;
  int failure = fdatasync(file) == 0 ? 0 : errno;  // dirty pages would stay
  if (failure == 0) failure = posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  close(file);
  return failure;
}

const char *reference_compiler(void) {
#if defined(__clang__)
#define TEXT(x) #x
#define VERSION(a, b, c) "clang " TEXT(a) "." TEXT(b) "." TEXT(c)
  return VERSION(__clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return "gcc " __VERSION__;
#endif
}
