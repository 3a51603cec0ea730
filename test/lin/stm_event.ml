(* Choices that don't have to wait, over two boxes and a stream, against a model. In each
   choice exactly one alternative is ready, so it is known which one is performed. *)

open Concord
module Race = Concord_test_support.Race
open QCheck
open STM

module Spec = struct
  type sut = { boxes : int Mvar.t array; stream : int Stream.t }

  (* The contents of the boxes, and of the stream, which has room for one item. *)
  type state = int option array

  type cmd =
    | Take_or_put of int * int
    | Swap_or_put of int * int
    | Take_or_add of int
    | Select_take of int
    | Poll_take
    | Poll_put of int
    | Twice of int

  let show_cmd = function
    | Take_or_put (i, v) -> Printf.sprintf "select [take b%d; put b%d %d]" i i v
    | Swap_or_put (i, v) ->
        Printf.sprintf "select [swap b%d %d; put b%d %d]" i v i v
    | Take_or_add v -> Printf.sprintf "select [take s; add s %d]" v
    | Select_take v -> Printf.sprintf "select [take any; always %d]" v
    | Poll_take -> "poll (choose [take b0; take b1; take s])"
    | Poll_put v -> Printf.sprintf "poll (choose [put b0 %d; ...])" v
    | Twice i -> Printf.sprintf "poll (choose [take b%d; take b%d])" i i

  let init_state = [| None; None; None |]

  let init_sut () =
    {
      boxes = Array.init 2 (fun _ -> Mvar.create_empty ());
      stream = Stream.create 1;
    }

  let cleanup _ = ()
  let which = Gen.int_bound 1
  let value = Gen.int_bound 99

  let always_one =
    [
      Gen.map2 (fun i v -> Take_or_put (i, v)) which value;
      Gen.map2 (fun i v -> Swap_or_put (i, v)) which value;
      Gen.map (fun v -> Take_or_add v) value;
    ]

  let some = Option.is_some
  let full state = List.filter (fun i -> some state.(i)) [ 0; 1; 2 ]
  let empty state = List.filter (fun i -> not (some state.(i))) [ 0; 1; 2 ]

  let arb_cmd state =
    let takes =
      match full state with
      | [] -> [ Gen.map (fun v -> Select_take v) value; Gen.return Poll_take ]
      | [ _ ] -> [ Gen.return Poll_take ]
      | _ -> []
    and puts =
      if List.length (empty state) <= 1 then
        [ Gen.map (fun v -> Poll_put v) value ]
      else []
    and twice = Gen.map (fun i -> Twice i) which in
    make ~print:show_cmd (Gen.oneof ((twice :: takes) @ puts @ always_one))

  let precond cmd state =
    match cmd with
    | Select_take _ -> full state = []
    | Poll_take -> List.length (full state) <= 1
    | Poll_put _ -> List.length (empty state) <= 1
    | _ -> true

  let next_state cmd state =
    let set i content =
      let after = Array.copy state in
      after.(i) <- content;
      after
    in
    match cmd with
    | Take_or_put (i, v) -> set i (if some state.(i) then None else Some v)
    | Swap_or_put (i, v) -> set i (Some v)
    | Take_or_add v -> set 2 (if some state.(2) then None else Some v)
    | Select_take _ -> state
    | Poll_take -> init_state
    | Poll_put v -> (
        match empty state with [ i ] -> set i (Some v) | _ -> state)
    | Twice i -> set i None

  (* The value that was taken, or [-1] if a value was put. *)
  let run cmd { boxes; stream } =
    let put event = Event.wrap event (fun () -> -1) in
    let put_box i v = put (Mvar.put_evt boxes.(i) v)
    and take_box i = Mvar.take_evt boxes.(i)
    and add v = put (Stream.add_evt stream v)
    and take = Stream.take_evt stream in
    let selected events = Res (int, Event.select events)
    and polled events = Res (option int, Event.(poll (choose events))) in
    match cmd with
    | Take_or_put (i, v) -> selected [ take_box i; put_box i v ]
    | Swap_or_put (i, v) -> selected [ Mvar.swap_evt boxes.(i) v; put_box i v ]
    | Take_or_add v -> selected [ take; add v ]
    | Select_take v -> selected [ take_box 0; take_box 1; take; Event.always v ]
    | Poll_take -> polled [ take_box 0; take_box 1; take ]
    | Poll_put v -> polled [ put_box 0 v; put_box 1 v; add v ]
    | Twice i -> polled [ take_box i; take_box i ]

  let postcond cmd state res =
    let content i = Option.value state.(i) ~default:(-1) in
    match (cmd, res) with
    | (Take_or_put (i, _) | Swap_or_put (i, _)), Res ((Int, _), v) ->
        v = content i
    | Take_or_add _, Res ((Int, _), v) -> v = content 2
    | Select_take v, Res ((Int, _), v') -> v' = v
    | Poll_take, Res ((Option Int, _), v) -> (
        match full state with [] -> v = None | i :: _ -> v = state.(i))
    | Poll_put _, Res ((Option Int, _), v) ->
        v = if empty state = [] then None else Some (-1)
    | Twice i, Res ((Option Int, _), v) -> v = state.(i)
    | _ -> false
end

(* A choice may find nothing ready, because it checked one alternative too early and the other
   one too late. It then waits, but not for long. *)
module Always_one = struct
  include Spec

  let arb_cmd _ = make ~print:show_cmd (Gen.oneof always_one)
end

module One = STM_sequential.Make (Spec)
module Two = STM_domain.Make (Always_one)

let () =
  Drawn.run
    [
      One.agree_test ~count:(Race.often 300) ~name:"choices, on one domain";
      Two.agree_test_par ~count:(Race.often 10) ~name:"choices, on two domains";
    ]
