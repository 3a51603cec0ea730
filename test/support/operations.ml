(* The one table of every operation that may wait, on every structure. *)

open Concord
include Operation_kit

module Make (S : Style) = struct
  include Operations_once.Make (S)
  include Operations_boxes.Make (S)
  include Operations_queues.Make (S)
  include Operations_locks.Make (S)

  let all =
    List.concat
      [
        promise;
        latch;
        watch;
        bvar;
        lazy_;
        barrier;
        mvar;
        channel;
        stream;
        work_queue;
        mailbox;
        broadcast;
        mutex;
        semaphore;
        rwlock;
        condition;
        pool;
      ]
end

(** In direct style. *)
include Make (struct
  type 'a promise = 'a

  let return = Fun.id
  let map f v = f v
  let direct f = f ()
  let sync = Event.sync
  let select = Event.select
  let sync_before = Event.sync_before
  let loop = Event.loop

  include Concord

  module Mutex = struct
    include Mutex

    let with_lock = protect
    let is_empty t = waiters t = 0
  end

  module Channel = struct
    include Channel

    let iter_s = iter
    let fold_s = fold
  end

  module Stream = struct
    include Stream

    let iter_s = iter
    let fold_s = fold
  end

  module Work_queue = struct
    include Work_queue

    let iter_s = iter
    let fold_s = fold
  end

  module Mailbox = struct
    include Mailbox

    let iter_s = iter
    let fold_s = fold
  end

  module Broadcast = struct
    include Broadcast

    let iter_s = iter
    let fold_s = fold
  end
end)
