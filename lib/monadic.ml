module Waiter = Concord_internal.Waiter

module type Style = Style.Style
module type Style_with_wait = Style.Style_with_wait
module type S = Style.S

module Make_with_wait (Style : Style_with_wait) = struct
  open Effect.Deep

  (* A scheduler's loop that [f] has started is to find itself; see [Suspend]. *)
  let is_innermost () =
    match Style.host () with
    | None -> true
    | Some host -> Suspend.Host.is_innermost host

  let failed e = Style.fail e (Printexc.get_raw_backtrace ())

  (* What the resumer or [block] told, as against the host's cancellation. *)
  exception Told of exn

  let telling block resumer =
    let resumer = function
      | Ok _ as ok -> resumer ok
      | Error e -> resumer (Error (Told e))
    in
    match block resumer with v -> v | exception e -> raise (Told e)

  (* Once it was cancelled, it is for good, as tasks of other hosts: each suspension
     raises. So [Suspend.is_cancelled] knows. *)
  let direct f =
    let shields = ref 0 and cancelled = ref None in
    let unshield () = decr shields in
    let suspend (type a) (block : a Suspend.resumer -> a option)
        (k : (a, _) continuation) =
      let protected = !shields > 0 in
      match !cancelled with
      | Some e when not protected -> discontinue k e
      | Some _ | None -> (
          let go_on = function
            | Ok v -> continue k v
            | Error (Told e) -> discontinue k e
            | Error e ->
                cancelled := Some e;
                discontinue k e
          in
          (* The last call: [f] may suspend again and again without waiting. *)
          match Style.enter () with
          | () -> Style.suspend ~protected (telling block) go_on
          | exception e ->
              let backtrace = Printexc.get_raw_backtrace () in
              ignore (discontinue k e : _ Style.t);
              Printexc.raise_with_backtrace e backtrace)
    in
    let effc (type a) (effect_ : a Effect.t) : ((a, _) continuation -> _) option
        =
      match effect_ with
      | Suspend.Suspend block when is_innermost () -> Some (suspend block)
      | Suspend.Host.Protect when is_innermost () ->
          Some
            (fun k ->
              incr shields;
              continue k unshield)
      | Suspend.Host.Ask { otherwise; _ } ->
          Some (fun k -> continue k otherwise)
      | _ -> None
    in
    Style.isolate (fun () ->
        match_with f () { retc = Style.return; exnc = failed; effc })

  let wait_for operation structure arg result =
    Style.enter ();
    Style.wait operation structure (Waiter.make arg) result

  (* As [direct], without a stack while it waits. *)
  let rec sync : type a. a Event.t -> a Style.t =
   fun event ->
    match Event.simple event with
    | Some (Simple { operation; structure; arg; result }) -> (
        match operation.attempt structure arg with
        | Some v -> Style.return (result v)
        | exception e -> failed e
        | None -> wait_for operation structure arg result)
    | Some (Then (event, f)) ->
        Style.bind (sync event) (fun v -> direct (fun () -> f v))
    | None -> direct (fun () -> Event.sync event)

  (* What was tried already. *)
  let wait event =
    match Event.simple event with
    | Some (Simple { operation; structure; arg; result }) ->
        wait_for operation structure arg result
    | Some (Then _) | None -> sync event

  let select events = direct (fun () -> Event.select events)

  let sync_before seconds event =
    direct (fun () -> Event.sync_before seconds event)

  (* [release] does not suspend. *)
  let during acquire release f =
    Style.bind acquire (fun () ->
        Style.try_bind f
          (fun v ->
            release ();
            Style.return v)
          (fun e ->
            let backtrace = Printexc.get_raw_backtrace () in
            release ();
            Style.fail e backtrace))

  module Promise = struct
    include Promise

    let await t =
      match peek t with
      | Some (Ok v) -> Style.return v
      | Some (Error _) | None -> sync (await_evt t)
  end

  module Mvar = struct
    include Mvar

    (* An event is made only to wait. *)

    let put t v = if try_put t v then Style.return () else wait (put_evt t v)

    let take t =
      match take_available t with
      | Some v -> Style.return v
      | None -> wait (take_evt t)

    let read t = sync (read_evt t)
    let swap t v = direct (fun () -> swap t v)
    let modify t f = direct (fun () -> modify t f)
  end

  module Lazy = struct
    include Lazy

    let force t = direct (fun () -> force t)
    let force_val = force
  end

  module Channel = struct
    include Channel

    let send t v = sync (send_evt t v)
    let receive t = sync (receive_evt t)
  end

  module Stream = struct
    include Stream

    let add t v = sync (add_evt t v)
    let take t = sync (take_evt t)
  end

  module Mailbox = struct
    include Mailbox

    let take t = sync (take_evt t)
  end

  module Broadcast = struct
    include Broadcast

    let receive t = sync (receive_evt t)
  end

  module Mutex = struct
    include Mutex

    let lock t = sync (lock_evt t)
    let with_lock t f = during (lock t) (fun () -> unlock t) f
    let protect = with_lock
  end

  module Condition = struct
    include Condition

    let wait t mutex = direct (fun () -> wait t mutex)
  end

  module Semaphore = struct
    module Counting = struct
      include Semaphore.Counting

      let acquire t = sync (acquire_evt t)
    end

    module Binary = struct
      include Semaphore.Binary

      let acquire t = sync (acquire_evt t)
    end
  end

  module Rwlock = struct
    include Rwlock

    let read_lock t = sync (read_lock_evt t)
    let write_lock t = sync (write_lock_evt t)
    let read t f = during (read_lock t) (fun () -> read_unlock t) f
    let write t f = during (write_lock t) (fun () -> write_unlock t) f
  end

  module Barrier = struct
    include Barrier

    let await t = direct (fun () -> await t)
  end

  module Latch = struct
    include Latch

    let await t = sync (await_evt t)
  end
end

module Make (Style : Style) = Make_with_wait (struct
  include Style

  let wait operation t w result =
    Style.suspend ~protected:false
      (fun resumer -> Suspend.block operation t w resumer)
      (function
        | Ok v -> Style.return (result v)
        | Error e ->
            let backtrace = Printexc.get_raw_backtrace () in
            Suspend.withdraw operation t w;
            Style.fail e backtrace)
end)
