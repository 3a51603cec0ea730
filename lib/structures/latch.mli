(** A count that opens a gate, once, when it reaches zero.

    {b Stability}: stable.

    The count may go up as well, while it is not zero. So a latch also waits for
    tasks whose number is not known before, such as the connections of a server
    ({!count_up}).

    An operation without a {b Suspends} line never suspends and performs no
    effect. Without a {b Cost} line it is O(1). *)

type t

val create : ?name:string -> int -> t
(** [create n] opens after [n] calls of {!count_down}; it is open if [n] is 0.
    [name] is for reports.

    - {b Raises} [Invalid_argument] if [n] is negative. *)

val count_down : t -> unit
(** [count_down t] lowers the count; at zero [t] opens, for ever, and all tasks
    that wait go on, in the order of their arrival.

    - {b Cost}: O(1), and at zero O(n) for the [n] tasks that wait.
    - {b Raises} [Invalid_argument] if [t] is open. *)

val count_up : t -> unit
(** [count_up t] raises the count: [t] opens after one more call of
    {!count_down}.

    For example, a server that stops waits until all connections have ended. The
    loop that accepts them has one count itself, and gives it back when it
    accepts no more. So the latch can't open while connections may still come.
    Count up before you fork the task, and not in it, because the latch might be
    open before the task runs.

    {[
      # let serve connections handle =
          let running = Latch.create 1 in
          let accept connection =
            let handle () =
              Fun.protect ~finally:(fun () -> Latch.count_down running)
                (fun () -> handle connection)
            in
            Latch.count_up running;
            ignore (Concord_fifo.fork handle)
          in
          List.iter accept connections;
          Latch.count_down running;
          Latch.await running
      val serve : 'a list -> ('a -> unit) -> unit = <fun>

      # Concord_fifo.run @@ fun () ->
        let handled = ref [] in
        serve [ "a"; "b" ] (fun connection ->
            Concord_fifo.yield ();
            handled := connection :: !handled);
        !handled
      - : string list = ["b"; "a"]
    ]}

    - {b Raises} [Invalid_argument] if [t] is open, because a latch never shuts
      again, and [Sys_error] if the count is [max_int]. *)

val await : t -> unit
(** [await t] returns once [t] is open.

    - {b Suspends} until then.
    - {b Cancelled} while suspended: the count stays as it is.
    - {b Order}: that of arrival.
    - {b Cost}: O(1), also to withdraw (amortised). *)

val await_evt : t -> unit Event.t
(** The event of {!await}. *)

val is_open : t -> bool
(** Is the count zero? *)

val count : t -> int
(** How many calls of {!count_down} are missing. *)

val waiters : t -> int
(** How many tasks wait, for diagnosis. One that was cancelled counts until it
    is unwound. *)
