(* Calls [successor inp out] for each of [n] threads, and returns the last [out]. *)
let connect n ~make_mvar inp successor =
  if n < 0 then invalid_arg "Chain.setup: n < 0";
  let inp = ref inp in
  for _ = 1 to n do
    let out = make_mvar () in
    successor !inp out;
    inp := out
  done;
  !inp

module Direct (Lwc : Concord_styles.Direct) = struct
  open Lwc

  let successor inp out () = put_mvar out (take_mvar inp + 1)
  let output inp result () = result.(0) <- take_mvar inp

  type network = int array

  let setup n =
    let result = [| 0 |] and first = make_mvar () in
    let last =
      connect n ~make_mvar first (fun inp out -> spawn (successor inp out))
    in
    spawn (output last result);
    spawn (fun () -> put_mvar first 0);
    result

  let run result =
    start ();
    result

  let forget = stop
end

module Trampolined (Lwc : Concord_styles.Trampolined) = struct
  open Lwc

  let successor inp out () =
    take_mvar inp >>= fun v -> put_mvar out (v + 1) >>= halt

  let output inp result () = take_mvar inp >>= fun v -> result.(0) <- v

  type network = int array

  let setup n =
    let result = [| 0 |] and first = make_mvar () in
    let last =
      connect n ~make_mvar first (fun inp out -> spawn (successor inp out))
    in
    spawn (output last result);
    spawn (close (put_mvar first 0));
    result

  let run result =
    start ();
    result

  let forget = stop
end

module Monadic (Lwc : Concord_styles.Monadic) = struct
  open Lwc

  let successor inp out () =
    let* v = take_mvar inp in
    put_mvar out (v + 1)

  let output inp result () =
    let+ v = take_mvar inp in
    result.(0) <- v

  type network = int array

  let setup n =
    let result = [| 0 |] and first = make_mvar () in
    let last =
      connect n ~make_mvar first (fun inp out -> spawn (successor inp out))
    in
    spawn (output last result);
    spawn (fun () -> put_mvar first 0);
    result

  let run result =
    start ();
    result

  let forget () = ignore (stop () : unit t)
end

let sequential n = [| n |]
