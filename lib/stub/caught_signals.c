/* Signals that a program waits for. OCaml runs its own signal handlers only in a thread that runs OCaml code, so none runs
   while all threads sleep. The handler of this file is a C function. It writes to a pipe, from which a thread of OCaml reads.

   The handler calls only getpid, write, sigaction and raise, and preserves errno. Nothing here allocates in OCaml's heap or
   releases OCaml's lock. So no other thread of the domain runs in between. OCaml allows fork only to a program with one
   domain, so fork never finds [lock] held. */

/* Needed only for caml_convert_signal_number and caml_rev_convert_signal_number, which OCaml's Unix calls too, from 5.1 to
   5.5. This file reads no record of the runtime. */
#define CAML_INTERNALS

#include <caml/mlvalues.h>
#include <caml/signals.h>

#ifdef _WIN32

value concord_signal_number(value signal) { return Val_long(0); }
value concord_signal_catch(value pipe, value number, value every) { return Val_long(-1); }
value concord_signal_release(value number, value since, value every) { return Val_unit; }
value concord_signal_count(value number) { return Val_long(0); }
value concord_signal_named(value number) { return number; }

#else

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define MOST 65 /* Linux has the signals 1 to 64, and other systems have fewer. */

/* The states of words[n], for signal n. Bit 0 (ONCE) and bit 1 (EVERY) say how the program waits. The bits above them are the
   number of signals so far.

   Waits    Left by   To                     By whom
   no       catch     ONCE or EVERY          any thread, with [lock]
   ONCE     deliver   no, one signal more    the handler, in any thread
            release   no                     any thread, with [lock], for the last waiter of this kind
   EVERY    deliver   EVERY, one signal more the handler
            release   no                     any thread, with [lock], for the last waiter
   both     deliver   EVERY, one signal more the handler
            release   one of them            any thread, with [lock], for the last waiter of the other kind

   If the program doesn't wait when a signal comes, the signal is passed on to the disposition that the program had before. So
   a second SIGTERM is passed on, even if no thread has read from the pipe that the first one came. */
enum { ONCE = 1, EVERY = 2, ONE_MORE = 4 };
static _Atomic uintnat words[MOST];

/* The process whose signals are counted, and its pipe. The child of a fork inherits the handler. There the handler passes on
   all signals, until the child catches some itself. */
static _Atomic pid_t owner;
static _Atomic int pipe_of_owner;

/* The disposition that the program had before. A record is never changed or freed, because a handler may be reading it. A new
   record is made only if the program has changed its disposition since. */
static struct sigaction *_Atomic before[MOST];

/* The code below is called with this lock, except the handler, which doesn't take it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  uintnat since; /* the number of signals that had come when the [once] waiters began */
  uintnat once;
  uintnat every;
} waiters[MOST];

/* --- The handler --- */

static int deliver(int n) {
  if (atomic_load(&owner) != getpid()) return 0;
  uintnat word = atomic_load(&words[n]);
  do {
    if ((word & (ONCE | EVERY)) == 0) return 0;
  } while (!atomic_compare_exchange_weak(&words[n], &word, (word & ~(uintnat)ONCE) + ONE_MORE));
  /* If the pipe is full, [write] fails, but the reader is woken anyway. */
  ssize_t written = write(atomic_load(&pipe_of_owner), "!", 1);
  (void)written;
  return 1;
}

static void set_default(int n) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = SIG_DFL;
  sigaction(n, &action, NULL);
}

static void by_default(int n) {
  switch (n) {
  case SIGCHLD: case SIGCONT: case SIGURG: case SIGWINCH:
#ifdef SIGINFO /* macOS and the BSDs, which ignore SIGIO too */
  case SIGINFO: case SIGIO:
#endif
    break;
  case SIGTSTP: case SIGTTIN: case SIGTTOU:
    raise(SIGSTOP);
    break;
  default:
    /* The signal is blocked until the handler returns. Then it ends the process. */
    set_default(n);
    raise(n);
  }
}

static void pass_on(int n, siginfo_t *info, void *context) {
  const struct sigaction *action = atomic_load(&before[n]);
  if (action->sa_flags & SA_SIGINFO)
    action->sa_sigaction(n, info, context);
  else if (action->sa_handler == SIG_DFL)
    by_default(n);
  else if (action->sa_handler != SIG_IGN)
    action->sa_handler(n);
}

static void handle(int n, siginfo_t *info, void *context) {
  int saved = errno;
  if (!deliver(n)) pass_on(n, info, context);
  errno = saved;
}

/* --- Dispositions, with the lock --- */

static int is_ours(const struct sigaction *action) {
  return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == handle;
}

/* Compares what [pass_on] and [uninstall] need. */
static int is_same(const struct sigaction *a, const struct sigaction *b) {
  return a->sa_flags == b->sa_flags && memcmp(&a->sa_mask, &b->sa_mask, sizeof a->sa_mask) == 0 &&
         ((a->sa_flags & SA_SIGINFO) ? a->sa_sigaction == b->sa_sigaction : a->sa_handler == b->sa_handler);
}

static int keep(int n, const struct sigaction *action) {
  struct sigaction *kept = atomic_load(&before[n]);
  if (kept != NULL && is_same(kept, action)) return 1;
  kept = malloc(sizeof *kept);
  if (kept == NULL) return 0;
  *kept = *action;
  atomic_store(&before[n], kept);
  return 1;
}

static int install(int n) {
  struct sigaction ours, found;
  if (sigaction(n, NULL, &found) != 0) return 0;
  if (is_ours(&found)) return 1;
  if (!keep(n, &found)) return 0;
  memset(&ours, 0, sizeof ours);
  ours.sa_sigaction = handle;
  /* An OCaml task may run on a small stack, so use the alternative one. Let the system restart the calls that it can. */
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigemptyset(&ours.sa_mask);
  return sigaction(n, &ours, NULL) == 0;
}

/* If the program has set another handler meanwhile, that one stays. */
static void uninstall(int n) {
  struct sigaction found;
  if (sigaction(n, NULL, &found) == 0 && is_ours(&found)) sigaction(n, atomic_load(&before[n]), NULL);
}

static void no_longer(int n, uintnat bit) { atomic_fetch_and(&words[n], ~bit); }

/* --- What OCaml calls --- */

static void belong_to_this_process(int pipe) {
  pid_t process = getpid();
  if (atomic_load(&owner) == process) return;
  memset(waiters, 0, sizeof waiters);
  for (int n = 0; n < MOST; n++) no_longer(n, ONCE | EVERY);
  atomic_store(&pipe_of_owner, pipe);
  atomic_store(&owner, process);
}

/* Returns the system's number, or 0 if the program can't wait for that signal. */
value concord_signal_number(value signal) {
  intnat n = Long_val(signal);
  if (n < -1000 || n > 1000) return Val_long(0);
  n = caml_convert_signal_number((int)n);
  switch (n) {
  case SIGKILL: case SIGSTOP: /* cannot be caught */
  case SIGSEGV: case SIGBUS: case SIGFPE: case SIGILL: /* the fault would be repeated forever */
    return Val_long(0);
  }
  struct sigaction action;
  return Val_long(n > 0 && n < MOST && sigaction((int)n, NULL, &action) == 0 ? n : 0);
}

/* Returns OCaml's own number. */
value concord_signal_named(value number) { return Val_long(caml_rev_convert_signal_number(Int_val(number))); }

/* Returns the number of signals that had come before, or -1 if the handler can't be installed. */
value concord_signal_catch(value pipe, value number, value every) {
  int n = Int_val(number);
  intnat since = -1;
  pthread_mutex_lock(&lock);
  belong_to_this_process(Int_val(pipe));
  if (install(n)) {
    uintnat bit = Bool_val(every) ? EVERY : ONCE;
    since = (intnat)(atomic_fetch_or(&words[n], bit) / ONE_MORE);
    if (Bool_val(every))
      waiters[n].every++;
    else {
      if (waiters[n].since != (uintnat)since) waiters[n].once = 0;
      waiters[n].since = (uintnat)since;
      waiters[n].once++;
    }
  }
  pthread_mutex_unlock(&lock);
  return Val_long(since);
}

/* Undoes one [concord_signal_catch] that has returned [since]. */
value concord_signal_release(value number, value since, value every) {
  int n = Int_val(number);
  uintnat count = (uintnat)Long_val(since);
  pthread_mutex_lock(&lock);
  if (atomic_load(&owner) == getpid()) {
    if (Bool_val(every)) {
      if (--waiters[n].every == 0) no_longer(n, EVERY);
    } else if (waiters[n].since == count && waiters[n].once > 0 && --waiters[n].once == 0)
      /* A waiter for a later signal would have changed [since], because it takes the lock too. */
      no_longer(n, ONCE);
    if ((atomic_load(&words[n]) & (ONCE | EVERY)) == 0) uninstall(n);
  }
  pthread_mutex_unlock(&lock);
  return Val_unit;
}

value concord_signal_count(value number) { return Val_long(atomic_load(&words[Int_val(number)]) / ONE_MORE); }

#endif
