(** A count that opens a gate once, when it reaches zero.

    {b Stability}: stable.

    Use a latch to wait until several tasks have ended. For example:

    {[
      # let ended = Latch.create 2
      val ended : Latch.t = <abstr>
      # let work () = Latch.count_down ended
      val work : unit -> unit = <fun>
      # let threads = List.init 2 (fun _ -> Thread.create work ())
      val threads : Thread.t list = [<abstr>; <abstr>]
      # Latch.await ended; Latch.is_open ended
      - : bool = true
    ]}

    If you don't know the number of tasks in advance, raise the count by
    {!count_up} while it isn't zero.

    The {{!/concord/rules}rules of all structures} hold. The
    {{!/concord/descriptions}description} says what each operation does in each
    state.

    See also the pages on {{!/concord/stdlib}Stdlib} and
    {{!/concord/picos}Picos}. *)

type t
(** A latch. *)

val create : ?name:string -> int -> t
(** [create n] returns a latch that opens after [n] calls of {!count_down}.

    If [n] is 0, it is already open. Reports call it by its [name].

    - {b Raises} [Invalid_argument] if [n] is negative. *)

val count_down : t -> unit
(** [count_down t] lowers the count by one. When the count reaches zero, [t]
    opens forever, and all waiting tasks are resumed in the order in which they
    arrived.

    - {b Raises} [Invalid_argument] if [t] is open. *)

val count_up : t -> unit
(** [count_up t] raises the count by one, and [t] opens after one more call of
    {!count_down}.

    For example, a server stops after all connections have ended. The accepting
    loop holds one count itself until it has accepted the last one. This keeps
    the latch from opening while connections may still come. Count up before you
    fork the task, and not in the task, because the latch might open before the
    task runs.

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

    - {b Raises} [Invalid_argument] if [t] is open, because a latch never closes
      again.
    - {b Raises} [Sys_error] if the count is [max_int]. *)

val await : t -> unit
(** [await t] waits until [t] is open.

    - {b Suspends} while the count isn't zero. *)

val await_evt : t -> unit Event.t
(** [await_evt t] is the event of {!await}. *)

val is_open : t -> bool
(** [is_open t] is [true] if the count is zero. *)

val count : t -> int
(** [count t] is the number of missing calls of {!count_down}. *)

val waiters : t -> int
(** [waiters t] is the number of waiting tasks, for diagnosis. *)
