/* The children that wait for orders, compiled: `nursery.py` and `launcher.become` say the same in Python, and why.

A child shares the memory of the process that makes it until it becomes its command, so nothing is copied for it.
It has a room of its own for its stack and its order, and makes its system calls itself: the C library would keep
its errors where both see them. Orders come from the warden (`order_form.py`). */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif
#define LANDLOCK_RESTRICT_SELF 446

enum { ROOMS = 16, STACK = 1 << 16, ORDER = 1 << 15, WORDS = 4096, TARGETS = 256, NOT_STARTED = 127 };

/* What an order begins with. Then come the targets, the descriptors (one more with a ruleset), the filter, and the
   texts: directory, program, arguments, environment. */
struct head {
    uint32_t size, arguments, variables, targets, filter_size;
    int32_t has_ruleset, has_capabilities;
    uint32_t filler;
    uint64_t capabilities;
};

struct answer {
    int32_t error, listener, pid;
};

struct room {
    volatile pid_t tid; /* the kernel clears it when the child has become its command, or is gone */
    int orders, writing;
    char *words[WORDS];
    union {
        char bytes[ORDER];
        struct head head;
    } order;
    _Alignas(64) char stack[STACK];
};

static struct room rooms[ROOMS + 1];
static struct {
    int32_t warden, ruleset;
    struct sock_fprog program;
} fence;

/* The fifth argument is 0: prctl looks at it. */
static long call(long number, long first, long second, long third, long fourth)
{
#if defined(__x86_64__)
    long result;
    register long r10 __asm__("r10") = fourth;
    register long r8 __asm__("r8") = 0;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(first), "S"(second), "d"(third), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = first;
    register long x1 __asm__("x1") = second;
    register long x2 __asm__("x2") = third;
    register long x3 __asm__("x3") = fourth;
    register long x4 __asm__("x4") = 0;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
    return x0;
#else
#error "the guard knows the system calls of x86-64 and arm64 only"
#endif
}

static long to(const void *address)
{
    return (long)(uintptr_t)address;
}

static void tell(int writing, long error, long listener)
{
    struct answer answer = {(int32_t)error, (int32_t)listener, (int32_t)call(SYS_getpid, 0, 0, 0, 0)};
    call(SYS_write, writing, to(&answer), sizeof answer, 0);
}

/* 0, or the error of the first step that failed. */
static long ready(long *listener)
{
    static const char nothing[64]; /* the usual action; no signals */
    const unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
    long failed;

    call(SYS_rt_sigaction, SIGPIPE, to(nothing), 0, 8);
    call(SYS_rt_sigaction, SIGXFSZ, to(nothing), 0, 8);
    call(SYS_rt_sigprocmask, SIG_SETMASK, to(nothing), 0, 8);
    failed = call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0);
    if (failed == 0 && fence.ruleset >= 0)
        failed = call(LANDLOCK_RESTRICT_SELF, fence.ruleset, 0, 0, 0);
    if (failed != 0)
        return failed;
    *listener = call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, (long)(flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV),
                     to(&fence.program), 0);
    if (*listener == -EINVAL)
        *listener = call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, (long)flags, to(&fence.program), 0);
    return *listener < 0 ? *listener : 0;
}

static long confine(const struct head *head, int32_t ruleset, void *filter)
{
    long failed = 0;

    if (head->has_capabilities) {
        struct __user_cap_header_struct version = {_LINUX_CAPABILITY_VERSION_3, 0};
        struct __user_cap_data_struct held[2], kept[2];

        failed = call(SYS_capget, to(&version), to(held), 0, 0);
        memset(kept, 0, sizeof kept);
        kept[0].effective = held[0].effective & (uint32_t)head->capabilities;
        kept[0].permitted = held[0].permitted & (uint32_t)head->capabilities;
        if (failed == 0)
            failed = call(SYS_capset, to(&version), to(kept), 0, 0);
    }
    if (failed == 0 && head->has_ruleset)
        failed = call(LANDLOCK_RESTRICT_SELF, ruleset, 0, 0, 0);
    if (failed == 0 && head->filter_size > 0) {
        struct sock_fprog program = {(unsigned short)(head->filter_size / sizeof(struct sock_filter)), filter};
        failed = call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, to(&program), 0);
    }
    return failed;
}

/* Give each descriptor the number that the command knows it by. Everything else closes on exec. */
static long place(const int32_t *targets, const int32_t *descriptors, uint32_t count, int *writing)
{
    long aside[TARGETS], above = 0, moved;

    for (uint32_t at = 0; at < count; at++)
        above = targets[at] >= above ? targets[at] + 1 : above;
    for (uint32_t at = 0; at < count; at++) {
        aside[at] = call(SYS_fcntl, descriptors[at], F_DUPFD_CLOEXEC, above, 0);
        if (aside[at] < 0)
            return aside[at];
    }
    moved = call(SYS_fcntl, *writing, F_DUPFD_CLOEXEC, above, 0);
    if (moved < 0)
        return moved;
    *writing = (int)moved;
    for (uint32_t at = 0; at < count; at++) {
        moved = call(SYS_dup3, aside[at], targets[at], 0, 0);
        if (moved < 0)
            return moved;
    }
    return 0;
}

/* Become the command of an order. Returns only with an error. */
static long become(struct room *room, long size, int *writing)
{
    const struct head *head = &room->order.head;
    int32_t *targets = (int32_t *)(room->order.bytes + sizeof *head), *descriptors;
    char *filter, *text, *const end = room->order.bytes + size;
    uint32_t words;
    long failed;

    if (size < (long)sizeof *head || head->size != (uint32_t)size || head->targets > TARGETS ||
        head->filter_size > ORDER || head->arguments > WORDS || head->variables > WORDS)
        return -EINVAL;
    descriptors = targets + head->targets;
    filter = (char *)(descriptors + head->targets + (head->has_ruleset ? 1 : 0));
    words = 2 + head->arguments + head->variables;
    if (filter + head->filter_size > end || words + 2 > WORDS)
        return -EINVAL;
    text = filter + head->filter_size;
    for (uint32_t at = 0, word = 0; at < words; at++) {
        if (at == 2 + head->arguments)
            room->words[word++] = NULL;
        room->words[word++] = text;
        while (text < end && *text != 0)
            text++;
        if (text++ >= end)
            return -EINVAL;
    }
    if (head->variables == 0)
        room->words[words] = NULL;
    room->words[words + 1] = NULL;
    failed = call(SYS_chdir, to(room->words[0]), 0, 0, 0);
    if (failed == 0)
        failed = confine(head, descriptors[head->targets], filter);
    if (failed == 0)
        failed = place(targets, descriptors, head->targets, writing);
    if (failed == 0)
        failed = call(SYS_execve, to(room->words[1]), to(room->words + 2),
                      to(room->words + 2 + head->arguments + 1), 0);
    return failed;
}

static int child(void *given)
{
    struct room *room = given;
    int writing = room->writing;
    long listener = -1, failed, size;

    call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0);
    if (call(SYS_getppid, 0, 0, 0, 0) != fence.warden)
        call(SYS_exit_group, NOT_STARTED, 0, 0, 0);
    call(SYS_setsid, 0, 0, 0, 0);
    failed = ready(&listener);
    tell(writing, -failed, listener);
    if (failed == 0) {
        size = call(SYS_read, room->orders, to(room->order.bytes), ORDER, 0);
        failed = call(SYS_unshare, CLONE_FILES, 0, 0, 0);
        call(SYS_close, listener, 0, 0, 0);
        if (failed == 0)
            failed = size < 0 ? size : become(room, size, &writing);
        tell(writing, -failed, -1);
    }
    call(SYS_exit_group, NOT_STARTED, 0, 0, 0);
    return NOT_STARTED;
}

static void make(int orders, int writing)
{
    struct room *room = &rooms[ROOMS]; /* for a child with a copy of all memory, when the others are taken */
    int flags = CLONE_FILES | CLONE_PARENT | SIGCHLD;

    for (int at = 0; at < ROOMS; at++)
        if (rooms[at].tid == 0) {
            room = &rooms[at];
            room->tid = 1;
            flags |= CLONE_VM | CLONE_CHILD_CLEARTID;
            break;
        }
    room->orders = orders;
    room->writing = writing;
    if (clone(child, room->stack + STACK, flags, room, NULL, NULL, (void *)&room->tid) < 0)
        room->tid = 0;
}

/* In the process that makes the children: make one for each request, for ever. */
void quick_nursery(int requests, int32_t warden, int32_t ruleset, const void *program, uint32_t size)
{
    int32_t request[2];

    fence.warden = warden;
    fence.ruleset = ruleset;
    fence.program.len = (unsigned short)(size / sizeof(struct sock_filter));
    fence.program.filter = (struct sock_filter *)(uintptr_t)program;
    while (read(requests, request, sizeof request) == sizeof request)
        make(request[0], request[1]);
}
