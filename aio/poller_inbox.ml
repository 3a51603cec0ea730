type 'a state = Awake of 'a list | Asleep of int

(* The only Atomic here

   State     Left by    To              By whom
   Awake ms  post       Awake (m :: ms) any thread
             announce   Asleep n        the loop, for which n wait, if ms = []
             take       Awake []        the loop, which serves ms
   Asleep n  post       Awake [ m ]     any thread; it rings
             take       Awake []        the loop, after it polled

   Debt: the thread that leaves [Asleep] by a post rings the bell. A signal handler that
   raises out of the loop's poll leaves the loop [Asleep]: then one ring is in vain. *)
type 'a t = 'a state Atomic.t

let empty = Awake []
let create () = Atomic.make empty

(* --- For any thread ------------------------------------------------------- *)

let state = Atomic.get

let rec post t message =
  let before = Atomic.get t in
  match before with
  | Awake (latest :: _) when latest == message -> false
  | Awake messages -> replace t before (message :: messages) message
  | Asleep _ -> replace t before [ message ] message

and replace t before messages message =
  if Atomic.compare_and_set t before (Awake messages) then
    match before with Asleep _ -> true | Awake _ -> false
  else (* another thread posted, or the loop took *) post t message

(* --- For the loop --------------------------------------------------------- *)

let take t =
  match Atomic.exchange t empty with
  | Awake messages -> messages
  | Asleep _ -> []

let announce t ~waiting = Atomic.compare_and_set t empty (Asleep waiting)
