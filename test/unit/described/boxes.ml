open Results

module Of_mvar = struct
  include Mvar_spec

  type t = int Mvar.t

  let create () = Mvar.create_empty ()
  let add n old = (old + n, old)

  let call t = function
    | Put v -> unit (Mvar.put t v)
    | Take -> int (Mvar.take t)
    | Read -> int (Mvar.read t)
    | Swap v -> int (Mvar.swap t v)
    | Modify n -> int (Mvar.modify t (add n))
    | Is_empty -> bool (Mvar.is_empty t)
    | Give _ -> assert false (* not chosen *)

  let event t = function
    | Put v -> event unit (Mvar.put_evt t v)
    | Take -> event int (Mvar.take_evt t)
    | Read -> event int (Mvar.read_evt t)
    | Swap v -> event int (Mvar.swap_evt t v)
    | Modify n -> event int (Mvar.modify_evt t (add n))
    | Give _ | Is_empty -> None

  let try_call t = function
    | Put v -> tried_bool (Mvar.try_put t v)
    | Take -> tried int (Mvar.try_take t)
    | Read -> tried int (Mvar.try_read t)
    | Swap _ | Modify _ | Give _ | Is_empty -> None

  let waiters = Mvar.waiters
end
