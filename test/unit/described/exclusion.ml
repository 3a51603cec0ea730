open Results

module Of_mutex = struct
  include Mutex_spec

  type t = Mutex.t

  let create () = Mutex.create ()
  let permitted f = try unit (f ()) with Sys_error _ -> "not permitted"

  let call t = function
    | Lock -> unit (Mutex.lock t)
    | Protect -> permitted (fun () -> Mutex.protect t ignore)
    | Unlock -> permitted (fun () -> Mutex.unlock t)
    | Is_locked -> bool (Mutex.is_locked t)

  let event t = function
    | Lock -> event unit (Mutex.lock_evt t)
    | Protect | Unlock | Is_locked -> None

  let try_call t = function
    | Lock -> tried_bool (Mutex.try_lock t)
    | Protect | Unlock | Is_locked -> None

  let waiters = Mutex.waiters
end

module Of_rwlock (Of : sig
  val prefer : [ `Nobody | `Writers ]
end) =
struct
  include Rwlock_spec.Make (Of)

  type t = Rwlock.t

  let create () = Rwlock.create ~prefer:Of.prefer ()

  let permitted f t =
    try unit (f t) with Sys_error _ | Invalid_argument _ -> "not permitted"

  let call t = function
    | Read_lock -> unit (Rwlock.read_lock t)
    | Write_lock -> unit (Rwlock.write_lock t)
    | Read -> permitted (fun t -> Rwlock.read t ignore) t
    | Write -> permitted (fun t -> Rwlock.write t ignore) t
    | Read_unlock -> permitted Rwlock.read_unlock t
    | Write_unlock -> permitted Rwlock.write_unlock t
    | Downgrade -> permitted Rwlock.downgrade t
    | End_write -> assert false (* not chosen *)

  let event t = function
    | Read_lock -> event unit (Rwlock.read_lock_evt t)
    | Write_lock -> event unit (Rwlock.write_lock_evt t)
    | Read | Write | Read_unlock | Write_unlock | Downgrade | End_write -> None

  let try_call t = function
    | Read_lock -> tried_bool (Rwlock.try_read_lock t)
    | Write_lock -> tried_bool (Rwlock.try_write_lock t)
    | Read | Write | Read_unlock | Write_unlock | Downgrade | End_write -> None

  let waiters = Rwlock.waiters
end

module Fair = Of_rwlock (struct
  let prefer = `Nobody
end)

module Writers_first = Of_rwlock (struct
  let prefer = `Writers
end)
