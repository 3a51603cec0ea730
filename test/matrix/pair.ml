(* The cells of two hosts, one for each structure. *)

open Concord
open Cell_kit

type cell = {
  structure : string;
  skipped : string option;  (** The reason why it is skipped. *)
  run : unit -> unit;
}

type other_domain = (unit -> unit) -> unit Promise.t
(** Runs the function on the other domain. *)

let turns n = Lwt_list.iter_s Lwt.pause (List.init n ignore)

(* [a] are tasks of [A], and [b] are tasks of [B]. One host is on the other domain, and one on
   the calling domain. If both are Lwt's, they share its loop. *)
let between (module A : Host.S) (module B : Host.S) (start : other_domain)
    ~calling ?(after = ignore) a b =
  let run_a () =
    A.run a;
    after ()
  and run_b () = B.run b in
  match (A.in_lwt, B.in_lwt, calling) with
  | Some start_a, Some start_b, _ ->
      Concord_lwt.run (fun () ->
          let a = List.map start_a a in
          let open Lwt.Syntax in
          (* A task of [B] may block the loop until a task of [A] waits. With CONCORD_DEBUG=strict, this
             task is suspended before it locks, until the timers' thread resumes it. The thread
             does that before a later timeout. *)
          let* () = turns 3 in
          let* () = Concord_lwt.sync (Event.timeout 0.001) in
          let* () = turns 3 in
          Lwt.join (a @ List.map start_b b));
      after ()
  | _, _, `B ->
      let ended = start run_a in
      run_b ();
      Promise.await ended
  | _, _, `A ->
      let ended = start run_b in
      run_a ();
      Promise.await ended

(* A thread beside [A]'s loop, on the same domain, which isn't a task of it, and a wait after
   the loop has ended. *)
let beside between =
  let p = Promise.create () and q = Promise.create () in
  let started = Promise.create () in
  let a () =
    let thread = Thread.create (fun () -> Promise.await p) () in
    Promise.await started;
    Promise.fill q thread
  in
  let after () =
    Thread.join (Promise.await q);
    let r = Promise.create () in
    let waker =
      Domain.spawn (fun () ->
          until_somebody_waits (fun () -> Promise.waiters r);
          Promise.fill r ())
    in
    Promise.await r;
    Domain.join waker
  in
  let b () =
    until_somebody_waits (fun () -> Promise.waiters p);
    Promise.fill started ();
    Promise.fill p ()
  in
  between ~after [ a ] [ b ]

(* One side blocks its host until the other side waits. *)
let blocks_its_host = [ "lazy"; "lazy failure"; "lazy restart" ]
let one_loop = "both are tasks of Lwt's one loop, which one of them would block"

let cells (module A : Host.S) (module B : Host.S) start ~calling =
  let between ?after = between (module A) (module B) start ~calling ?after in
  let plain a b = between a b in
  let in_one_loop = Option.is_some A.in_lwt && Option.is_some B.in_lwt in
  let cell ?skipped structure f =
    let skipped =
      if in_one_loop && List.mem structure blocks_its_host then Some one_loop
      else skipped
    in
    { structure; skipped; run = f }
  in
  let each ?skipped cells =
    List.map (fun (name, f) -> cell ?skipped name (fun () -> f plain)) cells
  in
  let no_foreign =
    match A.no_foreign with Some _ as reason -> reason | None -> B.no_foreign
  in
  each Structure_cells.all
  @ [
      cell "sibling" ?skipped:A.no_siblings (fun () ->
          Structure_cells.sibling plain);
      cell "beside" (fun () -> beside (fun ~after a b -> between ~after a b));
    ]
  @ each Lazy_cells.all
  @ [
      (match A.cancel with
      | None ->
          cell "lazy restart"
            ~skipped:"the host of the one that computes has no cancellation"
            ignore
      | Some cancel ->
          cell "lazy restart" (fun () -> Lazy_cells.restart ~cancel plain));
    ]
  @ each ?skipped:no_foreign Foreign_cells.all
