(* The code of "Effectively Composing Concurrency Libraries" as published. It has the
   scheduler of Figure 3 with the cancellation of 4.1 and the [Suspend] of 4.2, the promise
   of 3.3, and the mutex of Figure 4. It is used only to show that the tests of its faults
   can fail.

   Two things are added. [watch] lets a test see what the loop does. [corrected] repairs the
   first fault, because otherwise no task gets through the mutex and the other faults can't
   be seen. *)

open Effect
open Effect.Deep

type 'a resumer = 'a -> bool
type handle = { mutable cancelled : bool }

type _ Effect.t +=
  | Suspend : ('a resumer -> 'a option) -> 'a Effect.t
  | Fork : (unit -> unit) -> handle Effect.t
  | Yield : unit Effect.t

type task = Task : handle * ('a, unit) continuation * 'a -> task

type watch = {
  before_push : unit -> unit;
  wait : Condition.t -> Mutex.t -> unit;  (** Replaces [Condition.wait]. *)
  signal : Condition.t -> unit;  (** Replaces [Condition.signal]. *)
}

let cancel task = task.cancelled <- true
let fork f = perform (Fork f)
let yield () = perform Yield

module Run_queue = struct
  type t = { mutex : Mutex.t; tasks : task Queue.t }

  let create () = { mutex = Mutex.create (); tasks = Queue.create () }
  let locked q f = Mutex.protect q.mutex (fun () -> f q.tasks)
  let push task q = locked q (Queue.push task)
  let pop q = locked q Queue.take_opt
  let is_empty q = locked q Queue.is_empty
end

let run ~watch ~corrected main =
  let run_q = Run_queue.create () in
  let nt = ref 0 in
  let m, c = (Mutex.create (), Condition.create ()) in
  let enqueue handle k v = Run_queue.push (Task (handle, k, v)) run_q in
  let rec dequeue () =
    match Run_queue.pop run_q with
    | Some (Task (handle, k, v)) ->
        if handle.cancelled then discontinue k Exit else continue k v
    | None when !nt = 0 -> ()
    | _ ->
        Mutex.lock m;
        if Run_queue.is_empty run_q then begin
          watch.wait c m;
          Mutex.unlock m;
          dequeue ()
        end
        else begin
          Mutex.unlock m;
          dequeue ()
        end
  in
  let rec spawn handle f =
    incr nt;
    match_with f ()
      {
        retc =
          (fun () ->
            decr nt;
            dequeue ());
        exnc =
          (fun exn ->
            decr nt;
            print_string (Printexc.to_string exn);
            dequeue ());
        effc =
          (fun (type a) (e : a Effect.t) ->
            match e with
            | Yield ->
                Some
                  (fun (k : (a, unit) continuation) ->
                    enqueue handle k ();
                    dequeue ())
            | Fork f ->
                Some
                  (fun (k : (a, unit) continuation) ->
                    let child = { cancelled = false } in
                    enqueue handle k child;
                    spawn child f)
            | Suspend block ->
                Some
                  (fun (k : (a, unit) continuation) ->
                    let resumer v =
                      let wakeup = Run_queue.is_empty run_q in
                      watch.before_push ();
                      enqueue handle k v;
                      if wakeup then begin
                        Mutex.lock m;
                        watch.signal c;
                        Mutex.unlock m
                      end;
                      not handle.cancelled
                    in
                    match block resumer with
                    | None -> dequeue ()
                    | Some v ->
                        if handle.cancelled <> corrected then continue k v
                        else discontinue k Exit)
            | _ -> None);
      }
  in
  spawn { cancelled = false } main

module Promise = struct
  type 'a state = Full of 'a | Empty of 'a resumer list
  type 'a t = 'a state Atomic.t

  exception Already_filled

  let create () = Atomic.make (Empty [])

  let rec fill p v =
    let old = Atomic.get p in
    match old with
    | Full _ -> raise Already_filled
    | Empty l ->
        if Atomic.compare_and_set p old (Full v) then
          List.iter (fun r -> ignore (r v)) l
        else fill p v

  let await p =
    let rec block r =
      let old = Atomic.get p in
      match old with
      | Full v -> Some v
      | Empty l ->
          if Atomic.compare_and_set p old (Empty (r :: l)) then None
          else block r
    in
    let old = Atomic.get p in
    match old with Full v -> v | _ -> perform (Suspend block)
end

module Mutex = struct
  type state = Unlocked | Locked of unit resumer list
  type t = state Atomic.t

  let create () = Atomic.make Unlocked

  let lock m =
    let rec block r =
      let old = Atomic.get m in
      match old with
      | Unlocked ->
          if Atomic.compare_and_set m old (Locked []) then Some () else block r
      | Locked l ->
          if Atomic.compare_and_set m old (Locked (r :: l)) then None
          else block r
    in
    perform (Suspend block)

  let rec unlock m =
    let old = Atomic.get m in
    match old with
    | Unlocked -> failwith "impossible"
    | Locked [] ->
        if Atomic.compare_and_set m old Unlocked then () else unlock m
    | Locked (r :: rs) ->
        if Atomic.compare_and_set m old (Locked rs) then
          if r () then () else unlock m
        else unlock m
end

(* This isn't the published code, which is long, but an MVar with its fault. [take] replaces
   the stored value by the first putter's before it knows whether that putter still waits.
   If not, [take] starts again without the value. *)
module Mvar = struct
  type 'a state =
    | Full of 'a * ('a * unit resumer) list
    | Empty of 'a resumer list

  type 'a t = 'a state Atomic.t

  let create_empty () : 'a t = Atomic.make (Empty [])

  let rec put t v =
    let rec block r =
      let old = Atomic.get t in
      match old with
      | Empty _ ->
          put t v;
          Some ()
      | Full (stored, l) ->
          if Atomic.compare_and_set t old (Full (stored, l @ [ (v, r) ])) then
            None
          else block r
    in
    let old = Atomic.get t in
    match old with
    | Empty [] ->
        if Atomic.compare_and_set t old (Full (v, [])) then () else put t v
    | Empty (r :: rs) ->
        if Atomic.compare_and_set t old (Empty rs) then
          if r v then () else put t v
        else put t v
    | Full _ -> perform (Suspend block)

  let rec try_take t =
    let old = Atomic.get t in
    match old with
    | Empty _ -> None
    | Full (v, []) ->
        if Atomic.compare_and_set t old (Empty []) then Some v else try_take t
    | Full (v, (next, r) :: rest) ->
        if Atomic.compare_and_set t old (Full (next, rest)) then
          if r () then Some v else try_take t
        else try_take t
end
