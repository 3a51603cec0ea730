open Concord
open Matrix_cells

module type Host = sig
  val name : string

  val no_siblings : string option
  (** Why tasks of one [run] do not share a thread or a domain. *)

  val cancel : ((unit -> unit) -> after:(unit -> unit) -> unit) option
  (** [cancel f ~after], in a task: [f ()] in another one, which is cancelled
      when [after ()] has returned. Returns when it has ended. *)

  val in_lwt : ((unit -> unit) -> unit Lwt.t) option
  (** Starts a task in Lwt's loop, of which a process has one. *)

  val run : (unit -> unit) list -> unit
  (** Runs them all as tasks, on the calling domain if it can, and returns when
      they have ended. *)
end

(* --- The hosts ------------------------------------------------------------ *)

module Fifo = struct
  let name = "Fifo"
  let in_lwt = None
  let no_siblings = None

  let run tasks =
    Concord_fifo.run @@ fun () ->
    List.iter
      (fun f -> ignore (Concord_fifo.fork f : Concord_fifo.handle))
      tasks

  let cancel =
    Some
      (fun f ~after ->
        let task = Concord_fifo.fork f in
        after ();
        Concord_fifo.cancel task;
        Concord_fifo.join task)
end

module Lazy_fifo = struct
  include Fifo

  let name = "Fifo, lazy"

  let run tasks =
    Concord_fifo.run ~cancellation:`Lazy (fun () -> Fifo.run tasks)
end

module Eio_fibers = struct
  let name = "Eio"
  let in_lwt = None
  let no_siblings = None
  let run tasks = Eio_main.run (fun _ -> Eio.Fiber.all tasks)
  let cancel = Some (fun f ~after -> Eio.Fiber.first f after)
end

module Domainslib_tasks = struct
  module Task = Domainslib.Task

  let name = "Domainslib"
  let in_lwt = None
  let no_siblings = None

  (* No further domain: who blocks this one blocks all tasks. *)
  let run tasks =
    let pool = Task.setup_pool ~num_domains:0 () in
    Task.run pool (fun () ->
        List.map (Task.async pool) tasks |> List.iter (Task.await pool));
    Task.teardown_pool pool

  let cancel = None
end

module Threads = struct
  let name = "thread"
  let in_lwt = None
  let no_siblings = None

  let run tasks =
    List.map (fun f -> Thread.create f ()) tasks |> List.iter Thread.join

  let cancel = None
end

module Domains = struct
  let name = "domain"
  let in_lwt = None
  let no_siblings = Some "each domain has one task"
  let run tasks = List.map Domain.spawn tasks |> List.iter Domain.join
  let cancel = None
end

(* Monadic style: a wait is a promise of Lwt, and the task what is bound to it. *)
module Lwt_promises = struct
  let name = "Lwt"
  let no_siblings = None
  let in_lwt = Some Concord_lwt.direct

  let run tasks =
    Concord_lwt.run (fun () -> Lwt.join (List.map Concord_lwt.direct tasks))

  let cancel =
    Some
      (fun f ~after ->
        let task = Concord_lwt.direct f in
        after ();
        Lwt.cancel task;
        let ended = Promise.create () in
        Lwt.on_termination task (Promise.fill ended);
        Promise.await ended)
end

module Lwt_tasks = struct
  let name = "Lwt_direct"
  let no_siblings = None
  let in_lwt = Some Lwt_direct.spawn

  let run tasks =
    Concord_lwt.run (fun () -> Lwt.join (List.map Lwt_direct.spawn tasks))

  let cancel = None
end

module Within (Outer : Host) = struct
  include Fifo

  let name = "Fifo in " ^ Outer.name
  let run tasks = Outer.run [ (fun () -> Fifo.run tasks) ]
end

let hosts : (module Host) list =
  [
    (module Fifo);
    (module Lazy_fifo);
    (module Eio_fibers);
    (module Domainslib_tasks);
    (module Threads);
    (module Domains);
    (module Within (Eio_fibers));
    (module Within (Domainslib_tasks));
    (module Lwt_promises);
    (module Lwt_tasks);
  ]

(* --- The styles of [concord.styles] ------------------------------------------- *)

module Style (S : sig
  val name : string
  val spawn : (unit -> unit) -> unit
  val start : unit -> unit
end) =
struct
  let name = S.name
  let in_lwt = None
  let no_siblings = None
  let cancel = None

  let run tasks =
    List.iter S.spawn tasks;
    S.start ()
end

module Direct
    (Name : sig
      val name : string
    end)
    (S : Concord_styles.Direct) =
Style (struct
  include Name
  include S
end)

module Trampolined
    (Name : sig
      val name : string
    end)
    (S : Concord_styles.Trampolined) =
Style (struct
  include Name

  let spawn f = S.spawn (fun () -> S.direct f ignore)
  let start = S.start
end)

module Monadic
    (Name : sig
      val name : string
    end)
    (S : Concord_styles.Monadic) =
Style (struct
  include Name

  let spawn f = S.spawn (fun () -> S.direct f)
  let start = S.start
end)

let styles : (module Host) list =
  let open Concord_styles in
  let direct name (module S : Direct) : (module Host) =
    (module Direct
              (struct
                let name = name
              end)
              (S))
  and trampolined name (module S : Trampolined) : (module Host) =
    (module Trampolined
              (struct
                let name = name
              end)
              (S))
  and monadic name (module S : Monadic) : (module Host) =
    (module Monadic
              (struct
                let name = name
              end)
              (S))
  in
  [
    direct "threads" (module Threads);
    direct "callcc" (module Callcc);
    direct "delimited" (module Delimited);
    trampolined "trampoline" (module Trampoline);
    monadic "continuation" (module Continuation);
    monadic "promise" (module Promise);
    trampolined "events" (module Events);
  ]

(* --- The cells ------------------------------------------------------------ *)

let messages = 500

exception Refused

(* [echo] answers each of [n] pings. *)
let ping ping pong n =
  for i = 1 to n do
    Mvar.put ping i;
    assert (Mvar.take pong = -i)
  done

let echo ping pong n =
  for _ = 1 to n do
    Mvar.put pong (-Mvar.take ping)
  done

(* The other domain. It is the same for many cells, since to end one in which there
   were threads takes 50 ms. *)
let with_other_domain f =
  let jobs = Mailbox.create () in
  let rec work () =
    match Mailbox.take jobs with
    | exception Mailbox.Closed -> ()
    | job, ended ->
        (match job () with
        | () -> Promise.fill ended ()
        | exception e -> Promise.fail ended e);
        work ()
  in
  let start job =
    let ended = Promise.create () in
    Mailbox.put jobs (job, ended);
    ended
  in
  let domain = Domain.spawn work in
  let v = f start in
  Mailbox.close jobs;
  Domain.join domain;
  v

let turns n = Lwt_list.iter_s Lwt.pause (List.init n ignore)

module Pair
    (A : Host)
    (B : Host)
    (Other_domain : sig
      val start : (unit -> unit) -> unit Promise.t
    end) =
struct
  (* [a] are tasks of [A], on the other domain, and [b] of [B]. If both are Lwt's, they
     share its loop. *)
  let between ?(after = ignore) a b =
    match (A.in_lwt, B.in_lwt) with
    | Some start_a, Some start_b ->
        Concord_lwt.run (fun () ->
            let a = List.map start_a a in
            (* A task of [B] may block the loop until one of [A] waits. *)
            Lwt.bind (turns 3) (fun () -> Lwt.join (a @ List.map start_b b)));
        after ()
    | _ ->
        let ended =
          Other_domain.start (fun () ->
              A.run a;
              after ())
        in
        B.run b;
        Promise.await ended

  (* A cell in which one side blocks its host until the other waits. *)
  let blocks_its_host = [ "lazy"; "lazy failure"; "lazy restart" ]

  let in_one_loop name =
    if
      Option.is_some A.in_lwt && Option.is_some B.in_lwt
      && List.mem name blocks_its_host
    then Some ("with " ^ B.name ^ ", one would block the loop of both")
    else None

  let value () =
    let p = Promise.create () in
    between
      [ (fun () -> assert (Promise.await p = 42)) ]
      [
        (fun () ->
          until_somebody_waits (fun () -> Promise.waiters p);
          Promise.fill p 42);
      ]

  let failure () =
    let p : unit Promise.t = Promise.create () in
    let await () =
      match Promise.await p with
      | () -> assert false (* it fails *)
      | exception Refused -> ()
    in
    let fail () =
      until_somebody_waits (fun () -> Promise.waiters p);
      Promise.fail p Refused
    in
    between [ await ] [ fail ]

  let messages () =
    let there = Mvar.create_empty () and back = Mvar.create_empty () in
    between
      [ (fun () -> ping there back messages) ]
      [ (fun () -> echo there back messages) ]

  (* While a task of [A] waits, its sibling talks to a task of [B]. *)
  let sibling () =
    let p = Promise.create () in
    let there = Mvar.create_empty () and back = Mvar.create_empty () in
    let talk () =
      until_somebody_waits (fun () -> Promise.waiters p);
      echo there back 10;
      Promise.fill p ()
    in
    between
      [ (fun () -> Promise.await p); (fun () -> ping there back 10) ]
      [ talk ]

  (* A thread beside [A]'s loop, on the same domain, which is not a task of it; and
     what comes after the loop. *)
  let beside () =
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

  let restart =
    match A.cancel with
    | None -> ("lazy restart", Some "it has no cancellation", ignore)
    | Some cancel ->
        let cell () =
          Matrix_cells.lazy_restart ~cancel (between ~after:ignore)
        in
        ("lazy restart", in_one_loop "lazy restart", cell)

  let cells =
    [
      ("value", None, value);
      ("failure", None, failure);
      ("messages", None, messages);
      ("sibling", A.no_siblings, sibling);
      ("beside", None, beside);
    ]
    @ List.map
        (fun (name, cell) ->
          (name, in_one_loop name, fun () -> cell (between ~after:ignore)))
        Matrix_cells.all
    @ [ restart ]

  let run () =
    Printf.printf "%-18s <- %-18s" A.name B.name;
    let cell (name, skip, test) =
      match skip with
      | Some _ -> Printf.printf "  (%s)%!" name
      | None ->
          Printf.printf "  %s%!" name;
          test ()
    in
    let start = Unix.gettimeofday () in
    List.iter cell cells;
    Printf.printf "  %.0f ms\n%!" (1e3 *. (Unix.gettimeofday () -. start));
    List.filter_map
      (fun (name, skip, _) ->
        Option.map (Printf.sprintf "%s of %s: %s" name A.name) skip)
      cells
end

let run_pairs ~title ~on_other_domain ~here =
  Concord_test_support.Race.watchdog ~seconds:100.;
  Printf.printf "%s\n%!" title;
  let skipped =
    List.concat_map
      (fun (module A : Host) ->
        with_other_domain @@ fun start ->
        let module Other_domain = struct
          let start = start
        end in
        List.concat_map
          (fun (module B : Host) ->
            let module Pair = Pair (A) (B) (Other_domain) in
            Pair.run ())
          here)
      on_other_domain
  in
  List.iter (Printf.printf "skipped: %s\n") (List.sort_uniq compare skipped)

let run ~title = run_pairs ~title ~on_other_domain:hosts ~here:hosts

let run_styles ~title =
  run_pairs ~title ~on_other_domain:styles ~here:(styles @ hosts);
  run_pairs
    ~title:(title ^ ", on the first domain")
    ~on_other_domain:hosts ~here:styles

let run_with (module B : Host) ~title =
  Concord_test_support.Race.watchdog ~seconds:100.;
  Printf.printf "%s\n%!" title;
  List.iter
    (fun (module A : Host) ->
      with_other_domain @@ fun start ->
      let between a b =
        let ended = start (fun () -> A.run a) in
        B.run b;
        Promise.await ended
      in
      Printf.printf "%-18s <> %-18s" A.name B.name;
      List.iter
        (fun (name, cell) ->
          Printf.printf "  %s%!" name;
          cell between;
          cell (fun a b -> between b a))
        Matrix_cells.all;
      Printf.printf "\n%!")
    hosts
