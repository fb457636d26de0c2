#define _GNU_SOURCE
#include "CStrandline.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

int strandline_futex_wait(const uint32_t *word, uint32_t expected, int64_t nanoseconds) {
  struct timespec timeout = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  return (int)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, nanoseconds < 0 ? NULL : &timeout, NULL, 0);
}

void strandline_futex_wake(const uint32_t *word, int count) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

int strandline_rename_noreplace(const char *from, const char *to) {
  if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -1;
  // The file system does not know the flag. A look before the rename is all that is left; the store's lock
  // already keeps other processes of ours out.
  struct stat status;
  if (lstat(to, &status) == 0) {
    errno = EEXIST;
    return -1;
  }
  return rename(from, to);
}

int strandline_fallocate(int descriptor, int64_t offset, int64_t length) {
  return fallocate(descriptor, 0, offset, length);
}

int strandline_clone(int to, int from) { return ioctl(to, FICLONE, from); }

int64_t strandline_next_data(int descriptor, int64_t offset) {
  struct statfs status;
  if (fstatfs(descriptor, &status) != 0) return -1;
  switch ((uint32_t)status.f_type) {
    case 0xEF53:      // ext2, ext3, ext4
    case 0x58465342:  // XFS
    case 0x01021994:  // tmpfs
      return lseek(descriptor, offset, SEEK_DATA);
    default:
      // OpenZFS has called a hole what was written and not yet on the disk; who is not known to be right is not asked.
      return offset;
  }
}

int64_t strandline_file_system_type(const char *path) {
  struct statfs status;
  if (statfs(path, &status) != 0) return -1;
  return (int64_t)(uint32_t)status.f_type;
}

int strandline_pin_to_processor(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  return sched_setaffinity(0, sizeof set, &set);
}

void strandline_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }
