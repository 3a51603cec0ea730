(* An operation that must wait returns a promise of its value at once. The thread continues
   with code that doesn't need the value. Code that needs it is given to the promise by [>>=].
   When the structure gives the value, the promise is fulfilled, and calls these functions. So
   [>>=] has more to do than in the other styles. They pass on the rest of a thread as one
   function, but here the rest is connected promise by promise. *)

include Boxes

let style = Group.style ~name:"Promise" ignore

module Wait = Indirect.Make (struct
  type data = unit

  let style = style
end)

(* --- Promises --------------------------------------------------------------- *)

(* A promise that is linked to another one is the same promise from then on. *)
type 'a t = { mutable state : 'a state }

and 'a state =
  | Ready of 'a
  | Blocked of ('a -> unit) list
      (** The functions to call with the value, the last one first. *)
  | Link of 'a t

let rec repr t =
  match t.state with Link t -> repr t | Ready _ | Blocked _ -> t

let ready v = { state = Ready v }
let blocked () = { state = Blocked [] }

let fulfill t v =
  let t = repr t in
  match t.state with
  | Blocked waiters ->
      t.state <- Ready v;
      List.iter (fun f -> f v) (List.rev waiters)
  | Ready _ -> invalid_arg "Promise.fulfill: the promise is ready already"
  | Link _ -> assert false (* because [repr] never returns a link *)

let on_ready t f =
  let t = repr t in
  match t.state with
  | Ready v -> f v
  | Blocked waiters -> t.state <- Blocked (f :: waiters)
  | Link _ -> assert false (* because of [repr] *)

let connect t t' =
  let t = repr t and t' = repr t' in
  if t != t' then
    match t'.state with
    | Ready v -> fulfill t v
    | Blocked waiters' -> (
        match t.state with
        | Blocked waiters ->
            t.state <- Blocked (waiters' @ waiters);
            t'.state <- Link t
        | Ready _ -> invalid_arg "Promise.connect: the promise is ready already"
        | Link _ -> assert false (* because of [repr] *))
    | Link _ -> assert false (* because of [repr] *)

(* [f v] exists only when [t] is ready. Until then, [>>=] returns another promise, [result],
   which is then connected to [f v]. *)
let return = ready

let ( >>= ) t f =
  match (repr t).state with
  | Ready v -> f v
  | Blocked _ | Link _ ->
      let result = blocked () in
      on_ready t (fun v -> connect result (f v));
      result

let ( let* ) = ( >>= )
let ( let+ ) t f = t >>= fun v -> ready (f v)

(* --- Threads ---------------------------------------------------------------- *)

(* The promise of an operation that calls its argument when it was performed. *)
let promise operation =
  let t = blocked () in
  operation (fun v -> fulfill t v);
  t

let spawn f = Group.spawn style (fun () -> ignore (f () : unit t))
let yield () = promise (Group.enqueue (Group.running style))
let skip = ready ()
let halt () = blocked ()

let stop () =
  Loop.stop style;
  halt ()

let rec run group = if Group.turn group then run group
let start () = Wait.start run

(* --- Waiting ---------------------------------------------------------------- *)

let put_mvar m v = promise (Wait.put_mvar m v)
let take_mvar m = promise (Wait.take_mvar m)
let take_fifo q = promise (Wait.take_fifo q)
let sync event = promise (Wait.sync event)
let direct f = promise (Wait.direct f)

let is_ready t =
  match (repr t).state with Ready _ -> true | Blocked _ | Link _ -> false

(* Sleeps until [t] is ready, or until it is time to check again whether it can become ready. *)
let sleep t bell =
  let in_host = Loop.is_in_host () in
  let forget =
    Loop.check_again ~in_host (fun () ->
        ignore ((Atomic.get bell) (Ok ()) : bool))
  in
  Loop.finally ~finally:forget (fun () ->
      Concord.Private.Reach.suspend_unlisted (fun resumer ->
          Atomic.set bell resumer;
          if is_ready t then Some () else None))

let may_be_woken t =
  Concord.Tools.Host_kit.may_be_woken ~asleep:0
  ||
  (* The last thread that could make [t] ready may have done so and ended meanwhile. *)
  is_ready t

let claim t =
  let never (_ : (unit, exn) result) = false in
  let bell = Atomic.make never in
  let rec wait ~told =
    match (repr t).state with
    | Ready v -> v
    | Blocked _ | Link _ ->
        if not (may_be_woken t) then raise (Group.Deadlock 1);
        if not told then
          on_ready t (fun _ -> ignore ((Atomic.get bell) (Ok ()) : bool));
        sleep t bell;
        wait ~told:true
  in
  wait ~told:false
