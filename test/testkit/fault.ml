(* What may be wrong with the small scheduler. *)

type t =
  | Is_never_innermost  (** Reach: its loop runs out of [using]. *)
  | Has_no_handler  (** Reach: its tasks run out of it. *)
  | Starves_while_one_waits
      (** Reach: a task is ready alone, and does not run. *)
  | Starves_one_spawned  (** Turns: the third one. *)
  | Starves_one_resumed  (** Turns: likewise. *)
  | Calls_block_again  (** H1: when it has returned [Some]. *)
  | Runs_in_resumer
      (** H2: a task that another one resumes goes on inside of the resumer. *)
  | Resumer_blocks  (** H2: until the task has had its turn. *)
  | Breaks_promise
      (** H3: a task that was resumed, and then cancelled, is cancelled. *)
  | Accepts_again  (** H3: a resumer answers [true] each time. *)
  | Sleeps_too_early  (** H4: it looks at its queue before it announces so. *)
  | Forgets_one_bell  (** H4: nobody can wake the 200th sleep. *)
  | Drops_in_block
      (** S1: what is resumed while another task's block runs is lost. *)
  | Cancels_too_late  (** S3: in the suspension after the one in progress. *)
  | Has_four_places  (** S4: a fifth task that waits refuses all. *)
  | Stops_recording  (** S5: no exception has a backtrace. *)
  | Loses_backtrace  (** Backtraces: of what the first task raises. *)
  | Blocks_its_thread  (** Inside: when it sleeps. *)
  | Blocks_for_loops
      (** Around: its thread, where not a task waits, but a loop in the task. *)
  | Takes_any_effect  (** Foreign: that reaches its handler. *)
  | One_at_a_time  (** Domains: others wait for a lock. *)
  | Ignores_protect
  | Ends_all_protects  (** Protect: at the end of the inner one. *)
  | Prefers_its_own
      (** Fair: what other threads resume waits until nothing else is ready. *)
  | Swallows_failures  (** Of all tasks but the first one. *)
  | Swallows_late_failures  (** When the first task has ended. *)
  | Closes_resumers  (** End: they raise then. *)
  | Exits  (** The program, when nothing is ready. *)
  | Crashes  (** Likewise. *)
