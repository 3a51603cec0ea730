(* The operations of Mvar that never wait, and those that don't have to wait in the current
   state, against a model.

   While a box is being handed over, [try_put], [try_take] and [is_empty] may find it
   neither empty nor full. This happens only after a task waited, or during [modify]. Without
   these they are strictly linearisable, which is tested here on two domains. *)

open Concord
module Race = Concord_test_support.Race
open QCheck
open STM

module Spec = struct
  type sut = int Mvar.t
  type state = int option

  type cmd =
    | Try_put of int
    | Try_take
    | Is_empty
    | Poll_take
    | Poll_read
    | Poll_put of int
    | Waiters
    | Put of int
    | Take
    | Read
    | Swap of int
    | Modify of int

  let show_cmd = function
    | Try_put v -> Printf.sprintf "try_put %d" v
    | Try_take -> "try_take"
    | Is_empty -> "is_empty"
    | Poll_take -> "poll take_evt"
    | Poll_read -> "poll read_evt"
    | Poll_put v -> Printf.sprintf "poll (put_evt %d)" v
    | Waiters -> "waiters"
    | Put v -> Printf.sprintf "put %d" v
    | Take -> "take"
    | Read -> "read"
    | Swap v -> Printf.sprintf "swap %d" v
    | Modify v -> Printf.sprintf "modify (+ %d)" v

  let init_state = None
  let init_sut () = Mvar.create_empty ()
  let cleanup _ = ()
  let value = Gen.int_bound 9

  let never_wait =
    [
      Gen.map (fun v -> Try_put v) value;
      Gen.map (fun v -> Try_put v) value;
      Gen.return Try_take;
      Gen.return Is_empty;
      Gen.return Poll_take;
      Gen.return Poll_read;
      Gen.map (fun v -> Poll_put v) value;
      Gen.return Waiters;
    ]

  let need_not_wait = function
    | None -> [ Gen.map (fun v -> Put v) value ]
    | Some _ ->
        [
          Gen.return Take;
          Gen.return Read;
          Gen.map (fun v -> Swap v) value;
          Gen.map (fun v -> Modify v) value;
        ]

  let arb_cmd state =
    make ~print:show_cmd (Gen.oneof (need_not_wait state @ never_wait))

  let next_state cmd state =
    match (cmd, state) with
    | (Try_put v | Poll_put v | Put v), None -> Some v
    | (Try_take | Poll_take | Take), _ -> None
    | Swap v, Some _ -> Some v
    | Modify v, Some old -> Some (old + v)
    | _ -> state

  let precond cmd state =
    match cmd with
    | Put _ -> state = None
    | Take | Read | Swap _ | Modify _ -> state <> None
    | _ -> true

  let run cmd box =
    match cmd with
    | Try_put v -> Res (bool, Mvar.try_put box v)
    | Try_take -> Res (option int, Mvar.try_take box)
    | Is_empty -> Res (bool, Mvar.is_empty box)
    | Poll_take -> Res (option int, Event.poll (Mvar.take_evt box))
    | Poll_read -> Res (option int, Event.poll (Mvar.read_evt box))
    | Poll_put v -> Res (option unit, Event.poll (Mvar.put_evt box v))
    | Waiters -> Res (int, Mvar.waiters box)
    | Put v -> Res (unit, Mvar.put box v)
    | Take -> Res (int, Mvar.take box)
    | Read -> Res (int, Mvar.read box)
    | Swap v -> Res (int, Mvar.swap box v)
    | Modify v -> Res (int, Mvar.modify box (fun old -> (old + v, old)))

  let postcond cmd (state : state) res =
    match (cmd, res) with
    | Try_put _, Res ((Bool, _), put) -> put = (state = None)
    | Poll_put _, Res ((Option Unit, _), r) ->
        (if state = None then Some () else None) = r
    | (Try_take | Poll_take | Poll_read), Res ((Option Int, _), r) -> state = r
    | Is_empty, Res ((Bool, _), r) -> r = (state = None)
    | Waiters, Res ((Int, _), n) -> n = 0
    | Put _, Res ((Unit, _), ()) -> true
    | (Take | Read | Swap _ | Modify _), Res ((Int, _), v) -> state = Some v
    | _ -> false
end

(* On two domains, the state in which a command runs isn't known. *)
module Never_waits = struct
  include Spec

  let arb_cmd _ = make ~print:show_cmd (Gen.oneof never_wait)
end

(* Each operation is a task of its own scheduler. A [swap] that finds the box empty would wait.
   So both domains put first, and then only swap. *)
module Swaps = struct
  include Spec

  let init_state = Some 0
  let init_sut () = Mvar.create 0

  let arb_cmd _ =
    make ~print:show_cmd
      (Gen.oneof
         [
           Gen.map (fun v -> Swap v) value;
           Gen.map (fun v -> Modify v) value;
           Gen.return Read;
         ])

  (* [modify] holds the box. Other operations wait for it, and are served in turn. *)
  let run cmd box = Concord_fifo.run (fun () -> Spec.run cmd box)
end

module One = STM_sequential.Make (Spec)
module Two = STM_domain.Make (Never_waits)
module Two_swap = STM_domain.Make (Swaps)

let () =
  Drawn.run
    [
      One.agree_test ~count:(Race.often 300) ~name:"Mvar, on one domain";
      Two.agree_test_par ~count:(Race.often 20)
        ~name:"Mvar without waiting, on two domains";
      Two_swap.agree_test_par ~count:(Race.often 10)
        ~name:"Mvar: read, swap and modify in Fifo, on two domains";
    ]
