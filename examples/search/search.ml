(* A parallel search stops as soon as one of its tasks has found a solution.

   The program places n queens on a board so that no two attack each other. Each task of the
   pool tries the boards with one position of the first queen. One solution is enough, so the
   task that finds it fills a promise, and the other tasks check that promise now and then. A
   client waits in Eio. When its time is over, it fills the promise itself. *)

open Concord

(* [queens] are the columns of the rows above, the nearest row first. *)
let is_attacked queens column =
  let rec go distance = function
    | [] -> false
    | other :: rest ->
        column = other
        || abs (column - other) = distance
        || go (distance + 1) rest
  in
  go 1 queens

let rec place check n queens =
  if List.length queens = n then Some queens
  else begin
    check ();
    let with_queen column =
      if is_attacked queens column then None
      else place check n (column :: queens)
    in
    List.find_map with_queen (List.init n Fun.id)
  end

exception Stop

(* Returns [None] if there is no solution. *)
let solve pool n =
  let answer = Promise.create () in
  let resolve found = ignore (Promise.try_fill answer found : bool) in
  let check () = if Promise.is_resolved answer then raise Stop in
  let search first () =
    match place check n [ first ] with
    | Some queens -> resolve (Some queens)
    | None | (exception Stop) -> ()
  in
  let searches = Concord_domainslib.submit_all pool (List.init n search) in
  let all_have_ended () = ignore (Promise.await searches : unit list) in
  Fun.protect all_have_ended ~finally:(fun () ->
      (* If the client gives up, it waits until its tasks have stopped. *)
      resolve None;
      Tasks.protect all_have_ended);
  Promise.await answer

let show = function
  | Some queens -> String.concat " " (List.rev_map string_of_int queens)
  | None -> "none"

let rec is_solution = function
  | [] -> true
  | queen :: rest -> (not (is_attacked rest queen)) && is_solution rest

let main pool =
  Eio_main.run @@ fun _ ->
  Printf.printf "3 queens: %s\n" (show (solve pool 3));
  let eight = Option.get (solve pool 8) in
  Printf.printf "8 queens: %b\n" (List.length eight = 8 && is_solution eight);
  (* No task finds a solution in time. After the timeout, no task of the pool is still
     searching. *)
  let late = Tasks.with_timeout 0.05 (fun () -> solve pool 200) in
  Printf.printf "200 queens in time: %b\n" (Option.is_some late);
  let idle = Concord_domainslib.run pool (fun () -> "the pool is free") in
  print_endline idle

let () =
  let pool = Domainslib.Task.setup_pool ~num_domains:2 () in
  Concord_domainslib.attach pool;
  main pool;
  Concord_domainslib.teardown pool
