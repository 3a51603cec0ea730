(* The operations of Stream and Mailbox that never wait, and those that don't have to wait in
   the current state, against a model.

   [drain] takes the items of one moment, but removes them a little later, so an item that is
   added in between stays. For this reason, [drain] beside adds is tested on one domain only. *)

open Concord
module Race = Concord_test_support.Race
open QCheck
open STM

type cmd =
  | Try_add of int
  | Poll_add of int
  | Add of int
  | Try_take
  | Take_nonblocking
  | Poll_take
  | Take
  | Drain
  | Length
  | Is_empty
  | Close
  | Is_closed
  | Waiters

let show = function
  | Try_add v -> Printf.sprintf "try_add %d" v
  | Poll_add v -> Printf.sprintf "poll (add_evt %d)" v
  | Add v -> Printf.sprintf "add %d" v
  | Try_take -> "try_take"
  | Take_nonblocking -> "take_nonblocking"
  | Poll_take -> "poll take_evt"
  | Take -> "take"
  | Drain -> "drain"
  | Length -> "length"
  | Is_empty -> "is_empty"
  | Close -> "close"
  | Is_closed -> "is_closed"
  | Waiters -> "waiters"

(* The operations that have the same names in Stream and in Mailbox. *)
module type Taking = sig
  type t

  val try_take : t -> int option
  val poll_take : t -> int option
  val take_nonblocking : t -> int option
  val take : t -> int
  val drain : t -> int list
  val length : t -> int
  val is_empty : t -> bool
  val close : t -> unit
  val is_closed : t -> bool
  val waiters : t -> int
end

module Stream_taking = struct
  include (Stream : module type of Stream with type 'a t := 'a Stream.t)

  type t = int Stream.t

  let poll_take t = Event.poll (take_evt t)
end

module Mailbox_taking = struct
  include (Mailbox : module type of Mailbox with type 'a t := 'a Mailbox.t)

  type t = int Mailbox.t

  let poll_take t = Event.poll (take_evt t)
  let take_nonblocking t = try try_take t with Closed -> None
end

module type Adding = sig
  type t

  val capacity : int
  val create : unit -> t
  val try_add : t -> int -> bool
  val poll_add : t -> int -> bool
  val add : t -> int -> unit
end

module Make_spec (Adding : Adding) (Taking : Taking with type t = Adding.t) =
struct
  type sut = Adding.t
  type state = { items : int list; closed : bool }
  type nonrec cmd = cmd

  let show_cmd = show
  let init_state = { items = []; closed = false }
  let init_sut () = Adding.create ()
  let cleanup _ = ()
  let value = Gen.int_bound 99

  let adds =
    Gen.[ map (fun v -> Try_add v) value; map (fun v -> Poll_add v) value ]

  let takes = List.map Gen.return [ Try_take; Poll_take; Take_nonblocking ]
  let looks = List.map Gen.return [ Length; Is_empty; Is_closed; Waiters ]

  let arbitrary gens others =
    make ~print:show_cmd
      (Gen.oneof ((Gen.return Close :: others) @ gens @ others @ gens @ gens))

  let has_room state = List.length state.items < Adding.capacity

  let arb_cmd state =
    let if_possible =
      if state.items <> [] then [ Gen.return Take ]
      else if state.closed then []
      else [ Gen.map (fun v -> Add v) value ]
    in
    arbitrary (if_possible @ adds @ takes) (Gen.return Drain :: looks)

  let precond cmd state =
    match cmd with
    | Add _ -> state.closed || has_room state
    | Take -> state.closed || state.items <> []
    | _ -> true

  let next_state cmd state =
    match (cmd, state.items) with
    | (Try_add v | Poll_add v | Add v), items
      when (not state.closed) && has_room state ->
        { state with items = items @ [ v ] }
    | (Try_take | Poll_take | Take_nonblocking | Take), _ :: items ->
        { state with items }
    | Drain, _ -> { state with items = [] }
    | Close, _ -> { state with closed = true }
    | _ -> state

  let run cmd t =
    let added f v = Res (result bool exn, protect (fun () -> f t v) ()) in
    let taken f = Res (result (option int) exn, protect f t) in
    match cmd with
    | Try_add v -> added Adding.try_add v
    | Poll_add v -> added Adding.poll_add v
    | Add v ->
        let add t v =
          Adding.add t v;
          true
        in
        added add v
    | Try_take -> taken Taking.try_take
    | Take_nonblocking -> taken Taking.take_nonblocking
    | Poll_take -> taken Taking.poll_take
    | Take -> taken (fun t -> Some (Taking.take t))
    | Drain -> Res (list int, Taking.drain t)
    | Length -> Res (int, Taking.length t)
    | Is_empty -> Res (bool, Taking.is_empty t)
    | Close -> Res (unit, Taking.close t)
    | Is_closed -> Res (bool, Taking.is_closed t)
    | Waiters -> Res (int, Taking.waiters t)

  let postcond cmd state res =
    let first = match state.items with [] -> None | v :: _ -> Some v in
    match (cmd, res) with
    | (Try_add _ | Poll_add _ | Add _), Res ((Result (Bool, Exn), _), r) ->
        r = if state.closed then Error Stream.Closed else Ok (has_room state)
    | Take_nonblocking, Res ((Result (Option Int, Exn), _), r) -> r = Ok first
    | (Try_take | Poll_take | Take), Res ((Result (Option Int, Exn), _), r) ->
        r
        = if first = None && state.closed then Error Stream.Closed else Ok first
    | Drain, Res ((List Int, _), items) -> items = state.items
    | Length, Res ((Int, _), n) -> n = List.length state.items
    | Is_empty, Res ((Bool, _), empty) -> empty = (state.items = [])
    | Is_closed, Res ((Bool, _), closed) -> closed = state.closed
    | Close, Res ((Unit, _), ()) -> true
    | Waiters, Res ((Int, _), n) -> n = 0
    | _ -> false
end

module Tests
    (Name : sig
      val name : string
    end)
    (Adding : Adding)
    (Taking : Taking with type t = Adding.t) =
struct
  module Spec = Make_spec (Adding) (Taking)
  module One = STM_sequential.Make (Spec)

  (* On two domains, the state in which a command runs isn't known. *)
  module Never_waits = struct
    include Spec

    let arb_cmd _ = arbitrary (adds @ takes) looks
  end

  module Only_takes = struct
    include Spec

    let items = List.init (Int.min 9 Adding.capacity) Fun.id
    let init_state = { items; closed = false }

    let init_sut () =
      let t = Adding.create () in
      List.iter (Adding.add t) items;
      t

    let arb_cmd _ = arbitrary (Gen.return Drain :: takes) looks
  end

  module Two = STM_domain.Make (Never_waits)
  module Two_take = STM_domain.Make (Only_takes)

  let tests =
    let name of_what = Printf.sprintf "%s, %s" Name.name of_what in
    [
      One.agree_test ~count:(Race.often 100) ~name:(name "on one domain");
      Two.agree_test_par ~count:(Race.often 8) ~name:(name "on two domains");
      Two_take.agree_test_par ~count:(Race.often 5)
        ~name:(name "taking on two domains");
    ]
end

module Bounded (C : sig
  val capacity : int
end) =
  Tests
    (struct
      let name = Printf.sprintf "Stream of %d" C.capacity
    end)
    (struct
      type t = int Stream.t

      let capacity = C.capacity
      let create () = Stream.create capacity
      let try_add = Stream.try_add
      let poll_add t v = Event.poll (Stream.add_evt t v) <> None
      let add = Stream.add
    end)
    (Stream_taking)

module Unbounded =
  Tests
    (struct
      let name = "Mailbox"
    end)
    (struct
      type t = int Mailbox.t

      let capacity = max_int
      let create () = Mailbox.create ()

      let try_add t v =
        Mailbox.add t v;
        true

      let poll_add = try_add
      let add = Mailbox.add
    end)
    (Mailbox_taking)

module Of_1 = Bounded (struct
  let capacity = 1
end)

module Of_2 = Bounded (struct
  let capacity = 2
end)

module Of_3 = Bounded (struct
  let capacity = 3
end)

let () = Drawn.run (Of_1.tests @ Of_2.tests @ Of_3.tests @ Unbounded.tests)
