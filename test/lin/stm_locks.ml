(* The structures that hold no value, and watches, pools and work queues, against models, on
   one domain and on two. The operations are those that never wait, and those that don't have
   to wait in the current state. *)

let () =
  Drawn.run
    (List.concat
       [
         Stm_mutex.tests;
         Stm_semaphore.tests;
         Stm_rwlock.tests;
         Stm_latch.tests;
         Stm_watch.tests;
         Stm_pool.tests;
         Stm_work_queue.tests;
       ])
