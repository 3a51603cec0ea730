module Waiter = Concord.Tools.Structure_kit.Waiter

type direction = Owner.direction = Read | Write

type wait =
  | Wait : {
      waiter : ('x, 'a) Waiter.t;
      value : 'a;
      is_closing : unit -> bool;
    }
      -> wait

type message =
  | Add of {
      owner : Owner.t;
      direction : direction;
      wait : wait;
      mutable refers : bool;
    }
  | Gone of int
  | Forget of Owner.t
  | Rouse of Owner.t * direction
  | Wake

(* The only Atomic here

   State              Left by    To              By whom
   asleep = a, ms     post       awake, m :: ms  any thread; it rings unless a = awake
                      announce   n, []           the loop, for which n wait, if it was
                                                 awake and ms = []
                      take       awake, []       the loop, which serves ms; after it
                                                 polled also if ms = []

   Debt: the thread that leaves [asleep] by a post rings the bell. A signal handler that
   raises out of the loop's poll leaves the loop [asleep]: then one ring is in vain. *)
type state = {
  asleep : int;  (** How many waited when the loop fell asleep; or {!awake}. *)
  latest_first : message list;  (** [[]] if it is asleep. *)
}

type t = state Atomic.t

let awake = -1
let empty = { asleep = awake; latest_first = [] }
let create () = Atomic.make empty

(* --- For any thread ------------------------------------------------------- *)

let rec post t message =
  let before = Atomic.get t in
  match (message, before.latest_first) with
  | Wake, Wake :: _ -> (* not served yet: it stands for both *) false
  | _, latest_first ->
      let after = { asleep = awake; latest_first = message :: latest_first } in
      if Atomic.compare_and_set t before after then before.asleep <> awake
      else (* another thread posted, or the loop took *) post t message

let is_live (Wait { waiter; _ }) = Waiter.is_live waiter

let adds_somebody = function
  | Add { wait; _ } -> is_live wait
  | Gone _ | Forget _ | Rouse _ | Wake -> false

type rest = Idle | Busy | Waiting

let rest t =
  match Atomic.get t with
  | { asleep = 0; _ } -> Idle
  | { asleep; _ } when asleep <> awake -> Waiting
  | { latest_first; _ } ->
      if List.exists adds_somebody latest_first then Waiting else Busy

(* --- For the loop --------------------------------------------------------- *)

let is_quiet t =
  match Atomic.get t with
  | { asleep; latest_first = [] } -> asleep = awake
  | { latest_first = _ :: _; _ } -> false

let take t = (Atomic.exchange t empty).latest_first

let announce t ~waiting =
  Atomic.compare_and_set t empty { asleep = waiting; latest_first = [] }
