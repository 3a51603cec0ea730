(* The poller's inbox and its sleep, over a kernel in which each call is one step. Tasks wait
   for pipes and are cancelled. Other threads write to the pipes, close them and wake the loop.
   At rest the loop sleeps, and no waiting task could continue. *)

open Actor

(* [shut] is filled when the channel that reads the pipe is closed. *)
type pipe = { owner : Owner.t; from : int; to_ : int; shut : unit Promise.t }
type reading = { poller : Poller.t; pipe : pipe }

(* The same operation as in [Readiness]. *)
let readiness =
  {
    Operation.default with
    name = "test";
    how =
      By_hand
        {
          attempt = (fun _ () -> None);
          enlist =
            (fun { poller; pipe = { owner; _ } } waiter ->
              Owner.refer owner;
              Poller.enlist poller owner Read waiter ();
              true);
          withdraw =
            (fun { poller; pipe } _ -> Poller.count_withdrawn poller pipe.from);
        };
  }

(* With [by_channel], the task also waits until the channel is closed. *)
let read ~by_channel name reading =
  make name @@ fun () ->
  let wait () =
    if by_channel then
      Event.select
        [ Event.make readiness reading (); Promise.await_evt reading.pipe.shut ]
    else Operation.wait readiness reading ()
  in
  match wait () with
  | () -> "ready"
  | exception Unix.Unix_error (EBADF, _, _) -> "closed"

type process =
  | Loop
  | Read_and_loop of string * [ `A | `B ]  (** One after the other. *)
  | Read of string * [ `A | `B ]  (** A task, and its pipe. *)
  | Cancel of string
  | Write of [ `A | `B ]
  | Close of [ `A | `B ]  (** Closes the owner. *)
  | Shut of [ `A | `B ]
      (** Closes the channel, although other channels still use the owner. *)
  | Stop  (** Asks the loop to end, and wakes it. *)
  | Interrupt  (** A signal handler raises in the loop's sleep. *)
  | Move  (** Moves the waiters of another poller, whose loop has ended. *)
  | Move_and_loop

let rests poller =
  match Poller_inbox.state poller.Poller.inbox with
  | Asleep _ -> ()
  | Awake [] -> failwith "the loop sleeps, but has not announced it"
  | Awake (_ :: _) -> failwith "the loop sleeps, but must be woken"

let live poller =
  Poller.By_fd.fold
    (fun _ { Poller.readers; _ } n ->
      n + List.length (List.filter Poller.is_live readers))
    poller.Poller.table 0

let all poller =
  Poller.By_fd.fold
    (fun _ { Poller.readers; writers; _ } n ->
      n + List.length readers + List.length writers)
    poller.Poller.table 0

(* [first] are the tasks that wait when the processes start. If a poller is moved, they wait in
   that one. With [~looks:true], the loop polls once without waiting, as a busy loop does. *)
let check name ?(asleep = false) ?(looks = false) ?(first = []) processes expect
    =
  Model.check name ~expect @@ fun () ->
  Unix.start ();
  Atomic.set Owner.table (Array.init 6 (fun _ -> Atomic.make None));
  Iomux.Poll.interrupt := None;
  let is_move = function Move | Move_and_loop -> true | _ -> false in
  let poller = Poller.create () in
  let pollers =
    if List.exists is_move processes then [ poller; Poller.create () ]
    else [ poller ]
  in
  let last = List.nth pollers (List.length pollers - 1) in
  let pipe () =
    let from, to_ = Unix.pipe () in
    let owner = Owner.find ~wait:ignore "model" from in
    { owner; from; to_; shut = Promise.create () }
  in
  let a = pipe () in
  let b = pipe () in
  let pipe = function `A -> a | `B -> b in
  let stopped = Atomic.make false in
  let rec go () =
    if Atomic.get stopped then "ended"
    else
      match Poller.poll poller ~block:true with
      | () -> go ()
      | exception Iomux.Poll.Interrupted -> go ()
  in
  let loop =
    make "loop" (fun () ->
        if looks then Poller.poll poller ~block:false;
        go ())
  in
  let is_shut = function Shut _ -> true | _ -> false in
  let by_channel = List.exists is_shut processes in
  let reader poller (name, at) =
    (read ~by_channel name { poller; pipe = pipe at }, at)
  in
  let readers = List.map (reader last) first in
  List.iter (fun (reader, _) -> run reader) readers;
  if last != poller then Poller.serve_all last;
  if asleep then run loop;
  let started =
    List.filter_map
      (function
        | Read (name, at) | Read_and_loop (name, at) ->
            Some (reader poller (name, at))
        | _ -> None)
      processes
  in
  let actors, _ = List.split (readers @ started) in
  let find name = List.find (fun a -> a.name = name) actors in
  let move () = Poller.move last ~into:(fun () -> poller) in
  let process = function
    | Loop -> fun () -> run loop
    | Read (name, _) -> fun () -> run (find name)
    | Read_and_loop (name, _) ->
        fun () ->
          run (find name);
          run loop
    | Cancel name -> fun () -> Model.cancel (find name).task
    | Write at ->
        fun () ->
          let { to_; _ } = pipe at in
          ignore (Unix.single_write_substring to_ "x" 0 1 : int)
    | Close at ->
        fun () -> ignore (Owner.close (pipe at).owner : _ Promise.t option)
    | Shut at -> fun () -> ignore (Promise.try_fill (pipe at).shut () : bool)
    | Stop ->
        fun () ->
          Atomic.set stopped true;
          Poller.wake poller
    | Interrupt -> fun () -> Option.iter (fun f -> f ()) !Iomux.Poll.interrupt
    | Move -> move
    | Move_and_loop ->
        fun () ->
          move ();
          run loop
  in
  let outcome () =
    let bytes at =
      Hashtbl.find_opt (Option.get !Unix.kernel).bytes (pipe at).from
    in
    if List.mem Stop processes then
      begin if loop.result <> "ended" then failwith "the wake-up was lost"
      end
    else begin
      if loop.result != waiting then failwith "the loop ended";
      rests poller;
      let waits = count_waiting actors in
      if live poller <> waits then failwith "a waiter was lost, or stays";
      if Poller.waiting poller <> all poller then failwith "miscounted";
      if !Iomux.Poll.polled <> Poller.By_fd.cardinal poller.table + 1 then
        failwith "it polls for descriptors outside the table";
      let could_go_on (reader, at) =
        reader.result == waiting
        && (bytes at <> Some 0 || Promise.is_resolved (pipe at).shut)
      in
      let holds_back at =
        Owner.is_closing (pipe at).owner && bytes at <> None
      in
      if holds_back `A || holds_back `B then failwith "it was not closed";
      if List.exists could_go_on (readers @ started) then
        failwith "a task waits that could continue";
      if (Poller.helpers poller ~threads:1).idle = 1 && waits > 0 then
        failwith "idle, but a task waits";
      Poller.serve_all poller;
      (* A withdrawn waiter may be moved too. It then stays until its pipe is ready. *)
      if last == poller && all poller > 2 * live poller then
        failwith "withdrawn waiters remain"
    end;
    describe (loop :: actors)
  in
  (List.map process processes, outcome)

let () =
  check "the loop starts, a task waits, bytes come"
    [ Loop; Read ("r", `A); Write `A ]
    [ "loop=waits r=ready" ];
  check "the loop sleeps, two wait for two pipes" ~asleep:true
    ~first:[ ("r", `A) ]
    [ Read ("s", `B); Write `A ]
    [ "loop=waits r=ready s=waits" ];
  check "the loop sleeps, bytes come, one of two is cancelled" ~asleep:true
    ~first:[ ("r", `A); ("s", `A) ]
    [ Cancel "r"; Write `A ]
    [ "loop=waits r=ready s=ready"; "loop=waits r=cancelled s=ready" ];
  check "the loop starts, one of two is cancelled"
    ~first:[ ("r", `A); ("s", `A) ]
    [ Loop; Cancel "r"; Read ("t", `B) ]
    [ "loop=waits r=cancelled s=waits t=waits" ];
  check "the loop starts, both are cancelled"
    ~first:[ ("r", `A); ("s", `A) ]
    [ Loop; Cancel "r"; Cancel "s" ]
    [ "loop=waits r=cancelled s=cancelled" ];
  check "the loop starts, a task that begins to wait is cancelled"
    [ Loop; Read ("r", `A); Cancel "r" ]
    [ "loop=waits r=cancelled"; "loop=waits r=waits" ];
  check "the loop starts, the pipe is closed"
    ~first:[ ("r", `A) ]
    [ Loop; Close `A ] [ "loop=waits r=closed" ];
  check "a task waits, the pipe is closed, the loop starts"
    [ Read_and_loop ("r", `A); Close `A ]
    [ "loop=waits r=closed" ];
  check "the loop sleeps, bytes come, the pipe is closed" ~asleep:true
    ~first:[ ("r", `A) ]
    [ Write `B; Close `A ] [ "loop=waits r=closed" ];
  check "the loop sleeps, a task begins to wait, the pipe is closed"
    ~asleep:true
    [ Read ("r", `A); Close `A ]
    [ "loop=waits r=closed" ];
  check "the loop sleeps, one of two channels is closed" ~asleep:true
    [ Read ("r", `A); Shut `A ]
    [ "loop=waits r=ready" ];
  check "the loop sleeps, a task is cancelled, the pipe is closed" ~asleep:true
    ~first:[ ("r", `A) ]
    [ Cancel "r"; Close `A ]
    [ "loop=waits r=cancelled"; "loop=waits r=closed" ];
  check "moved, and one of two channels is closed"
    ~first:[ ("r", `A) ]
    [ Move_and_loop; Shut `A ] [ "loop=waits r=ready" ];
  check "the loop starts, is woken" [ Loop; Stop ] [ "loop=ended" ];
  check "a loop that polls starts, is woken" ~looks:true [ Loop; Stop ]
    [ "loop=ended" ];
  check "the loop starts, is woken, a task waits"
    [ Loop; Stop; Read ("r", `A) ]
    [ "loop=ended r=waits" ];
  check "the loop sleeps, is woken, bytes come" ~asleep:true
    ~first:[ ("r", `A) ]
    [ Stop; Write `A ]
    [ "loop=ended r=ready"; "loop=ended r=waits" ];
  check "the loop sleeps, is interrupted, and woken" ~asleep:true
    [ Interrupt; Stop ] [ "loop=ended" ];
  check "the loop sleeps, is interrupted, a task waits, bytes come" ~asleep:true
    [ Interrupt; Read ("r", `A); Write `A ]
    [ "loop=waits r=ready" ];
  check "moved, and bytes come"
    ~first:[ ("r", `A) ]
    [ Loop; Move; Write `A ] [ "loop=waits r=ready" ];
  check "moved, and cancelled" ~asleep:true
    ~first:[ ("r", `A) ]
    [ Move; Cancel "r" ]
    [ "loop=waits r=cancelled" ];
  check "moved, and the pipe is closed"
    ~first:[ ("r", `A) ]
    [ Move_and_loop; Close `A ]
    [ "loop=waits r=closed" ];
  Model.finish ()
