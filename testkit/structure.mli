(** Tests whether a structure does what its description says.

    {b Stability}: experimental, because a new clause or check may need a longer
    description.

    {{!Operation}The tests of one operation} check the contract. These tests
    also check what the whole structure means. Describe it as a pure function
    ({!Description.S}), say how each operation is called, and {!check} does the
    rest. This is a gate that many tasks may open:

    {@ocaml skip[
    module Gate = struct
      type state = Shut | Open
      type operation = Pass | Open_it

      let name = "Gate"
      let initial = Shut
      let operations _ = [ Pass; Pass; Open_it ]
      let line = function Pass -> Some 0 | Open_it -> None

      let perform ~waiting:_ state operation :
          _ Concord_testkit.Description.answer =
        match (operation, state) with
        | Pass, Shut -> Waits
        | Pass, Open -> Returns (Open, "passes")
        | Open_it, _ -> Returns (Open, "()")

      let if_cancelled _ = Concord_testkit.Description.Leaves
      let beside _ = Concord_testkit.Description.Exact
      let show = function Pass -> "pass" | Open_it -> "open"
      let looks = [ Pass ]

      type t = Gate.t

      let create = Gate.create

      let call gate = function
        | Pass ->
            Gate.pass gate;
            "passes"
        | Open_it ->
            Gate.open_gate gate;
            "()"

      let event gate = function
        | Pass ->
            Some (Concord.Event.wrap (Gate.pass_evt gate) (fun () -> "passes"))
        | Open_it -> None

      let try_call _ _ = None
      let waiters = Gate.waiters
    end

    let () = Concord_testkit.Structure.main (module Gate)
    ]} *)

module type STRUCTURE = Structure_signature.STRUCTURE
(** A structure and its description. *)

val check : ?seed:int -> ?seconds:float -> (module STRUCTURE) -> Report.t
(** [check structure] compares the structure with its description, in two
    clauses.

    - "programs": random operations and cancellations on one scheduler, which is
      driven by hand. After each step, the same tasks must have continued with
      the same results, in the same order, and as many must wait. A task
      performs its operation directly, as an event, in a choice, or only if it
      need not wait.
    - "races": a few operations and cancellations on two domains, where some
      tasks already wait. The results must be possible if each operation is a
      single step. (If a task is cancelled, this is two steps: first it refuses,
      then it is withdrawn.)

    A program that fails is made shorter and printed. Both take [seconds]
    together (1 by default), from [seed] (by default [CONCORD_SEED] of the
    environment, or a new one). Each runs in a process of its own, as in
    {!Operation.check}, and hangs if nothing happens for 10 seconds.

    - {b Suspends} nothing, but blocks the calling thread.
    - {b Raises} [Invalid_argument] if [seconds] is not positive, or if
      [CONCORD_SEED] is not a number. *)

val main : ?seed:int -> ?seconds:float -> (module STRUCTURE) -> unit
(** [main structure] is {!check}, then {!Report.print}, and then ends the
    program, with exit code 0 if no clause is broken, and otherwise 1. If
    {!check} raises [Invalid_argument], it is 2. *)

val programs : Random.State.t -> (module STRUCTURE) -> int -> unit
(** [programs random structure n] runs [n] programs, for your test framework. It
    raises an exception with the program that failed. *)

val races : Random.State.t -> (module STRUCTURE) -> int -> unit
(** [races random structure n] runs [n] races, each several times. It spawns a
    domain, and ends it. *)
