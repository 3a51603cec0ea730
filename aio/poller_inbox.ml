type 'a state = Awake of 'a list | Asleep of int

(* A pipe. Any thread may write to [in_], and the loop reads from [out]. *)
type bell = { out : Unix.file_descr; in_ : Unix.file_descr }

(* [state]

   State     Left by    To              By whom
   Awake ms  post       Awake (m :: ms) any thread
             announce   Asleep n        the loop, for which n tasks wait, if ms = []
             take       Awake []        the loop, which serves ms
   Asleep n  post       Awake [ m ]     any thread, which then rings
             take       Awake []        the loop, after it polled

   Debt: the thread that leaves [Asleep] by a post rings the bell, because no later post does.
   So there is no polling point between the two. If a signal handler raises out of the loop's
   poll, the state stays [Asleep] although the loop is awake. Then one ring is in vain. *)
type 'a t = { state : 'a state Atomic.t; mutable bell : bell }

let empty = Awake []

let new_bell () =
  let out, in_ = Unix.pipe ~cloexec:true () in
  Unix.set_nonblock out;
  Unix.set_nonblock in_;
  { out; in_ }

let create () = { state = Atomic.make empty; bell = new_bell () }

let close_bell { in_; out } =
  Unix.close in_;
  Unix.close out

let close t = close_bell t.bell

(* --- For any thread ------------------------------------------------------- *)

let state t = Atomic.get t.state

(* If the pipe is full, the loop is woken anyway. *)
let rec ring t =
  match Unix.single_write_substring t.bell.in_ "!" 0 1 with
  | (_ : int) | (exception Unix.Unix_error ((EAGAIN | EWOULDBLOCK), _, _)) -> ()
  | exception Unix.Unix_error (EINTR, _, _) -> ring t

let rec post t message =
  let before = Atomic.get t.state in
  match before with
  | Awake (latest :: _) when latest == message -> ()
  | Awake messages -> replace t before (message :: messages) message
  | Asleep _ -> replace t before [ message ] message

and replace t before messages message =
  if Atomic.compare_and_set t.state before (Awake messages) then
    match before with Asleep _ -> Ensure.completed ring t | Awake _ -> ()
  else
    (* Another thread posted, or the loop took the messages. *)
    post t message

(* --- For the loop --------------------------------------------------------- *)

let take t =
  match Atomic.exchange t.state empty with
  | Awake messages -> messages
  | Asleep _ -> []

let announce t ~waiting = Atomic.compare_and_set t.state empty (Asleep waiting)
let bell t = t.bell.out

let rec listen t =
  match Unix.read t.bell.out (Bytes.create 64) 0 64 with
  | 64 -> listen t
  | _ -> ()
  | exception Unix.Unix_error ((EAGAIN | EWOULDBLOCK | EINTR), _, _) -> ()

let renew_bell t =
  let before = t.bell in
  t.bell <- new_bell ();
  close_bell before
