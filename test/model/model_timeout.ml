(* A task with a time limit, in a scheduler. Another domain lets the limit pass, as the timer's
   thread does, while others give the task what it waits for, or cancel it. *)

open Actor
open Fifo_actor

exception Boom

type process = Host | Put of int | Cancel | Limit

let check name ?(where = Other_domain) ?(is_lazy = false) ?(asleep = true)
    ?(after = Fun.id) processes expect =
  Model.check name ~expect @@ fun () ->
  let box = Mvar.create_empty () in
  Timer.due := ignore;
  let take () =
    match Tasks.with_timeout 1. (fun () -> after (Mvar.take box)) with
    | Some v -> string_of_int v
    | None -> "late"
    | exception Boom -> "boom"
  in
  let host, tasks, actors =
    scheduler where ~is_lazy ~daemons:0 ~looks:0 [ ("task", take) ]
  in
  if asleep then run host;
  let process = function
    | Host -> fun () -> run host
    | Put v -> fun () -> if not (Mvar.try_put box v) then failwith "it is full"
    | Cancel -> fun () -> Fifo.cancel (List.hd tasks)
    | Limit -> fun () -> !Timer.due ()
  in
  let outcome () =
    if Mvar.waiters box > 0 && count_waiting actors = 0 then
      failwith "a waiter stays";
    let content =
      match Mvar.try_take box with
      | Some v -> "full " ^ string_of_int v
      | None -> "empty"
    in
    (* The limit may pass again, after the end. *)
    !Timer.due ();
    describe (host :: actors) ^ " " ^ content
  in
  (List.map process processes, outcome)

let both name ?is_lazy ?asleep ?after processes expect =
  check name ?is_lazy ?asleep ?after processes expect;
  check (name ^ " (one domain)") ~where:Same_domain ?is_lazy ?asleep ?after
    processes expect

let in_time = "loop=ended task=1 empty"
let late = "loop=ended task=late full 1"

let () =
  both "the limit" [ Limit ] [ "loop=ended task=late empty" ];
  both "put, the limit" [ Put 1; Limit ] [ in_time; late ];
  both "lazy: put, the limit" ~is_lazy:true [ Put 1; Limit ] [ in_time; late ];
  both "the loop starts, put, the limit" ~asleep:false [ Host; Put 1; Limit ]
    [ in_time; late ];
  both "put, the function raises, the limit"
    ~after:(fun _ -> raise Boom)
    [ Put 1; Limit ]
    [ "loop=ended task=boom empty"; late ];
  both "the limit, twice" [ Limit; Limit ] [ "loop=ended task=late empty" ];
  (* [test_timeouts] has all three, the put, the limit and the cancellation. They have too many
     interleavings for a long run of this model. *)
  both "the limit, the task is cancelled" [ Limit; Cancel ]
    [ "loop=ended task=cancelled empty"; "loop=ended task=late empty" ];
  Model.finish ()
