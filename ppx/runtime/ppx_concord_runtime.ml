let[@inline] force t = Concord.Lazy.force t
let from_fun f = Concord.Lazy.from_fun f
let from_val v = Concord.Lazy.from_val v

(* The generated code has it only below [if false]. *)
let never () = assert false
let delayed () = (never, from_fun)
let forced () = (never, from_val)

let knot (_ : 'a -> 'a) =
  let computation : (unit -> 'a) ref =
    ref (fun () -> raise Concord.Lazy.Undefined)
  in
  (from_fun (fun () -> !computation ()), fun f -> computation := f)
