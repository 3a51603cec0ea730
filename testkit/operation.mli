(** Does a structure keep its side of the contract?

    {b Stability}: experimental, may change in any release.

    Describe one operation that may wait, and the one that lets its tasks go on
    ({!module-type-OPERATION}): a dozen lines. {!check} then looks at the
    clauses S1 to S5 of [Concord_suspend], and at what follows from them. The
    structure may be made of [Concord.Tools.Structure_kit], or of nothing but
    the effect. An example ends the page "Writing a structure". *)

(** What a release does for those who wait. *)
type service = Operation_signature.service =
  | Signals
      (** It lets one task go on, and nothing is handed over: a lock, a permit.
      *)
  | Takes  (** One task goes on with the number that is released. *)
  | Gives  (** One task goes on, and its number comes out. *)
  | Trades  (** Both: the two numbers are exchanged. *)
  | Shares
      (** All who wait go on, each with the number that is released, or with 0.
      *)
  | Passes
      (** The first task goes on with the number that is released, the next one
          with the number of the first, and so on. *)
  | Meets
      (** Nobody goes on before all parties are there; those who release are
          parties too. *)

module type OPERATION = Operation_signature.OPERATION
(** One operation that may wait. The suite calls its functions in many tasks;
    the numbers tell whether anything is lost. *)

(** What an operation has unless it says otherwise: it keeps what is released
    for the next who comes, serves in the order of arrival, does not promise to
    be [interruptible], and has no events, no count, no end, and no exceptions.
    To be included first: what comes before it, of the same name, is hidden by
    it. *)
module Defaults : sig
  val keeps : bool
  val in_order : bool
  val interruptible : bool
  val event : 'a option
  val release_event : 'a option
  val waiters : 'a option
  val close : 'a option
  val fail : 'a option
end

val check : ?seed:int -> ?seconds:float -> (module OPERATION) -> Report.t
(** [check operation] looks at each clause: first at all that can be told in an
    exact order, on a scheduler that is driven by hand, for the operation, for
    its event, and for a choice of its event. If nothing is broken there, the
    clause "between" lets another thread release, wait, or be cancelled between
    any two steps of an operation; it uses the signal [SIGUSR1] to stop the
    operation there, and is not offered in bytecode. If that is kept, random
    waits, releases and cancellations follow: in tasks of one scheduler, between
    two domains, in system threads; for [seconds] together (1 by default), from
    [seed] (by default [CONCORD_SEED] of the environment, or a new one).

    A clause in which nothing goes on for 10 seconds (30 in "between"), and its
    share of [seconds], hangs; those after it are not looked at. Each runs in a
    process of its own, which is killed if it hangs: the operation may also
    raise, print, or end the process. In a program that has or had a second
    domain, and on Windows, OCaml cannot fork: there it is a thread, which then
    remains.

    - {b Suspends}: blocks the calling thread.
    - {b Raises} nothing of the operation's; [Invalid_argument] if [seconds] is
      not positive, or if [CONCORD_SEED] is no number. *)

val main : ?seed:int -> ?seconds:float -> (module OPERATION) -> unit
(** {!check}, then {!Report.print}; then the program ends: with code 0 if no
    clause is broken, else with 1, and with 2 where {!check} raises
    [Invalid_argument]. *)

val cases : (module OPERATION) -> (string * (unit -> unit)) list
(** The parts of the clauses that are looked at in an exact order, each with its
    name, for your test framework: each raises if it is broken. One that the
    operation does not offer returns. *)
