(* Operations on locks, and on condition variables. *)

open Concord
open Operation_kit

module Make (S : Style) = struct
  let zero = S.map (fun () -> 0)

  let locked ~wait ~event ~unlock ~try_lock ~waiters =
    let release _ =
      unlock ();
      0
    in
    {
      wait = (fun _ -> zero (wait ()));
      event = Some (fun _ -> unit event);
      wake = always 0 release;
      release;
      left = (fun () -> tokens try_lock);
      waiters;
      ends = None;
      fails = None;
    }

  (* A variable protected by the lock. Each holder takes the value that the holder before it
     left there. The first one was left by [unlock]. *)
  let guarded ?(writes = true) ~within ~unlock ~try_lock ~waiters () =
    let content = ref 0 in
    let release v =
      content := v;
      unlock ();
      0
    in
    {
      wait =
        (fun v ->
          within (fun () ->
              let old = !content in
              if writes then content := v;
              S.return old));
      event = None;
      wake = always 1 release;
      release;
      left = (fun () -> if try_lock () then [ !content ] else []);
      waiters;
      ends = None;
      fails = None;
    }

  let with_mutex f _ =
    let t = Mutex.create () in
    Mutex.lock t;
    f t
      ~unlock:(fun () -> Mutex.unlock t)
      ~try_lock:(fun () -> Mutex.try_lock t)
      ~waiters:(fun () -> Mutex.waiters t)

  let mutex =
    [
      operation "Mutex.lock" Takes
        (with_mutex (fun t ->
             locked ~wait:(fun () -> S.Mutex.lock t) ~event:(Mutex.lock_evt t)));
      operation "Mutex.protect" Passes
        (with_mutex (fun t ~unlock ~try_lock ~waiters ->
             let within f = S.Mutex.protect t f in
             guarded ~within ~unlock ~try_lock ~waiters ()));
    ]

  let semaphore =
    let open Semaphore in
    [
      operation "Semaphore.Counting.acquire" Takes (fun _ ->
          let t = Counting.make 0 in
          locked
            ~wait:(fun () -> S.Semaphore.Counting.acquire t)
            ~event:(Counting.acquire_evt t)
            ~unlock:(fun () -> Counting.release t)
            ~try_lock:(fun () -> Counting.try_acquire t)
            ~waiters:(fun () -> Counting.waiters t));
      operation "Semaphore.Counting.with_permit" Passes (fun _ ->
          let t = Counting.make 0 in
          guarded
            ~within:(fun f -> S.Semaphore.Counting.with_permit t f)
            ~unlock:(fun () -> Counting.release t)
            ~try_lock:(fun () -> Counting.try_acquire t)
            ~waiters:(fun () -> Counting.waiters t)
            ());
      operation "Semaphore.Counting.acquire_n" Takes (fun _ ->
          let t = Counting.make 1 in
          locked
            ~wait:(fun () -> S.Semaphore.Counting.acquire_n t 3)
            ~event:(Counting.acquire_n_evt t 3)
            ~unlock:(fun () -> Counting.release_n t 3)
            ~try_lock:(fun () -> Counting.try_acquire_n t 3)
            ~waiters:(fun () -> Counting.waiters t));
      operation "Semaphore.Counting.with_permits" Passes (fun _ ->
          let t = Counting.make 1 in
          guarded
            ~within:(fun f -> S.Semaphore.Counting.with_permits t 3 f)
            ~unlock:(fun () -> Counting.release_n t 3)
            ~try_lock:(fun () -> Counting.try_acquire_n t 3)
            ~waiters:(fun () -> Counting.waiters t)
            ());
      operation "Semaphore.Binary.acquire" Takes (fun _ ->
          let t = Binary.make false in
          locked
            ~wait:(fun () -> S.Semaphore.Binary.acquire t)
            ~event:(Binary.acquire_evt t)
            ~unlock:(fun () -> Binary.release t)
            ~try_lock:(fun () -> Binary.try_acquire t)
            ~waiters:(fun () -> Binary.waiters t));
      operation "Semaphore.Binary.with_permit" Passes (fun _ ->
          let t = Binary.make false in
          guarded
            ~within:(fun f -> S.Semaphore.Binary.with_permit t f)
            ~unlock:(fun () -> Binary.release t)
            ~try_lock:(fun () -> Binary.try_acquire t)
            ~waiters:(fun () -> Binary.waiters t)
            ());
    ]

  (* A reader or a writer holds the lock. *)
  let with_rwlock ?prefer ?(held = `To_write) f _ =
    let t = Rwlock.create ?prefer () in
    let reads = ref (held = `To_read) in
    if !reads then Rwlock.read_lock t else Rwlock.write_lock t;
    f t
      ~unlock:(fun () ->
        let read = !reads in
        reads := false;
        if read then Rwlock.read_unlock t else Rwlock.write_unlock t)
      ~try_lock:(fun () -> Rwlock.try_write_lock t)
      ~waiters:(fun () -> Rwlock.waiters t)

  let write_lock t =
    locked
      ~wait:(fun () -> S.Rwlock.write_lock t)
      ~event:(Rwlock.write_lock_evt t)

  (* The readers that entered leave at the end. *)
  let read_lock t ~unlock ~try_lock ~waiters =
    let inside = ref 0 in
    let enter v =
      incr inside;
      v
    in
    let place =
      locked
        ~wait:(fun () -> S.map enter (S.Rwlock.read_lock t))
        ~event:(Event.wrap (Rwlock.read_lock_evt t) enter)
        ~unlock ~try_lock ~waiters
    in
    {
      place with
      left =
        (fun () ->
          for _ = 1 to !inside do
            Check.no "a task reads" (try_lock ());
            Rwlock.read_unlock t
          done;
          place.left ());
    }

  let read t ~unlock ~try_lock ~waiters =
    let within f = S.Rwlock.read t f in
    guarded ~writes:false ~within ~unlock ~try_lock ~waiters ()

  let rwlock =
    let writers = `Writers in
    [
      operation "Rwlock.write_lock" Takes (with_rwlock write_lock);
      operation "Rwlock.write_lock, writers first" Takes
        (with_rwlock ~prefer:writers write_lock);
      operation "Rwlock.write_lock, after a reader" Takes
        (with_rwlock ~held:`To_read write_lock);
      operation "Rwlock.write" Passes
        (with_rwlock (fun t ~unlock ~try_lock ~waiters ->
             let within f = S.Rwlock.write t f in
             guarded ~within ~unlock ~try_lock ~waiters ()));
      operation "Rwlock.read_lock" Shares (with_rwlock read_lock);
      operation "Rwlock.read_lock, writers first" Shares
        (with_rwlock ~prefer:writers read_lock);
      operation "Rwlock.read" Shares (with_rwlock read);
    ]

  let signalled signal _ =
    let t = Condition.create () and m = Mutex.create () in
    let unlock () = Mutex.unlock m in
    let event _ =
      Event.guard @@ fun () ->
      Mutex.lock m;
      let signalled () =
        unlock ();
        0
      in
      Event.wrap_abort (Event.wrap (Condition.wait_evt t m) signalled) unlock
    in
    let release _ =
      signal t;
      0
    in
    {
      wait =
        (fun _ -> S.Mutex.protect m (fun () -> zero (S.Condition.wait t m)));
      event = Some event;
      wake = always 0 release;
      release;
      left =
        (fun () ->
          Check.no "a task has the mutex" (Mutex.is_locked m);
          []);
      waiters = (fun () -> Condition.waiters t);
      ends = None;
      fails = None;
    }

  (* A permanent state, so newcomers find it at once. *)
  let looped _ =
    let t = Condition.create () and state = Atomic.make None in
    let look () = Atomic.get state in
    let release v =
      Atomic.set state (Some v);
      Condition.broadcast t;
      0
    in
    {
      wait = (fun _ -> S.Condition.loop_no_mutex t look);
      event = Some (fun _ -> Condition.loop_no_mutex_evt t look);
      wake = always 1 release;
      release;
      left = (fun () -> Option.to_list (Atomic.exchange state None));
      waiters = (fun () -> Condition.waiters t);
      ends = None;
      fails = None;
    }

  let without_mutex wake _ =
    let t = Condition.create () in
    let release _ =
      wake t;
      0
    in
    {
      wait = (fun _ -> zero (S.Condition.wait_no_mutex t));
      event = Some (fun _ -> unit (Condition.wait_no_mutex_evt t));
      wake = always 0 release;
      release;
      left = (fun () -> []);
      waiters = (fun () -> Condition.waiters t);
      ends = None;
      fails = None;
    }

  let condition =
    [
      operation "Condition.loop_no_mutex" Shares looped;
      operation "Condition.wait_no_mutex, signal" Takes ~remembers:false
        (without_mutex Condition.signal);
      operation "Condition.wait_no_mutex, broadcast" Shares ~remembers:false
        (without_mutex Condition.broadcast);
      operation "Condition.wait, signal" Takes ~remembers:false ~repeats:false
        (signalled Condition.signal);
      operation "Condition.wait, broadcast" Shares ~remembers:false
        ~repeats:false
        (signalled Condition.broadcast);
    ]
end
