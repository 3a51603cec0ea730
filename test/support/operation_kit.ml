(* What the rows of the table of operations have in common. See [Operations]. *)

open Concord
open Concord.Tools

(** How a wake serves the waiters, each of which has a value to give. *)
type service =
  | Takes  (** The first waiter gets the wake's value. *)
  | Gives  (** The first waiter gives its value to the wake, and gets 0. *)
  | Shares  (** All waiters get the wake's value. *)
  | Passes
      (** The first waiter gets the wake's value and gives its own value to the
          next one, and so on. *)
  | Meets  (** All waiters continue, unless one of them refuses. *)

type 'result place = {
  wait : int -> 'result;
      (** Performs the operation. The argument is the value to give, and the
          result is the value received. *)
  event : (int -> int Event.t) option;  (** The same, as an event. *)
  wake : unit -> int;
      (** Never waits. Returns the value that it gave, or 0 if it gave none. For
          [Shares], [Passes] and [Meets] it may be called only once. *)
  release : int -> int;
      (** Like [wake], but the argument is the value to give. Returns the value
          that it received, or 0. It returns its own value if no task takes it.
          At a barrier, it is one party, which waits. *)
  left : unit -> int list;
      (** Called at rest. Returns the values that the waiters gave or, for
          [Takes] and [Shares], the values that no waiter got. It removes them,
          so that the structure is as it was at first. *)
  waiters : unit -> int;
  ends : (exn * (unit -> unit)) option;
      (** Ends the structure for good. All present and future waiters get the
          exception. *)
  fails : (exn -> Printexc.raw_backtrace -> unit) option;
      (** All waiters get this exception, with its backtrace. *)
}
(** A new structure, in a state in which the operation waits. *)

type 'result t = {
  name : string;
  service : service;
  remembers : bool;
      (** Without a waiter, a wake serves the next task that comes. *)
  repeats : bool;  (** One choice may contain its event twice. *)
  make : int -> 'result place;
      (** The argument is the largest number of tasks that will wait. *)
}

(** The style in which the operations return their results. *)
module type Style = sig
  type 'a promise

  val return : 'a -> 'a promise
  val map : ('a -> 'b) -> 'a promise -> 'b promise

  include Monadic.S with type 'a promise := 'a promise
end

(* An item that makes the structure full, so that tasks that give have to wait. *)
let filler = 0
let unit event = Event.wrap event (fun () -> 0)

(* For a wake, which may be on another domain. It can't use Alcotest's checks, because they
   print. *)
let expect what condition = if not condition then failwith what

(* 1, 2, 3 ... *)
let counter () =
  let n = ref 0 in
  fun () ->
    incr n;
    !n

(* A wake that always gives the same value, or one that gives 1, 2 and so on. *)
let always n release () =
  ignore (release n : int);
  n

let numbered release =
  let next = counter () in
  fun () -> always (next ()) release ()

(* All the values that [f] returns. *)
let rec drain f = match f () with Some v -> v :: drain f | None -> []
let unless_closed f t = try f t with Stream.Closed -> None
let tokens try_one = if try_one () then [ 0 ] else []

(* [f] runs a task in a handler. Miou would suspend its own task instead if the handler were not
   registered. *)
let registered f = Host_kit.(using (create ()) f)

(* Runs [f ()] until it waits. The result continues it within the call, if it was resumed. So a
   task of the table needs no turn of its own. *)
let paused f =
  let go_on = ref ignore in
  let suspend block k =
    let outcome = ref (Error Exit) in
    let resumer o =
      outcome := o;
      true
    in
    (go_on := fun () -> Handled.go_on k !outcome);
    match block resumer with None -> () | Some v -> Effect.Deep.continue k v
  in
  registered (fun () -> Handled.run { suspend } ~ret:ignore f);
  fun () -> !go_on ()

let operation ?(remembers = true) ?(repeats = true) name service make =
  { name; service; remembers; repeats; make }

(* Operations that wait to give a value. *)
let full ~wait ~event ~try_take ~waiters ~ends =
  let out = ref [] in
  let rec take () =
    match try_take () with Some v -> out := v :: !out | None -> ()
  and take_all () =
    let before = !out in
    take ();
    if !out != before then take_all ()
  in
  {
    wait;
    event = Some (fun v -> unit (event v));
    wake =
      (fun () ->
        take ();
        0);
    release = (fun _ -> Option.value (try_take ()) ~default:0);
    left =
      (fun () ->
        take_all ();
        List.filter (( <> ) filler) (List.rev !out));
    waiters;
    ends;
    fails = None;
  }
