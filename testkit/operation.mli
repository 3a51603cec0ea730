(** Tests whether a structure keeps its side of the contract.

    {b Stability}: experimental, because a new clause or check may need a longer
    description.

    Describe one blocking operation, and the operation that lets its tasks
    continue ({!module-type-OPERATION}). This takes a dozen lines. {!check} then
    tests the clauses S1 to S5 of [Concord_suspend], and their consequences. The
    structure may be made of [Concord.Tools.Structure_kit], or use the effect
    directly. For example, this tests [Concord.Mvar.take], which waits until
    [Concord.Mvar.try_put] puts a number into the box:

    {@ocaml skip[
    module Take = struct
      include Concord_testkit.Operation.Defaults

      type t = int Concord.Mvar.t

      let name = "Mvar.take"
      let service = Concord_testkit.Operation.Takes
      let create _ = Concord.Mvar.create_empty ()
      let wait box _ = Concord.Mvar.take box
      let release box x = if Concord.Mvar.try_put box x then 0 else x
      let event = Some (fun box _ -> Concord.Mvar.take_evt box)
    end

    let () = Concord_testkit.Operation.main (module Take)
    ]}

    {{!/concord/structure}Writing a structure} ends with another example, and
    its report. *)

(** The effect of a release on the waiting tasks. *)
type service = Operation_signature.service =
  | Signals
      (** It lets one task continue, and hands nothing over, as a lock or a
          permit does. *)
  | Takes  (** One task continues with the released number. *)
  | Gives  (** One task continues, and its number comes out. *)
  | Trades  (** One task continues, and the two numbers are exchanged. *)
  | Shares
      (** All waiting tasks continue, each with the released number, or with 0.
      *)
  | Passes
      (** The first task continues with the released number, the next one with
          the number of the first, and so on. *)
  | Meets
      (** No task continues before all parties are there. The releasing tasks
          are parties too. *)

module type OPERATION = Operation_signature.OPERATION
(** One blocking operation. The suite calls its functions in many tasks. The
    numbers show whether an item is lost. *)

(** Default values of an operation. It keeps a released item for the next task
    to come, and serves tasks in the order of arrival. One choice may have its
    event twice. It doesn't promise to be [interruptible], and has no events, no
    count, no end, and no exceptions. Include this module first, because it
    hides earlier values of the same names. *)
module Defaults : sig
  val keeps : bool
  (** [true]. *)

  val in_order : bool
  (** [true]. *)

  val interruptible : bool
  (** [false]. *)

  val repeats : bool
  (** [true]. *)

  val event : 'a option
  (** [None]. *)

  val release_event : 'a option
  (** [None]. *)

  val waiters : 'a option
  (** [None]. *)

  val close : 'a option
  (** [None]. *)

  val fail : 'a option
  (** [None]. *)
end

val check : ?seed:int -> ?seconds:float -> (module OPERATION) -> Report.t
(** [check operation] tests each clause, in three steps.

    + It tests everything it can in an exact order, on a scheduler driven by
      hand. It does so for the operation, for its event, and for a choice of its
      event.
    + If nothing is broken there, the clause "between" lets another thread
      release, wait, or be cancelled between any two steps of an operation. It
      uses the signal [SIGUSR1] to stop the operation there, and is not offered
      in bytecode.
    + If these clauses are kept, random waits, releases and cancellations
      follow, in tasks of one scheduler, between two domains, and in system
      threads. They take [seconds] together (1 by default), from [seed] (by
      default [CONCORD_SEED] of the environment, or a new one).

    A clause hangs if nothing happens in it for 10 seconds (30 in "between"),
    and its share of [seconds]. Then the clauses after it are not tested. Each
    clause runs in a process of its own, which is killed if it hangs. The
    operation may therefore also raise, print, or end the process. In a program
    that has or had a second domain, and on Windows, OCaml can't fork. There the
    clause runs in a thread, which then remains.

    - {b Suspends} nothing, but blocks the calling thread.
    - {b Raises} [Invalid_argument] if [seconds] is not positive, or if
      [CONCORD_SEED] is not a number. It raises no exception of the operation.
*)

val main : ?seed:int -> ?seconds:float -> (module OPERATION) -> unit
(** [main operation] is {!check}, then {!Report.print}, and then ends the
    program.

    The exit code is 0 if no clause is broken, and otherwise 1. If {!check}
    raises [Invalid_argument], it is 2. *)

val cases : (module OPERATION) -> (string * (unit -> unit)) list
(** [cases operation] are the parts of the clauses with an exact order, each
    with its name, for your test framework.

    A part raises if it is broken. It returns if the operation does not offer
    it. *)
