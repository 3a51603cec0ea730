(* The one table of every operation that may wait, on every structure. *)

open Concord
open Concord.Tools
open Check

(** How a wake serves the waiters, each of which has a value to give. *)
type service =
  | Takes  (** The first waiter gets the wake's value. *)
  | Gives  (** The first waiter gives its value to the wake, and gets 0. *)
  | Shares  (** All waiters get the wake's value. *)
  | Passes
      (** The first waiter gets the wake's value and gives its own value to the
          next one, and so on. *)
  | Meets  (** All waiters continue, unless one of them refuses. *)

type 'result place = {
  wait : int -> 'result;
      (** Performs the operation. The argument is the value to give, and the
          result is the value received. *)
  event : (int -> int Event.t) option;  (** The same, as an event. *)
  wake : unit -> int;
      (** Never waits. Returns the value that it gave, or 0 if it gave none. For
          [Shares], [Passes] and [Meets] it may be called only once. *)
  release : int -> int;
      (** Like [wake], but the argument is the value to give. Returns the value
          that it received, or 0. It returns its own value if no task takes it.
          At a barrier, it is one party, which waits. *)
  left : unit -> int list;
      (** Called at rest. Returns the values that the waiters gave or, for
          [Takes] and [Shares], the values that no waiter got. It removes them,
          so that the structure is as it was at first. *)
  waiters : unit -> int;
  ends : (exn * (unit -> unit)) option;
      (** Ends the structure for good. All present and future waiters get the
          exception. *)
  fails : (exn -> Printexc.raw_backtrace -> unit) option;
      (** All waiters get this exception, with its backtrace. *)
}
(** A new structure, in a state in which the operation waits. *)

type 'result t = {
  name : string;
  service : service;
  remembers : bool;
      (** Without a waiter, a wake serves the next task that comes. *)
  repeats : bool;  (** One choice may contain its event twice. *)
  make : int -> 'result place;
      (** The argument is the largest number of tasks that will wait. *)
}

(** The style in which the operations return their results. *)
module type Style = sig
  type 'a promise

  val return : 'a -> 'a promise
  val map : ('a -> 'b) -> 'a promise -> 'b promise

  include Monadic.S with type 'a promise := 'a promise
end

(* An item that makes the structure full, so that tasks that give have to wait. *)
let filler = 0
let unit event = Event.wrap event (fun () -> 0)

(* For a wake, which may be on another domain. It can't use Alcotest's checks, because they
   print. *)
let expect what condition = if not condition then failwith what

(* 1, 2, 3 ... *)
let counter () =
  let n = ref 0 in
  fun () ->
    incr n;
    !n

(* A wake that always gives the same value, or one that gives 1, 2 and so on. *)
let always n release () =
  ignore (release n : int);
  n

let numbered release =
  let next = counter () in
  fun () -> always (next ()) release ()

(* All the values that [f] returns. *)
let rec drain f = match f () with Some v -> v :: drain f | None -> []
let unless_closed f t = try f t with Stream.Closed -> None
let tokens try_one = if try_one () then [ 0 ] else []

(* [f] runs a task in a handler. Miou would suspend its own task instead if the handler were not
   registered. *)
let registered f = Host_kit.(using (create ()) f)

(* Runs [f ()] until it waits. The result continues it within the call, if it was resumed. So a
   task of the table needs no turn of its own. *)
let paused f =
  let go_on = ref ignore in
  let suspend block k =
    let outcome = ref (Error Exit) in
    let resumer o =
      outcome := o;
      true
    in
    (go_on := fun () -> Handled.go_on k !outcome);
    match block resumer with None -> () | Some v -> Effect.Deep.continue k v
  in
  registered (fun () -> Handled.run { suspend } ~ret:ignore f);
  fun () -> !go_on ()

module Make (S : Style) = struct
  let operation ?(remembers = true) ?(repeats = true) name service make =
    { name; service; remembers; repeats; make }

  let zero = S.map (fun () -> 0)

  (* --- Values that come once ----------------------------------------------- *)

  let awaited ?(keeps_backtrace = true) wait event _ =
    let t = Promise.create () in
    let release v =
      Promise.fill t v;
      0
    in
    {
      wait = (fun _ -> wait t);
      event = Some (fun _ -> event t);
      wake = always 1 release;
      release;
      left =
        (fun () -> match Promise.peek t with Some (Ok v) -> [ v ] | _ -> []);
      waiters = (fun () -> Promise.waiters t);
      ends = Some (Not_found, fun () -> Promise.fail t Not_found);
      fails =
        (if keeps_backtrace then
           Some (fun e backtrace -> Promise.fail ~backtrace t e)
         else None);
    }

  let or_raise = function Ok v -> v | Error e -> raise e

  let promise =
    [
      operation "Promise.await" Shares
        (awaited S.Promise.await Promise.await_evt);
      operation "Promise.await_result" Shares
        (awaited ~keeps_backtrace:false
           (fun t -> S.map or_raise (S.Promise.await_result t))
           (fun t -> Event.wrap (Promise.await_result_evt t) or_raise));
    ]

  let latch =
    [
      operation "Latch.await" Shares (fun _ ->
          let t = Latch.create 1 in
          let release _ =
            Latch.count_down t;
            0
          in
          {
            wait = (fun _ -> zero (S.Latch.await t));
            event = Some (fun _ -> unit (Latch.await_evt t));
            wake = always 0 release;
            release;
            left = (fun () -> tokens (fun () -> Latch.is_open t));
            waiters = (fun () -> Latch.waiters t);
            ends = None;
            fails = None;
          });
    ]

  (* Another task computes the value. *)
  let forced ?event wait _ =
    let gate = Promise.create () in
    let t = Lazy.from_fun (fun () -> Promise.await gate) in
    let go_on = paused (fun () -> try Lazy.force t with Not_found -> 0) in
    let release v =
      Promise.fill gate v;
      go_on ();
      0
    in
    {
      wait = (fun _ -> wait t);
      event = Option.map (fun event _ -> event t) event;
      wake = always 1 release;
      release;
      left = (fun () -> match Lazy.peek t with Some (Ok v) -> [ v ] | _ -> []);
      waiters = (fun () -> Lazy.waiters t);
      ends =
        Some
          ( Not_found,
            fun () ->
              Promise.fail gate Not_found;
              go_on () );
      fails =
        Some
          (fun e backtrace ->
            Promise.fail ~backtrace gate e;
            try go_on () with failure when failure == e -> ());
    }

  let lazy_ =
    [
      operation "Lazy.force" Shares (forced S.Lazy.force);
      operation "Lazy.force_val" Shares (forced S.Lazy.force_val);
      operation "Lazy.await_evt" Shares
        (forced ~event:Lazy.await_evt (fun t -> S.sync (Lazy.await_evt t)));
    ]

  let changed _ =
    let t = Watch.create 0 in
    let _, since = Watch.read t in
    let release v =
      Watch.set t v;
      0
    in
    {
      wait = (fun _ -> S.map fst (S.Watch.changed t ~since));
      event = Some (fun _ -> Event.wrap (Watch.changed_evt t ~since) fst);
      wake = always 1 release;
      release;
      left =
        (fun () ->
          let v, version = Watch.read t in
          if version = since then [] else [ v ]);
      waiters = (fun () -> Watch.waiters t);
      ends = Some (Watch.Closed, fun () -> Watch.close t);
      fails = None;
    }

  let watch = [ operation "Watch.changed" Shares changed ]

  let bvar =
    let given give _ =
      let t = Bvar.create () in
      let release v = if give t v then 0 else v in
      {
        wait = (fun _ -> S.Bvar.wait t);
        event = Some (fun _ -> Bvar.wait_evt t);
        wake = always 1 release;
        release;
        left = (fun () -> []);
        waiters = (fun () -> Bvar.waiters t);
        ends = None;
        fails = None;
      }
    in
    [
      operation "Bvar.wait, signal" Takes ~remembers:false (given Bvar.signal);
      operation "Bvar.wait, broadcast" Shares ~remembers:false ~repeats:false
        (given (fun t v ->
             Bvar.broadcast t v;
             true));
    ]

  let barrier =
    [
      operation "Barrier.await" Meets ~remembers:false (fun n ->
          let parties = n + 1 in
          let t = Barrier.create parties in
          {
            wait = (fun _ -> zero (S.Barrier.await t));
            event = Some (fun _ -> unit (Barrier.await_evt t));
            wake =
              (fun () ->
                let party () = Hand.start (fun () -> Barrier.await t) in
                for _ = Barrier.waiters t + 1 to parties do
                  ignore (registered party : unit Hand.t)
                done;
                0);
            release =
              (fun _ ->
                Barrier.await t;
                0);
            left = (fun () -> []);
            waiters = (fun () -> Barrier.waiters t);
            ends = None;
            fails = None;
          });
    ]

  (* --- Boxes ----------------------------------------------------------------- *)

  let from_box wait event _ =
    let t = Mvar.create_empty () in
    let release v =
      expect "the box is empty" (Mvar.try_put t v);
      0
    in
    {
      wait = (fun v -> wait t v);
      event = Some (fun v -> event t v);
      wake = numbered release;
      release;
      left = (fun () -> Option.to_list (Mvar.try_take t));
      waiters = (fun () -> Mvar.waiters t);
      ends = None;
      fails = None;
    }

  (* The last value is in the idle resource. It is in use again afterwards, as at first. *)
  let left_in t lease =
    if Pool.idle t = 0 then []
    else begin
      lease := Pool.obtain t;
      [ !(Pool.value !lease) ]
    end

  (* Each task leaves its value in the resource, which then passes to the next task. *)
  let used _ =
    let t = Pool.create ~keep_after:(fun _ -> true) 1 (fun () -> ref 0) in
    let lease = ref (Pool.obtain t) in
    let resource = Pool.value !lease in
    let leave n resource =
      let v = !resource in
      resource := n;
      v
    in
    let release v =
      resource := v;
      Pool.give_back ~keep:true !lease;
      0
    in
    {
      wait =
        (fun n -> S.Pool.use t (fun resource -> S.return (leave n resource)));
      event = Some (fun n -> Pool.use_evt t (leave n));
      wake = numbered release;
      release;
      left = (fun () -> left_in t lease);
      waiters = (fun () -> Pool.waiters t);
      ends = Some (Pool.Closed, fun () -> Pool.close t);
      fails = None;
    }

  let obtained _ =
    let t = Pool.create ~keep_after:(fun _ -> true) 1 (fun () -> ref 0) in
    let lease = ref (Pool.obtain t) in
    let exchange n obtained =
      lease := obtained;
      let v = !(Pool.value obtained) in
      Pool.value obtained := n;
      Pool.give_back ~keep:true obtained;
      v
    in
    let release v =
      Pool.value !lease := v;
      Pool.give_back ~keep:true !lease;
      0
    in
    {
      wait = (fun n -> S.map (exchange n) (S.Pool.obtain t));
      event = Some (fun n -> Event.wrap (Pool.obtain_evt t) (exchange n));
      wake = numbered release;
      release;
      left = (fun () -> left_in t lease);
      waiters = (fun () -> Pool.waiters t);
      ends = Some (Pool.Closed, fun () -> Pool.close t);
      fails = None;
    }

  let pool_closed _ =
    let t = Pool.create 1 ignore in
    let release _ =
      Pool.close t;
      0
    in
    {
      wait = (fun _ -> zero (S.Pool.await_closed t));
      event = Some (fun _ -> unit (Pool.await_closed_evt t));
      wake = always 0 release;
      release;
      left = (fun () -> tokens (fun () -> Pool.is_closed t));
      waiters = (fun () -> Pool.waiters t);
      ends = None;
      fails = None;
    }

  let pool =
    [
      operation "Pool.use" Passes used;
      operation "Pool.obtain" Passes obtained;
      operation "Pool.await_closed" Shares pool_closed;
    ]

  (* Operations that wait to give a value. *)
  let full ~wait ~event ~try_take ~waiters ~ends =
    let out = ref [] in
    let rec take () =
      match try_take () with Some v -> out := v :: !out | None -> ()
    and take_all () =
      let before = !out in
      take ();
      if !out != before then take_all ()
    in
    {
      wait = (fun v -> zero (wait v));
      event = Some (fun v -> unit (event v));
      wake =
        (fun () ->
          take ();
          0);
      release = (fun _ -> Option.value (try_take ()) ~default:0);
      left =
        (fun () ->
          take_all ();
          List.filter (( <> ) filler) (List.rev !out));
      waiters;
      ends;
      fails = None;
    }

  let put _ =
    let t = Mvar.create filler in
    full ~wait:(S.Mvar.put t) ~event:(Mvar.put_evt t)
      ~try_take:(fun () -> Mvar.try_take t)
      ~waiters:(fun () -> Mvar.waiters t)
      ~ends:None

  let replace v old = (v, old)

  let mvar =
    [
      operation "Mvar.take" Takes
        (from_box (fun t _ -> S.Mvar.take t) (fun t _ -> Mvar.take_evt t));
      operation "Mvar.read" Shares
        (from_box (fun t _ -> S.Mvar.read t) (fun t _ -> Mvar.read_evt t));
      operation "Mvar.swap" Passes (from_box S.Mvar.swap Mvar.swap_evt);
      operation "Mvar.modify" Passes
        (from_box
           (fun t v -> S.Mvar.modify t (replace v))
           (fun t v -> Mvar.modify_evt t (replace v)));
      operation "Mvar.put" Gives put;
    ]

  (* --- Queues ------------------------------------------------------------------ *)

  let receive _ =
    let t = Channel.create () in
    let sent = ref 0 and received = ref 0 in
    let count v =
      incr received;
      v
    in
    let release v =
      if Channel.try_send t v then begin
        incr sent;
        0
      end
      else v
    in
    {
      wait = (fun _ -> S.map count (S.Channel.receive t));
      event = Some (fun _ -> Event.wrap (Channel.receive_evt t) count);
      wake = numbered release;
      release;
      (* The values that were sent but not received. *)
      left = (fun () -> List.init (!sent - !received) Fun.id);
      waiters = (fun () -> Channel.waiters t);
      ends = Some (Channel.Closed, fun () -> Channel.close t);
      fails = None;
    }

  let send _ =
    let t = Channel.create () in
    full ~wait:(S.Channel.send t) ~event:(Channel.send_evt t)
      ~try_take:(fun () -> unless_closed Channel.try_receive t)
      ~waiters:(fun () -> Channel.waiters t)
      ~ends:(Some (Channel.Closed, fun () -> Channel.close t))

  let channel =
    [
      operation "Channel.receive" Takes ~remembers:false receive;
      operation "Channel.send" Gives ~remembers:false send;
    ]

  let empty ~wait ~event ~add ~try_take ~waiters ~close =
    let release v =
      add v;
      0
    in
    {
      wait;
      event = Some event;
      wake = numbered release;
      release;
      left = (fun () -> drain try_take);
      waiters;
      ends = Some (Stream.Closed, close);
      fails = None;
    }

  (* This operation's end is a value. Here it becomes the exception, as for the others. *)
  let unless_at_end = function Some v -> v | None -> raise Stream.Closed

  let take_item wait event _ =
    let t = Stream.create 1 in
    empty
      ~wait:(fun _ -> wait t)
      ~event:(fun _ -> event t)
      ~add:(fun v -> expect "there is room" (Stream.try_add t v))
      ~try_take:(fun () -> unless_closed Stream.try_take t)
      ~waiters:(fun () -> Stream.waiters t)
      ~close:(fun () -> Stream.close t)

  let add_item _ =
    let t = Stream.create 1 in
    Stream.add t filler;
    let place =
      full ~wait:(S.Stream.add t) ~event:(Stream.add_evt t)
        ~try_take:(fun () -> unless_closed Stream.try_take t)
        ~waiters:(fun () -> Stream.waiters t)
        ~ends:(Some (Stream.Closed, fun () -> Stream.close t))
    in
    let left () =
      let left = place.left () in
      if Stream.is_closed t then
        raises "it is at its end" Stream.Closed (fun () -> Stream.try_take t);
      left
    in
    { place with left }

  let stream =
    [
      operation "Stream.take" Takes (take_item S.Stream.take Stream.take_evt);
      operation "Stream.next" Takes
        (take_item
           (fun t -> S.map unless_at_end (S.Stream.next t))
           (fun t -> Event.wrap (Stream.next_evt t) unless_at_end));
      operation "Stream.add" Gives add_item;
    ]

  let take_work wait event _ =
    let t = Work_queue.create 1 in
    empty
      ~wait:(fun _ -> wait t)
      ~event:(fun _ -> event t)
      ~add:(fun v -> expect "there is room" (Work_queue.try_add t v <> None))
      ~try_take:(fun () -> unless_closed Work_queue.try_take t)
      ~waiters:(fun () -> Work_queue.waiters t)
      ~close:(fun () -> Work_queue.close t)

  let add_work _ =
    let t = Work_queue.create 1 in
    ignore (Work_queue.add t filler : int Work_queue.ticket);
    full
      ~wait:(fun v -> S.map ignore (S.Work_queue.add t v))
      ~event:(fun v -> Event.wrap (Work_queue.add_evt t v) ignore)
      ~try_take:(fun () -> unless_closed Work_queue.try_take t)
      ~waiters:(fun () -> Work_queue.waiters t)
      ~ends:(Some (Work_queue.Closed, fun () -> Work_queue.close t))

  let work_queue =
    [
      operation "Work_queue.take" Takes
        (take_work S.Work_queue.take Work_queue.take_evt);
      operation "Work_queue.next" Takes
        (take_work
           (fun t -> S.map unless_at_end (S.Work_queue.next t))
           (fun t -> Event.wrap (Work_queue.next_evt t) unless_at_end));
      operation "Work_queue.add" Gives add_work;
    ]

  let take_mail _ =
    let t = Mailbox.create () in
    empty
      ~wait:(fun _ -> S.Mailbox.take t)
      ~event:(fun _ -> Mailbox.take_evt t)
      ~add:(Mailbox.add t)
      ~try_take:(fun () -> unless_closed Mailbox.try_take t)
      ~waiters:(fun () -> Mailbox.waiters t)
      ~close:(fun () -> Mailbox.close t)

  let mailbox = [ operation "Mailbox.take" Takes take_mail ]

  let receive_news ?limit _ =
    let t = Broadcast.create ?limit () in
    (* If the limit is 10, these stay. *)
    Broadcast.send_seq t (Seq.init 10 Fun.id);
    let s = Broadcast.subscribe t in
    (* [t] learns of the subscription from its first waiter. *)
    let receive () = ignore (Broadcast.receive s : int) in
    Hand.unwind (registered (fun () -> Hand.start receive));
    empty
      ~wait:(fun _ -> S.Broadcast.receive s)
      ~event:(fun _ -> Broadcast.receive_evt s)
      ~add:(Broadcast.send t)
      ~try_take:(fun () -> unless_closed Broadcast.try_receive s)
      ~waiters:(fun () -> Broadcast.waiters s)
      ~close:(fun () -> Broadcast.close t)

  let send_news _ =
    let t = Broadcast.create ~limit:(Wait 1) () in
    let s = Broadcast.subscribe t in
    Broadcast.send t filler;
    full ~wait:(S.Broadcast.send t) ~event:(Broadcast.send_evt t)
      ~try_take:(fun () -> unless_closed Broadcast.try_receive s)
      ~waiters:(fun () -> Broadcast.senders t)
      ~ends:(Some (Broadcast.Closed, fun () -> Broadcast.close t))

  let broadcast =
    let limit = Broadcast.Drop_oldest 10 in
    [
      operation "Broadcast.receive" Takes receive_news;
      operation "Broadcast.receive, with a limit" Takes (receive_news ~limit);
      operation "Broadcast.send" Gives send_news;
    ]

  (* --- Locks --------------------------------------------------------------------- *)

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
            no "a task reads" (try_lock ());
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
          no "a task has the mutex" (Mutex.is_locked m);
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
