module type Style = Promises.Style
module type Style_with_wait = Promises.Style_with_wait
module type Host = Promises.Host
module type S = Style.S

module Make_named (Host : Host) (Style : Style_with_wait) = struct
  module Code = Direct_code.Make (Host) (Style)

  let failed e = Style.fail e (Printexc.get_raw_backtrace ())

  (* --- Turns -------------------------------------------------------------- *)

  (* If an operation could be performed at once, it asks [may_begin] first. If the answer is
     [false], it uses [in_turn]. An operation that was performed at once is counted. *)

  let[@inline] may_begin () = !Style.at_once > 0

  let[@inline never] in_turn operation =
    match Style.turn () with
    | None -> operation ()
    | Some turn -> Style.bind turn operation

  let[@inline] at_once result =
    decr Style.at_once;
    result

  (* --- Direct style ------------------------------------------------------- *)

  (* What was performed before the cancellation, and can't be undone, returns its value all the
     same. *)
  let performed v (_ : exn) = Style.return v

  let direct f =
    if may_begin () then Code.start ~late:performed f
    else in_turn (fun () -> Code.start ~late:performed f)

  (* --- Operations --------------------------------------------------------- *)

  let wait_for ~late operation structure arg result =
    Style.enter ();
    Style.wait ~late operation structure (Waiter.make arg) result

  (* This does the same as [Code.start], but needs no stack while it waits. *)
  let rec sync_with : type a.
      late:(a -> exn -> a Style.t) -> a Event.t -> a Style.t =
   fun ~late event ->
    match Event.simple event with
    | Some (Simple { operation; structure; arg; result }) -> (
        match Operation.attempt operation structure arg with
        | Some v -> at_once (Style.return (result v))
        | exception e -> at_once (failed e)
        | None -> wait_for ~late operation structure arg result)
    | Some (Then (event, f)) ->
        let code = Code.create () in
        let too_late v e =
          Code.note code e;
          Style.return v
        in
        Style.bind (sync_with ~late:too_late event) (fun v ->
            Code.run code ~late (fun () -> f v))
    | None -> Code.start ~late (fun () -> Event.sync event)

  let sync event =
    if may_begin () then sync_with ~late:performed event
    else in_turn (fun () -> sync_with ~late:performed event)

  (* For the event of one operation, whose function doesn't suspend. *)
  let sync_pure event =
    match Event.simple event with
    | Some (Then (operation, f)) when may_begin () ->
        Style.bind (sync_with ~late:performed operation) (fun v ->
            match f v with v -> Style.return v | exception e -> failed e)
    | Some _ | None -> sync event

  (* For an event that was already tried. *)
  let wait ~late event =
    match Event.simple event with
    | Some (Simple { operation; structure; arg; result }) ->
        wait_for ~late operation structure arg result
    | Some (Then _) | None -> sync_with ~late event

  module Style_with_direct = struct
    include Style

    let direct = direct
  end

  let select events = direct (fun () -> Event.select events)

  let sync_before seconds event =
    direct (fun () -> Event.sync_before seconds event)

  let loop events f =
    let next = Event.rounds events in
    let rec go () =
      Style.bind (direct next) (fun v ->
          match f v with
          | result ->
              Style.bind result (function
                | Some v -> Style.return v
                | None -> go ())
          | exception e -> failed e)
    in
    go ()

  let holding release f =
    Style.try_bind f
      (fun v ->
        release ();
        Style.return v)
      (fun e ->
        let backtrace = Printexc.get_raw_backtrace () in
        release ();
        Style.fail e backtrace)

  (* [release] doesn't suspend. *)
  let during try_acquire acquire_evt release t f =
    let hold () = holding (fun () -> release t) f in
    if try_acquire t then at_once (hold ())
    else Style.bind (wait ~late:performed (acquire_evt t)) hold

  let during try_acquire acquire_evt release t f =
    if may_begin () then during try_acquire acquire_evt release t f
    else in_turn (fun () -> during try_acquire acquire_evt release t f)

  let some promise = Style.bind promise (fun v -> Style.return (Some v))

  (* This waits only in [f]. *)
  let if_free try_acquire release t f =
    if try_acquire t then some (holding (fun () -> release t) f)
    else Style.return None

  module Promise = struct
    include Promise

    let await t =
      match peek t with
      | Some (Ok v) when may_begin () -> at_once (Style.return v)
      | Some _ | None -> sync_pure (await_evt t)

    let await_result t =
      match peek t with
      | Some result when may_begin () -> at_once (Style.return result)
      | Some _ | None -> sync_pure (await_result_evt t)
  end

  module Mvar = struct
    include Mvar

    (* These two make an event only if they have to wait. *)

    let put t v =
      if not (may_begin ()) then sync (put_evt t v)
      else if try_put t v then at_once (Style.return ())
      else wait ~late:performed (put_evt t v)

    let take t =
      if not (may_begin ()) then sync (take_evt t)
      else
        match try_take t with
        | Some v -> at_once (Style.return v)
        | None -> wait ~late:performed (take_evt t)

    let read t = sync (read_evt t)
    let swap t v = direct (fun () -> swap t v)
    let modify t f = direct (fun () -> modify t f)
  end

  module Lazy = struct
    include Lazy

    let force t = direct (fun () -> force t)
    let force_val = force
  end

  module Queue = Queues.Make (Style_with_direct)
  module Adding = Queues.Adding (Style_with_direct)

  let each = Adding.each

  module Channel = struct
    include Channel

    let send t v = sync (send_evt t v)
    let send_seq t seq = each (send t) seq
    let receive t = sync (receive_evt t)

    include Queue (struct
      type nonrec 'a t = 'a t

      let take = receive
    end)
  end

  module Stream = struct
    include Stream

    let add t v = sync (add_evt t v)
    let add_seq t seq = each (add t) seq
    let take t = sync (take_evt t)

    include Queue (struct
      type nonrec 'a t = 'a t

      let take = take
    end)
  end

  module Work_queue = struct
    include Work_queue

    let add t v = sync (add_evt t v)

    let add_seq t seq =
      each (fun v -> Style.bind (add t v) (fun _ -> Style.return ())) seq

    let take t = sync (take_evt t)

    include Queue (struct
      type nonrec 'a t = 'a t

      let take = take
    end)
  end

  module Mailbox = struct
    include Mailbox

    let add_seq t seq = each (fun v -> direct (fun () -> add t v)) seq
    let take t = sync (take_evt t)

    include Queue (struct
      type nonrec 'a t = 'a t

      let take = take
    end)
  end

  module Broadcast = struct
    include Broadcast

    let send t v = sync (send_evt t v)
    let send_seq t seq = each (send t) seq

    let with_subscription t f =
      let s = subscribe t in
      holding (fun () -> unsubscribe s) (fun () -> f s)

    let receive t = sync (receive_evt t)

    include Queue (struct
      type 'a t = 'a subscription

      let take = receive
    end)
  end

  module Watch = struct
    include Watch

    let changed t ~since = sync (changed_evt t ~since)
  end

  module Bvar = struct
    include Bvar

    let wait t = sync (wait_evt t)
  end

  module Mutex = struct
    include Mutex

    let lock t = sync (lock_evt t)
    let with_lock t f = during try_lock lock_evt unlock t f
    let protect = with_lock
    let is_empty t = waiters t = 0
  end

  module Condition = struct
    include Condition

    (* If the code is cancelled after a signal, another task gets the signal. *)
    let wait t mutex =
      let late () e =
        signal t;
        Style.fail e (Printexc.get_callstack 0)
      in
      Code.start ~late (fun () -> wait t mutex)

    let wait_no_mutex t = sync (wait_no_mutex_evt t)
    let loop_no_mutex t f = direct (fun () -> loop_no_mutex t f)
  end

  module Semaphore = struct
    module Counting = struct
      include Semaphore.Counting

      let acquire t = sync (acquire_evt t)
      let with_permit t f = during try_acquire acquire_evt release t f
      let try_with_permit t f = if_free try_acquire release t f
      let acquire_n t n = sync (acquire_n_evt t n)

      let with_permits t n f =
        let try_acquire t = try_acquire_n t n
        and acquire_evt t = acquire_n_evt t n
        and release t = release_n t n in
        during try_acquire acquire_evt release t f

      let try_with_permits t n f =
        if_free (fun t -> try_acquire_n t n) (fun t -> release_n t n) t f
    end

    module Binary = struct
      include Semaphore.Binary

      let acquire t = sync (acquire_evt t)
      let with_permit t f = during try_acquire acquire_evt release t f
      let try_with_permit t f = if_free try_acquire release t f
    end
  end

  module Rwlock = struct
    include Rwlock

    let read_lock t = sync (read_lock_evt t)
    let write_lock t = sync (write_lock_evt t)
    let read t f = during try_read_lock read_lock_evt read_unlock t f
    let write t f = during try_write_lock write_lock_evt end_write t f
  end

  module Barrier = struct
    include Barrier

    let await t = direct (fun () -> await t)
  end

  module Latch = struct
    include Latch

    let await t = sync (await_evt t)
  end

  module Pool = struct
    include Pool

    let put_back lease () = give_back ~keep:true lease

    let lend f lease =
      Style.try_bind
        (fun () -> f (value lease))
        (fun result ->
          Style.bind
            (Code.start ~late:performed (put_back lease))
            (fun () -> Style.return result))
        (fun e ->
          let backtrace = Printexc.get_raw_backtrace () in
          Style.bind
            (Code.start ~late:performed (fun () -> give_back_after lease e))
            (fun () -> Style.fail e backtrace))

    let obtain_now t =
      let late lease e =
        Style.bind
          (Code.start ~late:performed (put_back lease))
          (fun () -> Style.fail e (Printexc.get_callstack 0))
      in
      Code.start ~late (fun () -> obtain t)

    let use_now t f = Style.bind (obtain_now t) (lend f)

    let try_obtain t =
      let late lease e =
        let give_back () = Option.iter (give_back ~keep:true) lease in
        Style.bind (Code.start ~late:performed give_back) (fun () ->
            Style.fail e (Printexc.get_callstack 0))
      in
      Code.start ~late (fun () -> try_obtain t)

    let try_use t f =
      Style.bind (try_obtain t) (function
        | None -> Style.return None
        | Some lease -> some (lend f lease))

    let use t f =
      if may_begin () then use_now t f else in_turn (fun () -> use_now t f)

    let obtain t =
      if may_begin () then obtain_now t else in_turn (fun () -> obtain_now t)

    (* It doesn't wait for a turn, in which a cancellation would lose the resource. *)
    let give_back ~keep lease =
      Code.start ~late:performed (fun () -> give_back ~keep lease)

    let clear t = direct (fun () -> clear t)
    let trim t = direct (fun () -> trim t)
    let close t = direct (fun () -> close t)
    let await_closed t = sync (await_closed_evt t)
  end
end

module Make_with_wait (Style : Style_with_wait) =
  Make_named (Plain_style.Unnamed) (Style)

module Make_plain_named (Host : Host) (Style : Style) =
  Make_named (Host) (Plain_style.Make (Host) (Style))

module Make (Style : Style) = Make_plain_named (Plain_style.Unnamed) (Style)
