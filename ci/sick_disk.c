// LD_PRELOAD: a disk that fails or hangs below the folder SICK_DISK, as long as the file SICK_DISK_DOES says so: "error N" (an
// errno, for every call), "hang write" or "hang read" (writes and syncs, or reads, wait until it says something else).
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int below(const char* path) {
  const char* folder = getenv("SICK_DISK");
  return folder && path && strncmp(path, folder, strlen(folder)) == 0;
}

static const char* name_of(int fd, char* name, size_t size) {
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const long length = syscall(SYS_readlinkat, -100, link, name, size - 1);
  name[length < 0 ? 0 : length] = 0;
  return name;
}

// 0, or -1 and errno. Waits where the disk hangs in calls of this kind.
static int sick(const char* path, const char* kind) {
  while (below(path)) {
    char does[32] = "";
    const int fd = (int)syscall(SYS_openat, -100, getenv("SICK_DISK_DOES"), 02000000);
    if (fd < 0) return 0;
    if (syscall(SYS_read, fd, does, sizeof does - 1) < 0) does[0] = 0;
    syscall(SYS_close, fd);
    if (strncmp(does, "error ", 6) == 0) {
      errno = atoi(does + 6);
      return -1;
    }
    if (strncmp(does, "hang ", 5) != 0 || strcmp(does + 5, kind) != 0) return 0;
    usleep(20000);
  }
  return 0;
}

static int sick_fd(int fd, const char* kind) {
  char name[4096];
  return sick(name_of(fd, name, sizeof name), kind);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define OF_PATH(type, failed, name, parameters, arguments, path) \
  type name parameters { return sick(path, "name") ? failed : REAL(name) arguments; }
#define OF_FD(type, name, parameters, arguments, kind) \
  type name parameters { return sick_fd(fd, kind) ? -1 : REAL(name) arguments; }

// Not <fcntl.h>: the mode is there, or not looked at.
int open(const char*, int, mode_t), open64(const char*, int, mode_t), openat(int, const char*, int, mode_t);

OF_PATH(int, -1, open, (const char* path, int flags, mode_t mode), (path, flags, mode), path)
OF_PATH(int, -1, open64, (const char* path, int flags, mode_t mode), (path, flags, mode), path)
OF_PATH(int, -1, openat, (int at, const char* path, int flags, mode_t mode), (at, path, flags, mode), path)
OF_PATH(FILE*, NULL, fopen, (const char* path, const char* mode), (path, mode), path)
OF_PATH(FILE*, NULL, fopen64, (const char* path, const char* mode), (path, mode), path)
OF_PATH(DIR*, NULL, opendir, (const char* path), (path), path)
OF_PATH(int, -1, stat, (const char* path, struct stat* status), (path, status), path)
OF_PATH(int, -1, stat64, (const char* path, struct stat64* status), (path, status), path)
OF_PATH(int, -1, lstat, (const char* path, struct stat* status), (path, status), path)
OF_PATH(int, -1, lstat64, (const char* path, struct stat64* status), (path, status), path)
OF_PATH(int, -1, mkdir, (const char* path, mode_t mode), (path, mode), path)
OF_PATH(int, -1, unlink, (const char* path), (path), path)
OF_PATH(int, -1, rmdir, (const char* path), (path), path)
OF_PATH(int, -1, remove, (const char* path), (path), path)
OF_PATH(int, -1, rename, (const char* from, const char* to), (from, to), to)
OF_PATH(int, -1, link, (const char* from, const char* to), (from, to), to)
OF_PATH(int, -1, renameat2, (int at, const char* from, int there, const char* to, unsigned flags), (at, from, there, to, flags), to)
OF_FD(int, fstat, (int fd, struct stat* status), (fd, status), "name")
OF_FD(int, fsync, (int fd), (fd), "write")
OF_FD(int, fdatasync, (int fd), (fd), "write")
OF_FD(ssize_t, write, (int fd, const void* bytes, size_t size), (fd, bytes, size), "write")
OF_FD(ssize_t, read, (int fd, void* bytes, size_t size), (fd, bytes, size), "read")
OF_FD(ssize_t, pread, (int fd, void* bytes, size_t size, off_t at), (fd, bytes, size, at), "read")
