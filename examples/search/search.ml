(* A parallel search that stops when one of its tasks has found something.

   Place n queens on a board so that no two attack each other. Each task of the pool
   searches the boards on which the first queen has a place of its own. One solution is
   enough: the task that finds it fills a promise, and the others look at that now and then.
   A client waits in Eio, and gives up when it has no more time. *)

open Concord

(* The columns of the rows before, the last one first. *)
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

exception Found_elsewhere

(* [None] if there is no solution. *)
let solve pool n =
  let solution = Promise.create () in
  Concord_domainslib.run_stoppable pool @@ fun token ->
  let check () =
    Concord_domainslib.check token;
    if Promise.is_resolved solution then raise Found_elsewhere
  in
  let search first () =
    match place check n [ first ] with
    | Some queens -> ignore (Promise.try_fill solution queens : bool)
    | None | (exception Found_elsewhere) -> ()
  in
  let searches = List.init n search in
  ignore
    (Promise.await (Concord_domainslib.submit_all pool searches) : unit list);
  match Promise.peek solution with Some (Ok queens) -> Some queens | _ -> None

let show = function
  | Some queens -> String.concat " " (List.rev_map string_of_int queens)
  | None -> "none"

let rec is_solution = function
  | [] -> true
  | queen :: rest -> (not (is_attacked rest queen)) && is_solution rest

let () =
  Concord_domainslib.with_pool ~num_domains:2 @@ fun pool ->
  Eio_main.run @@ fun _ ->
  Printf.printf "3 queens: %s\n" (show (solve pool 3));
  let eight = Option.get (solve pool 8) in
  Printf.printf "8 queens: %b\n" (List.length eight = 8 && is_solution eight);
  (* Nobody finds this in time; when the time is over, no task of the pool goes on. *)
  let late = Tasks.with_timeout 0.05 (fun () -> solve pool 200) in
  Printf.printf "200 queens in time: %b\n" (Option.is_some late);
  let idle = Concord_domainslib.run pool (fun () -> "the pool is free") in
  print_endline idle
