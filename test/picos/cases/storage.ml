(* The values of fibers ([Fiber.FLS]), and Lwt's in fibers that run in a task of Lwt. *)

open Picos
open Concord_test_hosts.Storage_cases

let key : int option Fiber.FLS.t = Fiber.FLS.create ()

(* Picos doesn't hand these values to a new fiber. *)
let fiber =
  let get () = Fiber.FLS.get (Fiber.current ()) key ~default:None in
  let set v = Fiber.FLS.set (Fiber.current ()) key v in
  let bind v f =
    let before = get () in
    set v;
    Fun.protect f ~finally:(fun () -> set before)
  in
  { bind; get; inherited = false }

let lwt_key : int Lwt.key = Lwt.new_key ()

let lwt =
  {
    bind = (fun v f -> Lwt.with_value lwt_key v f);
    get = (fun () -> Lwt.get lwt_key);
    inherited = true;
  }

let in_fiber start f =
  Concord_lwt.run (fun () -> start (fun () -> Concord_picos.as_fiber f))

let in_thread f =
  Concord.(
    Promise.await (Promise.in_thread (fun () -> Concord_picos.as_fiber f)))

(* The cases count in plain references, so the fibers run in one domain. *)
let suites =
  List.map
    (fun (s : Schedulers.t) -> suite kept (s.name ^ ", values", s.run) fiber)
    Schedulers.[ fifo; random; registered fifo ]
  @ List.map
      (fun (s : Schedulers.t) -> suite kept (s.name ^ ", Local", s.run) local)
      Schedulers.[ fifo; random; registered fifo ]
  @ [
      suite kept
        ("as_fiber in Concord_lwt.direct, values", in_fiber Concord_lwt.direct)
        lwt;
      suite kept
        ("as_fiber in Lwt_direct, values", in_fiber Lwt_direct.spawn)
        lwt;
      suite kept ("as_fiber in a thread, Local", in_thread) local;
      suite kept
        ("as_fiber in Concord_lwt.direct, Local", in_fiber Concord_lwt.direct)
        local;
    ]
