(* The commonest operations fit onto the smallest stack, with which a task begins. If one
   doesn't, the runtime copies the stack into one of twice the size, which the task keeps. Then
   10,000 waiting tasks need 5 MB more. *)
open Concord
module Counting = Semaphore.Counting

external stack_words : unit -> int = "test_stack_words" [@@noalloc]

(* The size of the stack of a task that has done [f]. Other tasks do [before], wait for
   something, and do [after]. *)
let words_after ?(before = ignore) ?(others = []) ?(after = ignore) f =
  let words = ref 0 in
  Concord_fifo.run (fun () ->
      before ();
      let fork f = ignore (Concord_fifo.fork f : Concord_fifo.handle) in
      List.iter fork others;
      fork (fun () ->
          f ();
          words := stack_words ());
      Concord_fifo.yield ();
      after ());
  !words

let times n f = List.init n (fun _ -> f)
let take box () = ignore (Mvar.take box : int)
let put box () = Mvar.put box 1
let await promise () = ignore (Promise.await promise : int)
let fill promise () = Promise.fill promise 1
let receive channel () = ignore (Channel.receive channel : int)
let send channel () = Channel.send channel 1
let next stream () = ignore (Stream.take stream : int)
let add stream () = Stream.add stream 1
let post mailbox () = Mailbox.add mailbox 1
let read mailbox () = ignore (Mailbox.take mailbox : int)

let mutex () =
  let m = Mutex.create () in
  let lock () = Mutex.lock m and unlock () = Mutex.unlock m in
  let both () =
    lock ();
    unlock ()
  in
  [
    ("a free mutex", words_after both);
    ("a mutex that is held", words_after both ~before:lock ~after:unlock);
    ("unlock, for one", words_after unlock ~before:lock ~others:(times 1 both));
    ( "unlock, for several",
      words_after unlock ~before:lock ~others:(times 20 both) );
  ]

let semaphore () =
  let s = Counting.make 0 in
  let acquire () = Counting.acquire s and release () = Counting.release s in
  let release_rest () =
    release ();
    release ()
  in
  [
    ("acquire", words_after acquire ~after:release);
    ("release, for one", words_after release ~others:(times 1 acquire));
    ( "release, for several",
      words_after release ~others:(times 3 acquire) ~after:release_rest );
  ]

let condition () =
  let m = Mutex.create () and c = Condition.create () in
  let wait () =
    Mutex.lock m;
    Condition.wait c m;
    Mutex.unlock m
  and signal () = Condition.signal c in
  [
    ("wait", words_after wait ~after:signal);
    ("signal", words_after signal ~others:(times 1 wait));
  ]

let boxes () =
  let box = Mvar.create_empty () and full = Mvar.create 1 in
  let channel = Channel.create () and mailbox = Mailbox.create () in
  let stream = Stream.create 1 in
  let take_rest () =
    take full ();
    take full ();
    put full ()
  in
  [
    ("take, which waits", words_after (take box) ~after:(put box));
    ("put, for one", words_after (put box) ~others:(times 1 (take box)));
    ( "put, for several",
      words_after (put box)
        ~others:(times 3 (take box))
        ~after:(fun () ->
          put box ();
          put box ()) );
    ("put, which waits", words_after (put full) ~after:take_rest);
    ("take, for one", words_after (take full) ~others:(times 1 (put full)));
    ("receive", words_after (receive channel) ~after:(send channel));
    ("send", words_after (send channel) ~after:(receive channel));
    ( "receive, for one",
      words_after (receive channel) ~others:(times 1 (send channel)) );
    ( "send, for one",
      words_after (send channel) ~others:(times 1 (receive channel)) );
    ("the next item", words_after (next stream) ~after:(add stream));
    ("add, for one", words_after (add stream) ~others:(times 1 (next stream)));
    ("read a mailbox", words_after (read mailbox) ~after:(post mailbox));
    ( "post, for one",
      words_after (post mailbox) ~others:(times 1 (read mailbox)) );
  ]

let promise () =
  let p = Promise.create () and q = Promise.create () in
  [
    ("await", words_after (await p) ~after:(fill p));
    ("fill, for one", words_after (fill q) ~others:(times 1 (await q)));
  ]

let tasks () =
  let handle = ref None in
  let fork () = handle := Some (Concord_fifo.fork Concord_fifo.yield) in
  let join () = Option.iter Concord_fifo.join !handle in
  [
    ("yield", words_after Concord_fifo.yield);
    ("fork", words_after fork);
    ("join", words_after join ~before:fork);
  ]

let test cases () =
  let fresh = words_after ignore in
  let grown = List.filter (fun (_, words) -> words > fresh) (cases ()) in
  Alcotest.(check (list (pair string int))) "grown stacks" [] grown

let () =
  let case (name, cases) = Alcotest.test_case name `Quick (test cases) in
  Alcotest.run "Stack"
    [
      ( "after the commonest operations",
        List.map case
          [
            ("mutex", mutex);
            ("semaphore", semaphore);
            ("condition", condition);
            ("boxes", boxes);
            ("promise", promise);
            ("tasks", tasks);
          ] );
    ]
