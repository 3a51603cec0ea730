(* Tests of [with_timeout], [iter] and [map]. The cases are the same on every host. *)

open Concord
open Concord_test_support
open Check
open Tasks_cases

let never : unit -> unit = never

(* --- Timeouts -------------------------------------------------------------- *)

let in_time () =
  yes "value" (Tasks.with_timeout 60. (fun () -> 1) = Some 1);
  yes "it waits"
    (Tasks.with_timeout 60. (fun () ->
         Tasks.yield ();
         1)
    = Some 1);
  yes "infinity"
    (Tasks.with_timeout infinity (fun () ->
         Tasks.yield ();
         1)
    = Some 1);
  raises "failure" Boom (fun () -> Tasks.with_timeout 60. explode);
  raises_at "explode" (fun () -> Tasks.with_timeout 60. explode);
  match Tasks.with_timeout nan ignore with
  | _ -> Alcotest.fail "not a number"
  | exception Invalid_argument _ -> ()

let too_late () =
  (* On a busy machine, the time may be over before the second task begins. *)
  let begun = ref 0 and unwound = ref 0 in
  let waits () : unit =
    incr begun;
    counting unwound never
  in
  yes "it waits" (Tasks.with_timeout 0.001 waits = None);
  int "unwound" !begun !unwound;
  yes "its tasks"
    (Tasks.with_timeout 0.001 (fun () -> Tasks.both waits waits) = None);
  int "unwound" !begun !unwound;
  yes "not positive" (Tasks.with_timeout 0. waits = None);
  yes "not positive, and it waits for nothing"
    (Tasks.with_timeout (-1.) (fun () -> 1) = Some 1);
  raises "a failure, while it is unwound" Boom (fun () ->
      Tasks.with_timeout 0.001 (fun () -> try never () with _ -> raise Boom));
  yes "what it returns nevertheless"
    (Tasks.with_timeout 0.001 (fun () ->
         try
           never ();
           0
         with _ -> 1)
    = Some 1);
  Tasks.yield ()

let timeouts_within () =
  yes "the inner one"
    (Tasks.with_timeout 60. (fun () -> Tasks.with_timeout 0.001 never)
    = Some None);
  yes "the outer one"
    (Tasks.with_timeout 0.001 (fun () -> Tasks.with_timeout 60. never) = None);
  yes "after an operation"
    (Tasks.with_timeout 60. (fun () ->
         let box = Mvar.create_empty () in
         let taken = Tasks.with_timeout 0.001 (fun () -> Mvar.take box) in
         Mvar.put box 1;
         (taken, Mvar.take box))
    = Some (None, 1))

(* The value either remains in the box, or was taken. *)
let at_the_same_time () =
  for i = 1 to 50 do
    let box = Mvar.create_empty () in
    let give () =
      Tasks.sleep (float_of_int (i mod 5) *. 0.0002);
      Mvar.put box i
    in
    let got, () =
      Tasks.both
        (fun () -> Tasks.with_timeout 0.0004 (fun () -> Mvar.take box))
        give
    in
    match (got, Mvar.try_take box) with
    | Some v, None | None, Some v -> int "value" i v
    | Some _, Some _ -> Alcotest.fail "twice"
    | None, None -> Alcotest.fail "lost"
  done

(* --- Lists ----------------------------------------------------------------- *)

let lists () =
  let squares n = List.init n (fun i -> i * i) in
  let square i =
    Tasks.yield ();
    i * i
  in
  yes "map" (Tasks.map square (List.init 20 Fun.id) = squares 20);
  List.iter
    (fun max_tasks ->
      yes "map, limited"
        (Tasks.map ~max_tasks square (List.init 20 Fun.id) = squares 20))
    [ 1; 3; 20; 21; max_int ];
  yes "none" (Tasks.map ~max_tasks:2 square [] = []);
  traced [ "a"; "b"; "c" ] (fun say -> Tasks.iter say [ "a"; "b"; "c" ]);
  traced [ "a"; "b"; "c" ] (fun say ->
      Tasks.iter ~max_tasks:2 say [ "a"; "b"; "c" ]);
  match Tasks.iter ~max_tasks:0 ignore [] with
  | () -> Alcotest.fail "max_tasks:0"
  | exception Invalid_argument _ -> ()

let limited () =
  let at_once = ref 0 and most = ref 0 in
  let f _ =
    incr at_once;
    most := max !most !at_once;
    Tasks.yield ();
    Tasks.yield ();
    decr at_once
  in
  Tasks.iter ~max_tasks:4 f (List.init 30 Fun.id);
  int "at once" 4 !most;
  (* Each element waits for the next one, so all of them must run at the same time. *)
  let boxes = Array.init 11 (fun _ -> Mvar.create_empty ()) in
  Mvar.put boxes.(10) 10;
  Tasks.iter
    (fun i -> Mvar.put boxes.(i) (Mvar.take boxes.(i + 1) - 1))
    (List.init 10 Fun.id);
  int "all at once" 0 (Mvar.take boxes.(0))

let fails_in_the_middle () =
  let begun = ref 0 and unwound = ref 0 in
  let f i =
    incr begun;
    if i = 5 then explode () else if i > 2 then counting unwound never
  in
  raises "one of them" Boom (fun () ->
      Tasks.iter ~max_tasks:3 f (List.init 100 Fun.id));
  yes "no other one begins" (!begun = 6);
  int "unwound" (!begun - 4) !unwound;
  raises "map" Boom (fun () ->
      Tasks.map
        (fun i -> if i = 50 then explode () else never ())
        (List.init 100 Fun.id))

(* Elements that never wait must not keep other tasks from running. *)
let others_have_turns () =
  let computed = ref 0 and seen = ref [] and over = ref false in
  let compute (_ : int) =
    let until = Unix.gettimeofday () +. 0.002 in
    while Unix.gettimeofday () < until do
      Domain.cpu_relax ()
    done;
    incr computed
  in
  let look () =
    while not !over do
      seen := !computed :: !seen;
      Tasks.yield ()
    done
  in
  let iter () =
    Tasks.iter compute (List.init 10 Fun.id);
    over := true
  in
  ignore (Tasks.both iter look : unit * unit);
  yes "many turns" (List.length (List.sort_uniq compare !seen) >= 5)

let cases =
  [
    ("in time", in_time);
    ("too late", too_late);
    ("timeouts within", timeouts_within);
    ("at the same time", at_the_same_time);
    ("lists", lists);
    ("limited", limited);
    ("a failure in the middle", fails_in_the_middle);
    ("others have turns", others_have_turns);
  ]
