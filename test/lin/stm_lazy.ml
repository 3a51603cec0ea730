(* Lazy against a model, on one domain and on two. Each computation counts its runs. Its value
   or its exception shows which run that was. *)

open Concord
module Race = Concord_test_support.Race
open QCheck
open STM

exception Refused of int

(* The lazy values: which others each of them needs, and whether it fails. *)
type kind =
  | Leaf
  | Forced
  | Of_stdlib
  | Refuses
  | Sum of int list
  | Tries of int  (** The value is [-1] if the other one fails. *)
  | Needs_itself

let kinds =
  [|
    Leaf;
    Refuses;
    Sum [ 0 ];
    Forced;
    Of_stdlib;
    Sum [ 2; 0; 4 ];
    Sum [ 2; 1 ];
    Tries 1;
    Needs_itself;
  |]

(* No other value needs these. While a computation runs, the values that it needs are already
   forced, but one step of the model forces all of them. So commands that look at a value use
   only these, which can't show this. *)
let outermost = [ 3; 5; 6; 7; 8 ]
let all = List.init (Array.length kinds) Fun.id

let rec outcome i =
  match kinds.(i) with
  | Leaf | Forced | Of_stdlib -> Ok (10 * (i + 1))
  | Refuses -> Error (Refused 1)
  | Sum needed ->
      List.fold_left
        (fun sum j ->
          Result.bind sum (fun n -> Result.map (( + ) n) (outcome j)))
        (Ok 0) needed
  | Tries j -> Ok (Result.value (outcome j) ~default:(-1))
  | Needs_itself -> Error Lazy.Undefined

module Values = Set.Make (Int)

let rec with_needed i forced =
  let needed =
    match kinds.(i) with Sum needed -> needed | Tries j -> [ j ] | _ -> []
  in
  let until_one_fails (forced, go_on) j =
    if go_on then (with_needed j forced, Result.is_ok (outcome j))
    else (forced, false)
  in
  Values.add i (fst (List.fold_left until_one_fails (forced, true) needed))

module Spec (Domains : sig
  val alone : bool
end) =
struct
  type sut = { values : int Lazy.t array; runs : int Atomic.t array }

  (* The values that have been forced. *)
  type state = Values.t

  type cmd =
    | Force of int
    | Force_map of int
    | Is_val of int
    | Peek of int
    | Poll of int
    | Peek_map of int
    | Peek_map_val of int
    | Waiters of int
    | Runs of int

  let show_cmd = function
    | Force i -> Printf.sprintf "force v%d" i
    | Force_map i -> Printf.sprintf "force (map succ v%d)" i
    | Is_val i -> Printf.sprintf "is_val v%d" i
    | Peek i -> Printf.sprintf "peek v%d" i
    | Poll i -> Printf.sprintf "poll (await_evt v%d)" i
    | Peek_map i -> Printf.sprintf "peek (map succ v%d)" i
    | Peek_map_val i -> Printf.sprintf "peek (map_val succ v%d)" i
    | Waiters i -> Printf.sprintf "waiters v%d" i
    | Runs i -> Printf.sprintf "runs of v%d" i

  let is_forced_at_first i = kinds.(i) = Forced
  let init_state = Values.of_list (List.filter is_forced_at_first all)

  let init_sut () =
    let values = Array.map (fun _ -> Lazy.from_val 0) kinds
    and runs = Array.map (fun _ -> Atomic.make 0) kinds in
    let force i = Lazy.force values.(i) in
    let make i kind =
      (* Returns the number of earlier runs, so 0 if it runs once. It takes a moment, so that
         others come meanwhile. *)
      let again () =
        if not Domains.alone then
          for _ = 1 to 300 do
            Domain.cpu_relax ()
          done;
        Atomic.fetch_and_add runs.(i) 1
      in
      let leaf () = (10 * (i + 1)) + again () in
      match kind with
      | Forced -> Lazy.from_val (10 * (i + 1))
      | Leaf -> Lazy.from_fun leaf
      | Of_stdlib -> Lazy.of_stdlib (Stdlib.Lazy.from_fun leaf)
      | Refuses -> Lazy.from_fun (fun () -> raise (Refused (1 + again ())))
      | Sum needed ->
          Lazy.from_fun (fun () ->
              List.fold_left (fun n j -> n + force j) (again ()) needed)
      | Tries j ->
          Lazy.from_fun (fun () ->
              again () + match force j with n -> n | exception Refused 1 -> -1)
      | Needs_itself ->
          Lazy.from_fun (fun () ->
              ignore (again () : int);
              force i)
    in
    Array.iteri (fun i kind -> values.(i) <- make i kind) kinds;
    { values; runs }

  let cleanup sut =
    let check i n =
      if Atomic.get n > 1 then
        failwith (Printf.sprintf "v%d is computed %d times" i (Atomic.get n));
      if Lazy.waiters sut.values.(i) <> 0 then
        failwith (Printf.sprintf "a task waits for v%d" i)
    in
    Array.iteri check sut.runs

  let arb_cmd _ =
    let among choices =
      Gen.map (List.nth choices) (Gen.int_bound (List.length choices - 1))
    in
    let any = among all in
    let looked_at = if Domains.alone then any else among outermost in
    make ~print:show_cmd
      (Gen.oneof
         [
           Gen.map (fun i -> Force i) any;
           Gen.map (fun i -> Force_map i) any;
           Gen.map (fun i -> Is_val i) looked_at;
           Gen.map (fun i -> Peek i) looked_at;
           Gen.map (fun i -> Poll i) looked_at;
           Gen.map (fun i -> Peek_map i) any;
           Gen.map (fun i -> Peek_map_val i) looked_at;
           Gen.map (fun i -> Waiters i) any;
           Gen.map (fun i -> Runs i) any;
         ])

  let precond _ _ = true

  let next_state cmd state =
    match cmd with Force i | Force_map i -> with_needed i state | _ -> state

  let answer = result int exn

  let run cmd { values; runs } =
    match cmd with
    | Force i -> Res (answer, protect Lazy.force values.(i))
    | Force_map i -> Res (answer, protect Lazy.force (Lazy.map succ values.(i)))
    | Is_val i -> Res (bool, Lazy.is_val values.(i))
    | Peek i -> Res (option answer, Lazy.peek values.(i))
    | Poll i ->
        Res
          ( result (option int) exn,
            protect Event.poll (Lazy.await_evt values.(i)) )
    | Peek_map i -> Res (option answer, Lazy.peek (Lazy.map succ values.(i)))
    | Peek_map_val i ->
        Res (option answer, Lazy.peek (Lazy.map_val succ values.(i)))
    | Waiters i -> Res (int, Lazy.waiters values.(i))
    | Runs i -> Res (int, Atomic.get runs.(i))

  let postcond cmd state res =
    let is_forced i = Values.mem i state in
    let seen i = if is_forced i then Some (outcome i) else None in
    match (cmd, res) with
    | Force i, Res ((Result (Int, Exn), _), r) -> outcome i = r
    | Force_map i, Res ((Result (Int, Exn), _), r) ->
        Result.map succ (outcome i) = r
    | Is_val i, Res ((Bool, _), r) ->
        r = (is_forced i && Result.is_ok (outcome i))
    | Peek i, Res ((Option (Result (Int, Exn)), _), r) -> r = seen i
    | Poll i, Res ((Result (Option Int, Exn), _), r) -> (
        match seen i with
        | None -> r = Ok None
        | Some seen -> r = Result.map Option.some seen)
    | Peek_map _, Res ((Option (Result (Int, Exn)), _), r) -> r = None
    | Peek_map_val i, Res ((Option (Result (Int, Exn)), _), r) -> (
        match seen i with
        | Some (Ok v) -> r = Some (Ok (v + 1))
        | Some (Error _) | None -> r = None)
    | Waiters _, Res ((Int, _), n) -> n = 0
    | Runs i, Res ((Int, _), n) ->
        if is_forced i then n = if is_forced_at_first i then 0 else 1
        else n = 0 || (n = 1 && not Domains.alone)
    | _ -> false
end

module Spec_alone = Spec (struct
  let alone = true
end)

module Spec_beside = Spec (struct
  let alone = false
end)

module One = STM_sequential.Make (Spec_alone)
module Two = STM_domain.Make (Spec_beside)

let () =
  Drawn.run
    [
      One.agree_test ~count:(Race.often 500) ~name:"Lazy, on one domain";
      Two.agree_test_par ~count:(Race.often 20) ~name:"Lazy, on two domains";
    ]
