(** A mailbox that relies only on the contract, with at most one fault. *)

type fault =
  | Nothing
  | Registers_and_returns
  | Resumes_under_lock
  | Does_not_look
  | Resumes_two
  | Ignores_refusals
  | Raises_another
  | Last_come_first_served
  | Resumes_twice
  | Is_busy_for_ever
  | Does_not_count_leavers
  | Forgets_who_waits
  | Keeps_leavers
  | Keeps_served
  | Remembers_line
  | Loses_neighbours
  | Counts_refusals_twice
  | Its_end_stops
  | Prefers_latecomers
  | Loses_after_four
  | One_for_each_domain
  | One_for_each_thread
  | One_for_each_thread_later
  | Looks_then_enlists
  | Looks_then_keeps

val resume_all : ('waiter -> unit) -> 'waiter list -> unit
(** Resumes each of them, although some may raise. *)

val operation : fault -> (module Concord_testkit.Operation.OPERATION)
(** The operation is [take], and its release is [put]. *)
