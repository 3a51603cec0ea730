(* [t], the only Atomic here, has the waiters, and says whether a thread reads for them

   State              Left by  To                   By whom
   no waiter, unread  add      one waiter, read     any thread, which then starts the reader
   no waiter, read    add      one waiter, read     any thread, which then wakes the reader
                      ends     no waiter, unread    the reader, which then ends
   some, read         add      one more, read       any thread, which then wakes the reader
                      remove   one fewer, read      any thread, which then wakes the reader if it
                                                    was the last waiter
                      abandon  no waiter, unread    the thread that could not start the reader

   Each thread does its "then" after the change, perhaps much later. That does no harm, because
   a reader that is woken for nothing just sleeps again. *)
type 'w state = { waiters : 'w list; is_read : bool }
type 'w t = 'w state Atomic.t
type added = Start | Wake
type removed = Absent | Others | Last

let create () = Atomic.make { waiters = []; is_read = false }
let waiters t = (Atomic.get t).waiters

let rec add t w =
  let before = Atomic.get t in
  let after = { waiters = w :: before.waiters; is_read = true } in
  if not (Atomic.compare_and_set t before after) then (* another thread *)
    add t w
  else if before.is_read then Wake
  else Start

let rec remove t w =
  let before = Atomic.get t in
  if not (List.memq w before.waiters) then Absent
  else
    let waiters = List.filter (fun other -> other != w) before.waiters in
    if not (Atomic.compare_and_set t before { before with waiters }) then
      (* another thread *)
      remove t w
    else if List.is_empty waiters then Last
    else Others

let rec ends t =
  let before = Atomic.get t in
  List.is_empty before.waiters
  && (Atomic.compare_and_set t before { before with is_read = false }
     ||
     (* a waiter has come *)
     ends t)

let rec abandon t =
  let before = Atomic.get t in
  if Atomic.compare_and_set t before { waiters = []; is_read = false } then
    before.waiters
  else (* another thread *) abandon t
