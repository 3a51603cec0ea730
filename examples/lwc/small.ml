module Direct (Lwc : Concord_styles.Direct) = struct
  open Lwc

  let yield3 () =
    yield ();
    yield ();
    yield ()

  let transfer_mvar m1 m2 =
    let v = take_mvar m1 in
    put_mvar m2 v
end

module Trampolined (Lwc : Concord_styles.Trampolined) = struct
  open Lwc

  let yield3 k =
    yield >>= fun () ->
    yield >>= fun () -> yield >>= k

  let transfer_mvar m1 m2 k = take_mvar m1 >>= fun v -> put_mvar m2 v >>= k
end

module Monadic (Lwc : Concord_styles.Monadic) = struct
  open Lwc

  let yield3 () =
    yield () >>= fun () ->
    yield () >>= fun () -> yield ()

  let transfer_mvar m1 m2 = take_mvar m1 >>= fun v -> put_mvar m2 v
end
