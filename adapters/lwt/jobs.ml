exception No_loop

let () =
  Printexc.register_printer (function
    | No_loop ->
        Some
          "Concord_lwt.No_loop: Concord_lwt.run ended before this job could \
           run, or while it ran"
    | _ -> None)

type job = {
  run : finally:(unit -> unit) -> unit;
  cancel : unit -> unit;
  refuse : unit -> unit;
}

(* [state], the jobs that were posted and have not begun, latest first

   State     Left by   To           By whom
   Open js   post      Open (j, js) any thread, which then rings if [js] is empty
             serve     Open []      the loop, which then begins all of js
             close     Ended js     the end of Concord_lwt.run, which then refuses js
   Ended js  close     Ended []     the same, after that
             reopen    Open []      a loop, at the start of a turn

   Debt: the thread that adds to an empty list rings. The loop serves the jobs before it falls
   asleep, and a thread that adds a job later finds the loop asleep and wakes it (H4). The debt is
   unbroken, because the next thread finds that the list isn't empty. *)
type state = Open of job list | Ended of job list

let state = Atomic.make (Open [])

let rec post ~ring job =
  match Atomic.get state with
  | Ended _ -> job.refuse ()
  | Open jobs as before ->
      if not (Atomic.compare_and_set state before (Open (job :: jobs))) then
        (* Another job was posted, or the loop took the jobs. *)
        post ~ring job
      else if List.is_empty jobs then ring ()

(* Unbroken, until it has raised so often that the cause isn't a signal handler: a broken
   notification of Lwt raises each time. *)
let rec insist tries ring =
  match ring () with
  | () -> ()
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      if tries > 0 then insist (tries - 1) ring;
      Printexc.raise_with_backtrace e backtrace

let most_tries = 100

let post ~ring job =
  match post ~ring job with
  | () -> ()
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      insist most_tries ring;
      Printexc.raise_with_backtrace e backtrace

let reopen () =
  match Atomic.get state with
  | Ended _ as before ->
      ignore (Atomic.compare_and_set state before (Open []) : bool)
  | Open _ -> ()

(* --- In the loop's thread --------------------------------------------------- *)

(* The jobs that the loop has taken, and that have not ended. *)
let running : (int, job) Hashtbl.t = Hashtbl.create 16
let next = ref 0
let none_runs () = Hashtbl.length running = 0

let is_idle () =
  none_runs ()
  &&
  match Atomic.get state with
  | Open jobs -> List.is_empty jobs
  | Ended _ -> true

(* The function to call once when no job is left. *)
let idle = ref ignore

let look_if_idle () =
  if is_idle () then begin
    let f = !idle in
    idle := ignore;
    f ()
  end

let when_idle f =
  idle := f;
  look_if_idle ()

let take job =
  let number = !next in
  incr next;
  Hashtbl.replace running number job;
  (number, job)

let end_ number =
  Hashtbl.remove running number;
  look_if_idle ()

let begin_ (number, job) = job.run ~finally:(fun () -> end_ number)

(* All jobs are taken before the first one begins. Otherwise the loop could seem idle, or end,
   while some are neither in [state] nor in [running]. *)
let serve () =
  match Atomic.get state with
  | Ended _ | Open [] -> false
  | Open (_ :: _) -> (
      match Atomic.exchange state (Open []) with
      | Open jobs ->
          List.iter begin_ (List.map take (List.rev jobs));
          true
      | Ended _ ->
          (* Another thread has closed [state], because its loop had ended when this one began.
             *)
          false)

let all_running () = Hashtbl.fold (fun _ job jobs -> job :: jobs) running []
let cancel_all () = List.iter (fun job -> job.cancel ()) (all_running ())

(* Unbroken by the caller, which calls it again. So until the end no job is forgotten. *)
let rec close () =
  match Atomic.get state with
  | Open jobs as before ->
      ignore (Atomic.compare_and_set state before (Ended jobs) : bool);
      close ()
  | Ended jobs as before ->
      List.iter (fun job -> job.refuse ()) (all_running () @ List.rev jobs);
      Hashtbl.reset running;
      idle := ignore;
      ignore (Atomic.compare_and_set state before (Ended []) : bool)
