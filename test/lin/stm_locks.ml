(* What never waits, and what need not wait because of the state, of the structures
   that hold no value, of watches, pools and queues of work: against models, on one domain
   and on two. *)

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
