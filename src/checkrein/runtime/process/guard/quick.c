/* The clear case of the warden, compiled.

A start is clear here when Python has judged the same file before, under the same path and first word, to be
one program that no rule is about, whatever its arguments. This code answers such a start and compares what
has started. It makes no judgement: all else goes to Python, with what was received so far. `quick.py` is the
other side; `faces._known`, `caller._short` and `tracer` say the same in Python, and why.

The memory of a caller is hostile: it is read once, into rooms of fixed size, and what does not fit goes to
Python. One thread uses this code. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#else
#error "the guard knows the system calls of x86-64 and arm64 only"
#endif

#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x1000U
#endif
#ifndef SECCOMP_USER_NOTIF_FLAG_CONTINUE
#define SECCOMP_USER_NOTIF_FLAG_CONTINUE 1
#endif
#define IS_VALID SECCOMP_IOW(2, uint64_t) /* older headers have another direction in it */

/* Device and mount, in fields that follow each other: the mount is younger than the headers of some machines. */
#define MOUNT offsetof(struct statx, stx_dev_major)
#define MOUNT_SIZE (2 * sizeof(uint32_t) + sizeof(uint64_t))

enum {
    TEXT = 256,
    POINTERS = 64,
    NEAR = 1 << 16,
    TAIL = 512,
    LINE = 1 << 14,
    ENTRIES = 1024,
    PROBES = 8,
    TRACED = 32,
    COMMANDS = 64,
    SEEN = 512,
};

struct file {
    uint64_t device, inode, size;
    int64_t modified, changed;
};

struct entry {
    uint32_t lookout; /* 0: free */
    uint32_t path_size, name_size;
    struct file file;
    char text[2 * TEXT];
};

/* A start that was let through. */
struct expected {
    int32_t pid; /* 0: free */
    uint32_t command;
    uint64_t device, inode;
    int64_t began;
    uint64_t size;
    char *line;
};

struct command {
    uint32_t number; /* 0: free */
    uint32_t lookout;
    int listener;
    int seen_count;
    int32_t *seen;
};

/* What Python gets with a descriptor. */
struct received {
    int32_t call_state; /* 0: none, 1: received, -1: it could not be received */
    int32_t call_error;
    struct seccomp_notif call;
    int32_t pid, status;          /* a change of a child; pid 0: none */
    const struct expected *given; /* a start that Python follows from now on */
};

static int epoll_descriptor, signal_descriptor;
static int64_t patience;
static size_t page;
static struct statx root;
static struct entry entries[ENTRIES];
static struct expected traced[TRACED];
static char lines[TRACED][LINE];
static struct command commands[COMMANDS];
static int32_t seen[COMMANDS][SEEN];
static struct received received;
static char words[NEAR + TAIL];

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int root_of(const char *process, struct statx *found)
{
    char path[32];
    const unsigned wanted = STATX_INO | STATX_MNT_ID;

    snprintf(path, sizeof path, "/proc/%s/root", process);
    return statx(AT_FDCWD, path, 0, wanted, found) == 0 && (found->stx_mask & wanted) == wanted;
}

static int has_our_view(int32_t pid)
{
    char process[16];
    struct statx found;

    snprintf(process, sizeof process, "%d", pid);
    return root_of(process, &found) && found.stx_ino == root.stx_ino &&
           memcmp((char *)&found + MOUNT, (char *)&root + MOUNT, MOUNT_SIZE) == 0;
}

static int is_peculiar(const char *path)
{
    return strstr(path, "/proc/") != NULL || strncmp(path, "/dev/", 5) == 0;
}

/* The calls to judge ------------------------------------------------------------------------------------ */

static uint32_t place_of(uint32_t lookout, const char *path, size_t path_size, const char *name, size_t name_size)
{
    uint32_t hash = 2166136261U ^ lookout;

    for (size_t at = 0; at < path_size; at++)
        hash = (hash ^ (unsigned char)path[at]) * 16777619U;
    for (size_t at = 0; at < name_size; at++)
        hash = (hash ^ (unsigned char)name[at]) * 16777619U;
    return hash;
}

static int is_same(const struct entry *one, uint32_t lookout, const char *path, size_t path_size, const char *name,
                   size_t name_size)
{
    return one->lookout == lookout && one->path_size == path_size && one->name_size == name_size &&
           memcmp(one->text, path, path_size) == 0 && memcmp(one->text + TEXT, name, name_size) == 0;
}

static const struct entry *entry_of(uint32_t lookout, const char *path, size_t path_size, const char *name,
                                    size_t name_size)
{
    uint32_t place = place_of(lookout, path, path_size, name, name_size);

    for (uint32_t step = 0; step < PROBES; step++) {
        const struct entry *one = &entries[(place + step) % ENTRIES];
        if (is_same(one, lookout, path, path_size, name, name_size))
            return one;
    }
    return NULL;
}

static int is_file(const struct stat *about, const struct file *file)
{
    return about->st_dev == file->device && about->st_ino == file->inode && (uint64_t)about->st_size == file->size &&
           (int64_t)about->st_mtim.tv_sec * 1000000000 + about->st_mtim.tv_nsec == file->modified &&
           (int64_t)about->st_ctim.tv_sec * 1000000000 + about->st_ctim.tv_nsec == file->changed;
}

static struct expected *traced_of(int32_t pid)
{
    for (int at = 0; at < TRACED; at++)
        if (traced[at].pid == pid)
            return &traced[at];
    return NULL;
}

static size_t within_page(uint64_t address, size_t size)
{
    size_t left = page - address % page;
    return size < left ? size : left;
}

/* The path and the first word that a caller gave, its command line into `into`. 0 when Python must read. */
static int read_words(int32_t pid, uint64_t path_at, uint64_t argv_at, char *path, struct expected *into)
{
    uint64_t pointers[POINTERS], first, last;
    const size_t path_size = within_page(path_at, TEXT);
    const size_t list_size = within_page(argv_at, sizeof pointers) & ~(size_t)7;
    struct iovec here[2] = {{path, path_size}, {pointers, list_size}};
    struct iovec there[2] = {{(void *)(uintptr_t)path_at, path_size}, {(void *)(uintptr_t)argv_at, list_size}};
    size_t count = 0, filled = 0;
    ssize_t size;

    if (list_size == 0 || process_vm_readv(pid, here, 2, there, 2, 0) != (ssize_t)(path_size + list_size))
        return 0;
    if (memchr(path, 0, path_size) == NULL)
        return 0;
    while (count < list_size / 8 && pointers[count] != 0)
        count++;
    if (count == 0 || count == list_size / 8)
        return 0;
    first = last = pointers[0];
    for (size_t at = 1; at < count; at++) {
        first = pointers[at] < first ? pointers[at] : first;
        last = pointers[at] > last ? pointers[at] : last;
    }
    if (last - first >= NEAR)
        return 0;
    here[0] = (struct iovec){words, last - first + TAIL};
    there[0] = (struct iovec){(void *)(uintptr_t)first, last - first + TAIL};
    size = process_vm_readv(pid, here, 1, there, 1, 0);
    for (size_t at = 0; at < count; at++) {
        const uint64_t begin = pointers[at] - first;
        const char *word = words + begin, *end;

        if (size <= 0 || begin >= (uint64_t)size)
            return 0;
        end = memchr(word, 0, (size_t)size - begin);
        if (end == NULL || (size_t)(end - word) + 1 > LINE - filled)
            return 0;
        memcpy(into->line + filled, word, (size_t)(end - word) + 1);
        filled += (size_t)(end - word) + 1;
    }
    into->size = filled;
    return 1;
}

/* Answer a clear start. 0 when Python must. */
static int answered(struct command *command)
{
    const struct seccomp_notif *call = &received.call;
    const int32_t pid = (int32_t)call->pid;
    const uint64_t path_at = call->data.args[0], argv_at = call->data.args[1];
    char path[TEXT];
    struct seccomp_notif_resp answer = {.id = call->id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    struct expected *expected = traced_of(0);
    struct stat about;
    const struct entry *known;
    uint64_t id = call->id;

    if (call->data.nr != __NR_execve || call->data.arch != MACHINE || pid <= 0 || command->lookout == 0)
        return 0;
    if (expected == NULL || command->seen_count == SEEN || traced_of(pid) != NULL)
        return 0;
    if ((path_at | argv_at) >> 56 || !read_words(pid, path_at, argv_at, path, expected))
        return 0;
    if (path[0] != '/' || is_peculiar(path) || !has_our_view(pid))
        return 0;
    known = entry_of(command->lookout, path, strlen(path), expected->line, strlen(expected->line));
    if (known == NULL || stat(path, &about) != 0 || !is_file(&about, &known->file))
        return 0;
    if (!S_ISREG(about.st_mode) || about.st_mode & (S_ISUID | S_ISGID))
        return 0;
    if (ioctl(command->listener, IS_VALID, &id) != 0)
        return 0;
    if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)(uintptr_t)(PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)) != 0)
        return 0;
    expected->pid = pid;
    expected->command = command->number;
    expected->device = about.st_dev;
    expected->inode = about.st_ino;
    expected->began = now();
    command->seen[command->seen_count++] = pid;
    ioctl(command->listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    return 1;
}

static void give(struct expected *expected)
{
    if (expected != NULL) {
        expected->pid = -expected->pid; /* its room stays as it is until the next wait */
        received.given = expected;
    }
}

static struct command *command_of(int listener)
{
    for (int at = 0; at < COMMANDS; at++)
        if (commands[at].number != 0 && commands[at].listener == listener)
            return &commands[at];
    return NULL;
}

/* Take the next call of a command. 0 when Python has to do with it. */
static int notified(struct command *command)
{
    memset(&received.call, 0, sizeof received.call);
    if (ioctl(command->listener, SECCOMP_IOCTL_NOTIF_RECV, &received.call) != 0) {
        received.call_state = -1;
        received.call_error = errno;
        return 0;
    }
    if (answered(command))
        return 1;
    received.call_state = 1;
    give(traced_of((int32_t)received.call.pid));
    return 0;
}

/* Changes of processes ---------------------------------------------------------------------------------- */

static int shows(int32_t pid, const struct expected *expected)
{
    char path[32];
    struct stat about;
    size_t filled = 0;
    int file;

    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    if (stat(path, &about) != 0 || about.st_dev != expected->device || about.st_ino != expected->inode)
        return 0;
    snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    while (filled <= expected->size) { /* one byte more than expected would be another line */
        ssize_t got = read(file, words + filled, expected->size + 1 - filled);
        if (got <= 0)
            break;
        filled += (size_t)got;
    }
    close(file);
    return filled == expected->size && memcmp(words, expected->line, filled) == 0;
}

/* Let a start go on that is the one which was judged. 0 when Python has to do with the change. */
static int confirmed(int32_t pid, int status)
{
    struct expected *expected = traced_of(pid);

    if (!WIFSTOPPED(status) || status >> 16 != PTRACE_EVENT_EXEC) {
        give(expected);
        return 0;
    }
    if (expected == NULL) {
        unsigned long former = 0;
        ptrace(PTRACE_GETEVENTMSG, pid, NULL, &former);
        if (former != 0)
            give(traced_of((int32_t)former));
        return 0;
    }
    if (!shows(pid, expected)) {
        give(expected);
        return 0;
    }
    expected->pid = 0;
    ptrace(PTRACE_DETACH, pid, NULL, NULL);
    return 1;
}

/* Look at all that changed, up to the first that Python has to do with: 1, and `received` has it. */
static int changed(void)
{
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, WNOHANG | __WALL);

        if (pid <= 0)
            return 0;
        if (!confirmed(pid, status)) {
            received.pid = pid;
            received.status = status;
            return 1;
        }
    }
}

/* Whoever waits comes first. The signal is taken after that, and a look at all follows. */
static int signalled(void)
{
    char taken[1024];

    if (changed())
        return 1;
    if (read(signal_descriptor, taken, sizeof taken) < 0 && errno != EAGAIN)
        return 1;
    return changed();
}

/* For Python -------------------------------------------------------------------------------------------- */

/* Python has what it got: rooms that were given away are free. */
static void begin(void)
{
    for (int at = 0; at < TRACED; at++)
        if (traced[at].pid < 0)
            traced[at].pid = 0;
    memset(&received, 0, sizeof received);
}

/* NULL where this code is of no use. `sizes` are those that Python takes `received`, `expected` and `file` for. */
struct received *quick_open(int epoll, int signals, int64_t nanoseconds, const uint32_t sizes[3])
{
    if (sizes[0] != sizeof(struct received) || sizes[1] != sizeof(struct expected) ||
        sizes[2] != sizeof(struct file) || !root_of("self", &root))
        return NULL;
    epoll_descriptor = epoll;
    signal_descriptor = signals;
    patience = nanoseconds;
    page = (size_t)sysconf(_SC_PAGESIZE);
    memset(entries, 0, sizeof entries);
    memset(traced, 0, sizeof traced);
    memset(commands, 0, sizeof commands);
    for (int at = 0; at < TRACED; at++)
        traced[at].line = lines[at];
    for (int at = 0; at < COMMANDS; at++)
        commands[at].seen = seen[at];
    return &received;
}

/* Answer what is clear until Python has work: its descriptor, or -1 when `limit` (nanoseconds; -1: none) or the
   patience with a start is over. */
int quick_wait(int64_t limit)
{
    const int64_t end = limit < 0 ? INT64_MAX : now() + limit;

    begin();
    for (;;) {
        struct epoll_event event;
        int64_t next = end, time = now();
        struct command *command;
        int found, wait = -1;

        for (int at = 0; at < TRACED; at++)
            if (traced[at].pid > 0 && traced[at].began + patience < next)
                next = traced[at].began + patience;
        if (next != INT64_MAX)
            wait = next <= time ? 0 : (int)((next - time) / 1000000 < 1000 ? (next - time) / 1000000 + 1 : 1000);
        /* One at a time: what one event closes, another may have reused. */
        found = epoll_wait(epoll_descriptor, &event, 1, wait);
        if (found < 0)
            return -1;
        if (found > 0 && event.data.fd == signal_descriptor) {
            if (signalled())
                return event.data.fd;
        } else if (found > 0) {
            command = event.events & EPOLLIN ? command_of(event.data.fd) : NULL;
            if (command == NULL || !notified(command))
                return event.data.fd;
        }
        if (now() >= next)
            return -1;
    }
}

/* The next change of a process that is Python's: 1, and `received` has it. */
int quick_change(void)
{
    if (received.pid != 0)
        return 1;
    begin();
    return changed();
}

/* Give away a start that takes longer than the patience with it. 0 when there is none. */
int quick_overdue(void)
{
    const int64_t time = now();

    begin();
    for (int at = 0; at < TRACED; at++)
        if (traced[at].pid > 0 && traced[at].began + patience <= time) {
            give(&traced[at]);
            return 1;
        }
    return 0;
}

/* The calls of a listener may be answered here. 0 when there is no room. */
int quick_listen(uint32_t number, uint32_t lookout, int listener)
{
    for (int at = 0; at < COMMANDS; at++)
        if (commands[at].number == 0) {
            commands[at].number = number;
            commands[at].lookout = lookout;
            commands[at].listener = listener;
            commands[at].seen_count = 0;
            return 1;
        }
    return 0;
}

/* Who has started something in a command since the last time: how many, in `into`, which has room for SEEN. */
int quick_seen(uint32_t number, int32_t *into)
{
    for (int at = 0; at < COMMANDS; at++)
        if (commands[at].number == number) {
            int count = commands[at].seen_count;
            memcpy(into, commands[at].seen, (size_t)count * sizeof *into);
            commands[at].seen_count = 0;
            return count;
        }
    return 0;
}

/* Answer nothing of a command any more. Gives away one of its starts; 0 when there is none left. */
int quick_forget(uint32_t number)
{
    begin();
    for (int at = 0; at < COMMANDS; at++)
        if (commands[at].number == number)
            commands[at].number = 0;
    for (int at = 0; at < TRACED; at++)
        if (traced[at].pid > 0 && traced[at].command == number) {
            give(&traced[at]);
            return 1;
        }
    return 0;
}

/* A file is clear under this path and first word, whatever its arguments, in the commands of a lookout. */
void quick_admit(uint32_t lookout, const struct file *file, const char *path, uint32_t path_size, const char *name,
                 uint32_t name_size)
{
    const uint32_t place = place_of(lookout, path, path_size, name, name_size);
    struct entry *one = &entries[place % ENTRIES];

    if (lookout == 0 || path_size >= TEXT || name_size >= TEXT)
        return;
    for (uint32_t step = 0; step < PROBES; step++) {
        struct entry *other = &entries[(place + step) % ENTRIES];
        if (is_same(other, lookout, path, path_size, name, name_size)) {
            one = other;
            break;
        }
        if (other->lookout == 0 && one->lookout != 0)
            one = other;
    }
    one->lookout = lookout;
    one->path_size = path_size;
    one->name_size = name_size;
    one->file = *file;
    memcpy(one->text, path, path_size);
    memcpy(one->text + TEXT, name, name_size);
}

/* The lookout is no longer current. */
void quick_drop(uint32_t lookout)
{
    for (int at = 0; at < ENTRIES; at++)
        if (entries[at].lookout == lookout)
            entries[at].lookout = 0;
}

#ifndef QUICK_SOURCE
#define QUICK_SOURCE 0
#endif
/* The checksum of the sources when they were compiled. */
const uint32_t quick_source = QUICK_SOURCE;
