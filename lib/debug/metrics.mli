(** Numbers for a monitoring system: waiting tasks, lengths of queues, times of
    waiting and holding, and the use of workers and pools.

    {b Stability}: experimental, because a new kind of wait or report may change
    its types.

    Run your program with [CONCORD_DEBUG=metrics], or call {!start} before it
    makes its structures. Give names to the structures you want to see. Then
    {!to_openmetrics} is the text for a monitoring system such as Prometheus:

    {[
      # Tools.Metrics.start ()
      - : unit = ()
      # let jobs = Mailbox.create ~name:"jobs" ()
      val jobs : '_weak1 Mailbox.t = <abstr>
      # List.iter (Mailbox.add jobs) [ "a"; "b"; "c" ]
      - : unit = ()
      # let { Tools.Metrics.structures; _ } = Tools.Metrics.snapshot () in
        List.filter_map
          (fun { Tools.Metrics.name; length; _ } ->
            if name = "jobs" then length else None)
          structures
      - : int list = [3]
    ]}

    {2 What is measured}

    - Each wait in an operation of the library, of all hosts, by operation and
      name of the structure. A choice counts as a wait in each of its
      structures. If a task is woken and has to wait again, this is another
      wait.
    - The time from taking to giving back a {!Mutex}, an {!Rwlock}, a resource
      of a {!Pool}, the value of an {!Mvar} in [modify], and a permit of a
      {!Semaphore} in [with_permit] and the like. Plain [acquire] and [release]
      aren't measured, because any task may release.
    - The lengths of streams, mailboxes and work queues, pool resources in use,
      and workers and threads with a job.

    Structures without a name are counted together, under the name [""]. Several
    structures of one kind with one name are one structure here, with the sums
    of their numbers. Stdlib's and Eio's signatures leave no room for names of
    {!Mutex}, {!Semaphore}, {!Condition} and {!Stream}, so use
    {!Debug.val-named} for these. A stream or semaphore created before {!start}
    has no length here, even if it gets a name.

    {2 Cost}

    Off, nothing here has a cost, except that a worker reads a word when it has
    woken up. On, each wait takes two clock readings and a search for the name,
    a free lock is taken and given back by slower code, and waiting domains
    don't spin. {{!page-diagnosis.costs}A table} has the times. The names of
    structures are kept as by {!Debug.val-named}. No structure is kept alive.

    Names should be few, such as ["jobs"], and not made for each request. At
    most 1,000 pairs of an operation and a name are kept, and as many for
    holders. The rest is counted under the name ["(others)"], and the first
    {!val-snapshot} afterwards says so on the standard error. A name is UTF-8 of
    at most 200 bytes here: a longer one is cut, and each byte that isn't UTF-8
    becomes U+FFFD. Names that are then equal are counted together.

    In the child of a fork, the numbers go on from those of its parent, with the
    waits of threads that the child doesn't have.

    No function of this module suspends. All are safe from any domain and
    thread.

    @canonical Concord.Tools.Metrics *)

val start : unit -> unit
(** [start ()] measures from now on. Structures already taken aren't measured
    until they are taken again. *)

val is_on : unit -> bool
(** [is_on ()] is [true] after {!start}. O(1). *)

type times = (float * int) list
(** How many waits or holds took at most so many seconds, for growing limits: 1
    us, 4 us, 16 us and so on, up to 67 s, and [infinity]. *)

val quantile : float -> times -> float option
(** [quantile q times] is the least limit that a part [q] of them didn't exceed,
    or [None] if there were none. For example, 99 of 100 waits took at most
    [quantile 0.99 wait_times]. The true quantile may be up to four times
    smaller. *)

type wait = {
  operation : string;  (** For example ["Mvar.take"]. *)
  structure : string;  (** The name. *)
  waiting : int;  (** How many tasks wait now. *)
  waits : int;  (** How many waits have ended, for whatever reason. *)
  waited : float;  (** How long these took together, in seconds. *)
  wait_times : times;  (** How long each took. *)
}

type hold = {
  kind : string;  (** For example ["mutex"]. *)
  structure : string;
  holds : int;  (** How often it was given back. *)
  held : float;  (** How long it was held until then, in seconds. *)
  hold_times : times;  (** How long each time. *)
}

type structure = {
  kind : string;
      (** ["stream"], ["mailbox"], ["work queue"], ["pool"], ["semaphore"],
          ["workers"] or ["blocking calls"]. *)
  name : string;
      (** It may be [""] for workers and blocking calls created since {!start}.
          Others are listed only if they have a name. *)
  number : int;  (** How many structures of this kind have this name. *)
  length : int option;
      (** The number of items, or of jobs and calls that wait for a worker or a
          thread. *)
  capacity : int option;  (** The limit of [length], if there is one. *)
  used : int option;
      (** The number of permits, resources, workers or threads in use. *)
  limit : int option;  (** The limit of [used]. *)
  busy : float option;
      (** How many seconds workers or threads have worked, added up. The calls
          of {!Blocking} count when they end. *)
}

type snapshot = {
  waits : wait list;
  holds : hold list;
  structures : structure list;
}
(** Each list is in the order of its names. The counts only grow. *)

val snapshot : unit -> snapshot
(** [snapshot ()] is what was measured until now.

    - {b Cost}: O(n log n) for [n] structures that have a name or were created
      since {!start}. *)

val to_openmetrics : snapshot -> string
(** [to_openmetrics snapshot] is the snapshot in the text format of OpenMetrics
    1.0. Its type is {!content_type}.

    {t
      | metric                                                   | is                                                                                                      |
      |----------------------------------------------------------|---------------------------------------------------------------------------------------------------------|
      | [concord_waiting_tasks{operation,structure}]             | how many tasks wait now                                                                                 |
      | [concord_wait_seconds{operation,structure}]              | a histogram: [_count] of the waits, [_sum] of their time, and [_bucket] of those that took at most [le] |
      | [concord_hold_seconds{kind,structure}]                   | the same for holders                                                                                    |
      | [concord_length{kind,structure}], [concord_length_limit] | items, or jobs that wait for a worker                                                                   |
      | [concord_in_use{kind,structure}], [concord_in_use_limit] | resources, permits, workers and threads                                                                 |
      | [concord_busy_seconds_total{kind,structure}]             | the working time of workers and threads                                                                 |
      | [concord_structures{kind,structure}]                     | how many structures have this name                                                                      |
    } *)

val content_type : string
(** The value of the header [Content-Type] for {!to_openmetrics}. *)
