(** A lock held by many tasks to read, or by one task to write.

    {b Stability}: stable.

    Use it if many tasks read some data, and few change it. Tasks of any hosts
    may share the lock.

    {[
      # let lock = Rwlock.create () and prices = Hashtbl.create 8
      val lock : Rwlock.t = <abstr>
      val prices : ('_weak1, '_weak2) Hashtbl.t = <abstr>
      # let set item price =
          Rwlock.write lock (fun () -> Hashtbl.replace prices item price)
      val set : '_weak1 -> '_weak2 -> unit = <fun>
      # let price item = Rwlock.read lock (fun () -> Hashtbl.find_opt prices item)
      val price : '_weak1 -> '_weak2 option = <fun>
      # set "tea" 3; price "tea"
      - : int option = Some 3
    ]}

    Like a {!Mutex}, the lock doesn't know which tasks hold it. A task can't
    lock it twice, and a reader can't become a writer. (A writer can become a
    reader by {!downgrade}.)

    While waits are kept ({!Concord.Tools.Debug.keep_waits}), the lock remembers
    its holders, and reports can name them. This works on hosts that can tell
    their tasks apart, and in {!read} and {!write} on every host. If one task
    unlocks for another, the lock knows only its later holders.

    The {{!/concord/rules}rules of all structures} hold. The
    {{!/concord/descriptions}description} says what each operation does in each
    state.

    See also the pages on {{!/concord/stdlib}Stdlib} and
    {{!/concord/picos}Picos}. *)

type t
(** A lock. *)

val create : ?name:string -> ?prefer:[ `Nobody | `Writers ] -> unit -> t
(** [create ()] returns an unlocked lock.

    By default, readers and writers are served in the order in which they
    arrived, so neither can starve. With [~prefer:`Writers], writers go before
    all waiting readers, so readers wait as long as there are writers. Writers
    are served in the order in which they arrived.

    Newcomers may briefly overtake a task whose thread is asleep ({!Mutex} has
    the details). Reports call the lock by its [name]. *)

val create_in_order :
  ?name:string -> ?prefer:[ `Nobody | `Writers ] -> unit -> t
(** [create_in_order ()] does the same as {!create}, but newcomers never
    overtake, even if a thread is asleep. {!Concord.Mutex.create_in_order} says
    what that costs. *)

(** {1 Locking during a function} *)

val read : t -> (unit -> 'a) -> 'a
(** [read t f] locks [t] to read, calls [f ()], and unlocks [t] when [f]
    returns, raises or is cancelled.

    - {b Suspends} where {!read_lock} and [f] do.
    - {b Raises} [e] if [f] raises [e], after it has unlocked [t]. *)

val write : t -> (unit -> 'a) -> 'a
(** [write t f] locks [t] to write, calls [f ()], and unlocks [t] when [f]
    returns, raises or is cancelled.

    [f] may call {!downgrade}, once. Then [t] is unlocked as after {!read}.

    - {b Suspends} where {!write_lock} and [f] do.
    - {b Raises} [e] if [f] raises [e], after it has unlocked [t]. *)

(** {1 Locking and unlocking} *)

val read_lock : t -> unit
(** [read_lock t] locks [t] to read.

    - {b Suspends} while a task holds [t] to write, and while tasks wait that go
      first.

    A cancelled task is never given the lock. But [t] notices the cancellation
    only when the task is unwound. Until then, a cancelled writer keeps out the
    readers behind it, and also makes {!try_read_lock} return [false]. The host
    decides how soon this happens. In Eio and in an eager [Concord_fifo] it is
    the task's next turn, and in a lazy one it is later. *)

val write_lock : t -> unit
(** [write_lock t] locks [t] to write, and no other task holds it meanwhile.

    - {b Suspends} while a task holds [t], and while tasks wait that go first.
*)

val try_read_lock : t -> bool
(** [try_read_lock t] locks [t] to read and returns [true], or returns [false]
    if {!read_lock} would wait. This includes a writer that goes first, even if
    it was cancelled and isn't unwound yet. *)

val try_write_lock : t -> bool
(** [try_write_lock t] locks [t] to write and returns [true], or returns [false]
    if {!write_lock} would wait. *)

val read_unlock : t -> unit
(** [read_unlock t] ends one {!read_lock}, and serves the next tasks, if they
    can lock [t] now.

    - {b Raises} [Sys_error] if no task holds [t] to read. *)

val write_unlock : t -> unit
(** [write_unlock t] ends a {!write_lock}, and serves the next tasks, if they
    can lock [t] now.

    - {b Raises} [Sys_error] if no task holds [t] to write. *)

val downgrade : t -> unit
(** [downgrade t] turns the caller's lock to write into one to read.

    In the function of {!write}, nothing else has to be done. After a
    {!write_lock}, end it by {!read_unlock}. No other writer gets [t] in
    between, so the data is still as you left it. Waiting readers get the lock
    now, unless a writer goes first (see {!create}).

    {[
      # let lock = Rwlock.create () and price = ref 1
      val lock : Rwlock.t = <abstr>
      val price : int ref = {contents = 1}
      # Rwlock.write lock (fun () ->
            price := 2;
            Rwlock.downgrade lock;
            Rwlock.read lock (fun () -> !price) (* others can read now *))
      - : int = 2
    ]}

    No function turns a reader into a writer. It would have to wait until it is
    the only reader. If two readers tried to upgrade, they would wait for each
    other forever. Instead, unlock, lock to write, and check again what you have
    read.

    - {b Raises} [Sys_error] if no task holds [t] to write. *)

(** {1 Events} *)

val read_lock_evt : t -> unit Event.t
(** [read_lock_evt t] is the event of {!read_lock}. *)

val write_lock_evt : t -> unit Event.t
(** [write_lock_evt t] is the event of {!write_lock}. *)

(** {1 Inspecting} *)

val waiters : t -> int
(** [waiters t] is the number of waiting tasks, for diagnosis. *)

(**/**)

val end_write : t -> unit
(** [end_write t] ends {!write} in other styles. It is {!write_unlock}, or
    {!read_unlock} after a {!downgrade}. *)

val holders : t -> Holder.t list
(** [holders t] are the tasks holding [t], with unknown tasks in place of
    unnoted ones. *)
