// Shims for what Swift's Glibc module cannot reach: inlined XXH3, GNU-only calls, typed variadics, futex, prefetch.
#ifndef CSTRANDLINE_H
#define CSTRANDLINE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/// XXH3-64 of `length` bytes with `seed`.
static inline uint64_t strandline_xxh3(const void *bytes, size_t length, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes, length, seed);
}

/// Version of the xxHash that was inlined at build time, as XXH_VERSION_NUMBER (0.8.0 = 800).
static inline unsigned strandline_xxh_version(void) { return XXH_VERSION_NUMBER; }

static inline void strandline_prefetch(const void *address) { __builtin_prefetch(address); }

/// Blocks while `*word == expected`; returns on a wake, a change, or a signal. At most `nanoseconds` if >= 0.
int strandline_futex_wait(const uint32_t *word, uint32_t expected, int64_t nanoseconds);
/// Wakes up to `count` threads that wait on `word`.
void strandline_futex_wake(const uint32_t *word, int count);

/// renameat2 with RENAME_NOREPLACE; falls back to link-free refusal where the file system lacks it. 0 or -1 with errno.
int strandline_rename_noreplace(const char *from, const char *to);
/// fallocate(2) mode 0: allocates [offset, offset + length) and grows the file. 0 or -1 with errno.
int strandline_fallocate(int descriptor, int64_t offset, int64_t length);
/// FICLONE: makes `to` share all bytes of `from`. 0 or -1 with errno (EOPNOTSUPP where unknown).
int strandline_clone(int to, int from);
/// lseek(2) with SEEK_DATA; `offset` itself where the file system's answer is not known to be sound. -1 with errno, ENXIO: nothing more.
int64_t strandline_next_data(int descriptor, int64_t offset);
/// Magic number of the file system that holds `path` (statfs f_type), or -1 with errno.
int64_t strandline_file_system_type(const char *path);
/// sched_setaffinity of the calling thread to one processor. 0 or -1 with errno.
int strandline_pin_to_processor(int processor);
/// Names the calling thread, at most 15 bytes, for debuggers and `top -H`.
void strandline_name_thread(const char *name);

#endif
