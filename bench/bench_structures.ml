open Case

let group =
  {
    name = "structures";
    doc =
      "every structure, against Eio, Lwt, Kcas, Domainslib, Picos, Async, \
       Stdlib and Go";
    comparisons =
      Bench_mutex.comparisons @ Bench_cancel.comparisons
      @ Bench_semaphore.comparisons @ Bench_condition.comparisons
      @ Bench_promise.comparisons @ Bench_rwlock.comparisons
      @ Bench_barrier.comparisons @ Bench_latch.comparisons
      @ Bench_watch.comparisons @ Bench_stream.comparisons
      @ Bench_mailbox.comparisons @ Bench_channel.comparisons
      @ Bench_pool.comparisons @ Bench_work_queue.comparisons;
  }
