let numbers n =
  let random = Random.State.make [| n |] in
  Array.init n (fun _ -> Random.State.int random (10 * n))

(* Calls [comparator x y ~lo ~hi] for each comparator of a sorting network, and returns the
   outputs. [wires] are the inputs. Each round moves the greatest of the remaining numbers to
   its final position. *)
let connect wires ~make_mvar comparator =
  let wires = Array.copy wires in
  for last = Array.length wires - 1 downto 1 do
    for i = 0 to last - 1 do
      let lo = make_mvar () and hi = make_mvar () in
      comparator wires.(i) wires.(i + 1) ~lo ~hi;
      wires.(i) <- lo;
      wires.(i + 1) <- hi
    done
  done;
  wires

module Direct (Lwc : Concord_styles.Direct) = struct
  open Lwc

  let comparator x y ~lo ~hi () =
    let a = take_mvar x in
    let b = take_mvar y in
    put_mvar lo (Int.min a b);
    put_mvar hi (Int.max a b)

  let input numbers mvars () = Array.iter2 put_mvar mvars numbers

  let output mvars sorted () =
    Array.iteri (fun i mvar -> sorted.(i) <- take_mvar mvar) mvars

  type network = int array

  let setup n =
    let numbers = numbers n and sorted = Array.make n 0 in
    let inputs = Array.init n (fun _ -> make_mvar ()) in
    let outputs =
      connect inputs ~make_mvar (fun x y ~lo ~hi ->
          spawn (comparator x y ~lo ~hi))
    in
    spawn (output outputs sorted);
    spawn (input numbers inputs);
    sorted

  let run sorted =
    start ();
    sorted

  let forget = stop
end

module Trampolined (Lwc : Concord_styles.Trampolined) = struct
  open Lwc

  let comparator x y ~lo ~hi () =
    take_mvar x >>= fun a ->
    take_mvar y >>= fun b ->
    put_mvar lo (Int.min a b) >>= fun () -> put_mvar hi (Int.max a b) >>= halt

  let rec input numbers mvars i () =
    if i < Array.length mvars then
      put_mvar mvars.(i) numbers.(i) >>= input numbers mvars (i + 1)

  let rec output mvars sorted i () =
    if i < Array.length mvars then (
      take_mvar mvars.(i) >>= fun v ->
      sorted.(i) <- v;
      output mvars sorted (i + 1) ())

  type network = int array

  let setup n =
    let numbers = numbers n and sorted = Array.make n 0 in
    let inputs = Array.init n (fun _ -> make_mvar ()) in
    let outputs =
      connect inputs ~make_mvar (fun x y ~lo ~hi ->
          spawn (comparator x y ~lo ~hi))
    in
    spawn (output outputs sorted 0);
    spawn (input numbers inputs 0);
    sorted

  let run sorted =
    start ();
    sorted

  let forget = stop
end

module Monadic (Lwc : Concord_styles.Monadic) = struct
  open Lwc

  let comparator x y ~lo ~hi () =
    let* a = take_mvar x in
    let* b = take_mvar y in
    let* () = put_mvar lo (Int.min a b) in
    put_mvar hi (Int.max a b)

  let rec input numbers mvars i () =
    if i < Array.length mvars then
      put_mvar mvars.(i) numbers.(i) >>= input numbers mvars (i + 1)
    else skip

  let rec output mvars sorted i () =
    if i < Array.length mvars then (
      let* v = take_mvar mvars.(i) in
      sorted.(i) <- v;
      output mvars sorted (i + 1) ())
    else skip

  type network = int array

  let setup n =
    let numbers = numbers n and sorted = Array.make n 0 in
    let inputs = Array.init n (fun _ -> make_mvar ()) in
    let outputs =
      connect inputs ~make_mvar (fun x y ~lo ~hi ->
          spawn (comparator x y ~lo ~hi))
    in
    spawn (output outputs sorted 0);
    spawn (input numbers inputs 0);
    sorted

  let run sorted =
    start ();
    sorted

  let forget () = ignore (stop () : unit t)
end

let sequential n =
  Array.of_list (List.sort Int.compare (Array.to_list (numbers n)))
