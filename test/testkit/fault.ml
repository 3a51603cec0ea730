(* The faults that the small scheduler may have. *)

type t =
  | Is_never_innermost  (** Reach: its loop runs outside [using]. *)
  | Has_no_handler  (** Reach: its tasks run outside its handler. *)
  | Starves_while_one_waits
      (** Reach: a ready task doesn't run while another one waits. *)
  | Starves_one_spawned  (** Turns: it never runs the third spawned task. *)
  | Starves_one_resumed  (** Turns: it never runs the third resumed task. *)
  | Calls_block_again
      (** H1: it calls [block] again after that has returned [Some]. *)
  | Runs_in_resumer
      (** H2: if a task resumes another one, that one continues inside the
          resumer. *)
  | Resumer_blocks  (** H2: the resumer blocks until the task has run. *)
  | Breaks_promise
      (** H3: a task that was resumed and then cancelled is cancelled. *)
  | Accepts_again  (** H3: a resumer answers [true] each time. *)
  | Sleeps_too_early
      (** H4: it checks its queue before it announces that it sleeps. *)
  | Forgets_one_bell  (** H4: nothing can wake its 200th sleep. *)
  | Never_wakes
      (** H2, H4 and many more: a resumer that another thread calls doesn't wake
          the loop. *)
  | Drops_in_block
      (** S1: if a task is resumed while another task's block runs, it never
          continues. *)
  | Cancels_too_late
      (** S3: a cancellation takes effect in the suspension after the current
          one. *)
  | Has_four_places
      (** S4: the resumer of a fifth waiting task refuses every outcome. *)
  | Stops_recording  (** S5: no exception has a backtrace. *)
  | Loses_backtrace
      (** Backtraces: the exception of the first task has none. *)
  | Blocks_its_thread  (** Inside: it blocks its thread when it sleeps. *)
  | Blocks_for_loops
      (** Around: it blocks its thread when a loop in a task waits, but not when
          a task does. *)
  | Takes_any_effect
      (** Foreign: it takes any effect that reaches its handler. *)
  | Leaves_inner_current
      (** Nested: after a loop has ended in a task, the tasks of the outer loop
          still go to the inner one. *)
  | Leaves_its_tasks
      (** Inside: if [run] is cancelled while it sleeps, it leaves its tasks. *)
  | Sleeps_on
      (** Inside: if [run] is cancelled while it sleeps, it sleeps again. *)
  | One_at_a_time  (** Domains: other loops wait for a lock. *)
  | Ignores_protect
  | Ends_all_protects  (** Protect: the end of the inner one ends all. *)
  | Loses_protected_cancel
      (** Protect: it ignores a cancellation of a task in it. *)
  | Protects_no_cancelled_task
      (** Protect: it doesn't protect a task that was cancelled before. *)
  | Counts_protects_together
      (** Protect: all tasks have one counter of deferrals. *)
  | Forgets_queued_cancel
      (** Queued: a cancellation of a task that doesn't wait has no effect. *)
  | Grows_its_stack
      (** Stack: it continues a task inside the handler of its last effect. *)
  | Never_sleeps  (** Idle: it looks for ready tasks all the time. *)
  | Holds_a_lock  (** Signals: a resumer has a lock. *)
  | Prefers_its_own
      (** Fair: tasks that other threads resume wait until nothing else is
          ready. *)
  | Swallows_failures  (** For all tasks except the first one. *)
  | Swallows_late_failures  (** If the first task has already ended. *)
  | Closes_resumers  (** End: resumers raise after the end. *)
  | Exits  (** It exits the program when nothing is ready. *)
  | Crashes  (** It crashes the program when nothing is ready. *)
