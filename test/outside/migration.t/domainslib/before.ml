(* Words pass through bounded, unbounded and rendezvous channels between the tasks of a pool. *)

open Domainslib

let rec pass from onto f =
  match Chan.recv from with
  | Some x ->
      Chan.send onto (Some (f x));
      pass from onto f
  | None -> Chan.send onto None

let rec collect from found =
  match Chan.recv from with
  | Some x -> collect from (x :: found)
  | None -> List.rev found

let () =
  (* A waiting task keeps its domain, so each task needs one. *)
  let pool = Task.setup_pool ~num_domains:2 () in
  let lengths =
    Task.run pool (fun () ->
        let words = Chan.make_unbounded ()
        and upper = Chan.make_bounded 2
        and lengths = Chan.make_bounded 0 in
        let stages =
          [
            Task.async pool (fun () -> pass words upper String.uppercase_ascii);
            Task.async pool (fun () -> pass upper lengths String.length);
          ]
        in
        List.iter
          (fun word -> Chan.send words (Some word))
          [ "a"; "red"; "green"; "violet" ];
        Chan.send words None;
        let found = collect lengths [] in
        List.iter (Task.await pool) stages;
        found)
  in
  Task.teardown_pool pool;
  print_endline (String.concat " " (List.map string_of_int lengths));
  let none : int Chan.t = Chan.make_bounded 1 in
  print_endline
    (match Chan.recv_poll none with Some _ -> "impossible" | None -> "empty")
