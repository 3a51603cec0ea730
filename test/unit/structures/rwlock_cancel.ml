(* Cancelled readers and writers, and the tasks that wait because of them. *)

open Concord
open Concord_test_support
open Check

let waiting t n = int "waiters" n (Rwlock.waiters t)
let read t = Hand.start (fun () -> Rwlock.read_lock t)
let write t = Hand.start (fun () -> Rwlock.write_lock t)
let kinds = [ `Nobody; `Writers ]
let both f () = List.iter (fun prefer -> f (Rwlock.create ~prefer ())) kinds

let readers_enter n t =
  Rwlock.read_lock t;
  let w = write t in
  let readers = List.init n (fun _ -> read t) in
  waiting t (n + 1);
  Hand.unwind w;
  List.iter Hand.result readers;
  waiting t 0;
  for _ = 0 to n do
    Rwlock.read_unlock t
  done;
  yes "free" (Rwlock.try_write_lock t);
  Rwlock.write_unlock t

(* The readers enter, except those that the next writer keeps out. In a fair lock, these are
   only the readers behind it. *)
let until_the_next_writer () =
  let t = Rwlock.create () in
  Rwlock.read_lock t;
  let first = write t in
  let before = read t in
  let second = write t in
  let behind = read t in
  Hand.unwind first;
  Hand.result before;
  yes "the second writer waits" (Hand.waits second);
  yes "and the later one" (Hand.waits behind);
  waiting t 2;
  Hand.unwind second;
  Hand.result behind;
  waiting t 0;
  let t = Rwlock.create ~prefer:`Writers () in
  Rwlock.read_lock t;
  let first = write t in
  let r = read t in
  let second = write t in
  Hand.unwind first;
  yes "a writer waits" (Hand.waits r);
  Hand.unwind second;
  Hand.result r

(* The writer withdraws while another writer holds the lock, so no reader may enter. *)
let not_while_written t =
  Rwlock.write_lock t;
  let w = write t in
  let r = read t in
  Hand.unwind w;
  yes "the reader waits" (Hand.waits r);
  waiting t 1;
  Rwlock.write_unlock t;
  Hand.settle ();
  Hand.result r;
  Rwlock.read_unlock t

(* A writer and a reader are cancelled but haven't run yet. When the lock is released they
   refuse, and the next ones are served. *)
let refuses t =
  Rwlock.write_lock t;
  let w = write t in
  let readers = List.init 3 (fun _ -> read t) in
  let doomed = List.nth readers 1 in
  yes "cancel" (Hand.cancel w && Hand.cancel doomed);
  Rwlock.write_unlock t;
  waiting t 0;
  Hand.settle ();
  List.iter Hand.unwound [ w; doomed ];
  Hand.result (List.nth readers 0);
  Hand.result (List.nth readers 2);
  no "two read" (Rwlock.try_write_lock t);
  Rwlock.read_unlock t;
  no "one reads" (Rwlock.try_write_lock t);
  Rwlock.read_unlock t;
  yes "no more" (Rwlock.try_write_lock t);
  Rwlock.write_unlock t

(* Cancels the first, middle and last of the readers that wait between two writers. *)
let cancelled_readers t =
  Rwlock.write_lock t;
  let rs = List.init 5 (fun _ -> read t) in
  let w = write t in
  List.iter (fun k -> Hand.unwind (List.nth rs k)) [ 0; 2; 4 ];
  waiting t 3;
  Rwlock.write_unlock t;
  Hand.settle ();
  (* The kind of lock decides whether the two readers or the writer comes first. *)
  if Hand.waits w then begin
    Rwlock.read_unlock t;
    Rwlock.read_unlock t;
    Hand.settle ();
    Hand.result w;
    Rwlock.write_unlock t
  end
  else begin
    Rwlock.write_unlock t;
    Hand.settle ();
    Rwlock.read_unlock t;
    Rwlock.read_unlock t
  end;
  List.iter (fun k -> Hand.result (List.nth rs k)) [ 1; 3 ];
  waiting t 0;
  yes "free" (Rwlock.try_write_lock t);
  Rwlock.write_unlock t

(* The writer's alternative is withdrawn when another one is chosen. *)
let writer_chooses_otherwise t =
  Rwlock.read_lock t;
  let box = Mvar.create_empty () in
  let select = [ Rwlock.write_lock_evt t; Mvar.take_evt box ] in
  let chooser = Hand.start (fun () -> Event.select select) in
  let r = Hand.start (fun () -> Event.sync (Rwlock.read_lock_evt t)) in
  waiting t 2;
  Mvar.put box ();
  Hand.settle ();
  Hand.result chooser;
  Hand.result r;
  waiting t 0;
  let choose = [ Rwlock.read_lock_evt t; Mvar.take_evt box ] in
  Event.select choose;
  int "nothing else was taken" 0 (Mvar.waiters box);
  for _ = 1 to 3 do
    Rwlock.read_unlock t
  done;
  yes "free" (Rwlock.try_write_lock t);
  let reader = Hand.start (fun () -> Event.select choose) in
  Mvar.put box ();
  Rwlock.write_unlock t;
  yes "no task reads" (Rwlock.try_write_lock t);
  Hand.settle ();
  Hand.result reader;
  Rwlock.write_unlock t

let suite =
  ( "readers and writers are cancelled",
    [
      test "readers behind a writer enter at once" (both (readers_enter 3));
      (* With so many, the queue is not searched for the writer. *)
      test "ten readers do" (both (readers_enter 10));
      test "until the next writer" until_the_next_writer;
      test "not while a writer holds it" (both not_while_written);
      test "tasks that refuse are passed over" (both refuses);
      test "readers: first, middle and last" (both cancelled_readers);
      test "a writer that chooses otherwise" (both writer_chooses_otherwise);
    ] )

(* --- Cancelled, and not unwound yet ------------------------------------------- *)

(* [others] runs while the task in [wait] is cancelled but not unwound. [waiters] counts the
   task until it is unwound. *)
let check t ~others wait =
  let task = Hand.start wait in
  waiting t 1;
  yes "cancel" (Hand.cancel task);
  waiting t 1;
  others ();
  Hand.settle ();
  Hand.unwound task;
  waiting t 0

(* The cancelled writer keeps readers out. As documented, this lasts until it is unwound. *)
let keeps_readers_out t =
  Rwlock.read_lock t;
  let reader = ref None in
  check t
    ~others:(fun () ->
      no "as documented" (Rwlock.try_read_lock t);
      reader := Some (read t);
      waiting t 2)
    (fun () -> Rwlock.write_lock t);
  Hand.result (Option.get !reader);
  yes "unwound" (Rwlock.try_read_lock t)

(* [read_unlock] asks the cancelled writer, so it needn't wait until the writer unwinds. *)
let is_asked t =
  Rwlock.read_lock t;
  check t
    ~others:(fun () ->
      let reader = read t in
      Rwlock.read_unlock t;
      Hand.settle ();
      Hand.result reader)
    (fun () -> Rwlock.write_lock t)

(* This must hold for eager and for lazy cancellation. *)
let in_fifo cancellation () =
  let t = Rwlock.create () in
  Rwlock.read_lock t;
  Concord_fifo.run ~cancellation (fun () ->
      let writer = Concord_fifo.fork (fun () -> Rwlock.write_lock t) in
      let reader = Concord_fifo.fork (fun () -> Rwlock.read_lock t) in
      Concord_fifo.cancel writer;
      Concord_fifo.join reader);
  waiting t 0

let presence =
  ( "a cancelled writer keeps readers out until it is unwound",
    [
      test "both kinds" (both keeps_readers_out);
      test "unlocking passes it over" (both is_asked);
      test "in Fifo, eager" (in_fifo `Eager);
      test "in Fifo, lazy" (in_fifo `Lazy);
    ] )
