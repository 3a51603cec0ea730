(* The recipe "Testing code that waits" of the cookbook: tasks in a random order, and tasks
   that nothing can resume any longer. *)

open Concord

module Drawn = struct
  let name = "drawn"

  type priority = unit

  let default = ()

  type 'a t = 'a list ref

  let create () = ref []
  let add ready () _ task = ready := task :: !ready
  let is_empty ready = List.is_empty !ready

  let take ready =
    match !ready with
    | [] -> None
    | tasks ->
        let n = Random.int (List.length tasks) in
        ready := List.filteri (fun i _ -> i <> n) tasks;
        Some (List.nth tasks n)
end

module Drawn_order = Concord_policies.Make (Drawn)

(* How often the value is computed if two tasks ask for it. *)
let computations seed get =
  Random.init seed;
  let count = ref 0 in
  let get =
    get (fun () ->
        incr count;
        Tasks.yield ();
        42)
  in
  ignore (Drawn_order.run (fun () -> Tasks.both get get) : int * int);
  !count

let cached f =
  let cache = Cache.create f in
  fun () -> Cache.get cache

let careless f =
  let cache = ref None in
  fun () ->
    match !cache with
    | Some v -> v
    | None ->
        let v = f () in
        cache := Some v;
        v

let all get =
  List.init 20 (fun seed -> computations seed get)
  |> List.sort_uniq Int.compare |> List.map string_of_int |> String.concat " "

let () =
  print_endline ("Cache: " ^ all cached);
  print_endline ("without Lazy: " ^ all careless);
  match Concord_fifo.run (fun () -> Promise.await (Promise.create ())) with
  | () -> assert false
  | exception Tools.Suspend.Never_resumed ->
      print_endline "nothing can resume it"
