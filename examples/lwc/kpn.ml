(* Has only the numbers up to [max_int / 5], so that five times each of them is still an
   [int]. *)
let sequence =
  let last = max_int / 5 in
  let rec powers a v = v :: (if v > last / a then [] else powers a (v * a)) in
  powers 2 1
  |> List.concat_map (powers 3)
  |> List.concat_map (powers 5)
  |> List.sort Int.compare |> Array.of_list

let max_n = Array.length sequence

let numbers n =
  if n > max_n then
    Printf.ksprintf invalid_arg "Kpn.setup: n is %d, but it can be at most %d" n
      max_n;
  Array.make n 0

module Direct (Lwc : Concord_styles.Direct) = struct
  open Lwc

  let rec times a inp out () =
    put_mvar out (a * take_fifo inp);
    times a inp out ()

  let merge inp1 inp2 out () =
    let rec loop v1 v2 =
      put_mvar out (Int.min v1 v2);
      let v1' = if v1 <= v2 then take_mvar inp1 else v1 in
      let v2' = if v2 <= v1 then take_mvar inp2 else v2 in
      loop v1' v2'
    in
    let v1 = take_mvar inp1 in
    loop v1 (take_mvar inp2)

  let rec x inp out2 out3 out5 numbers i () =
    if i < Array.length numbers then begin
      let v = take_mvar inp in
      numbers.(i) <- v;
      put_fifo out2 v;
      put_fifo out3 v;
      put_fifo out5 v;
      x inp out2 out3 out5 numbers (i + 1) ()
    end
    else stop ()

  type network = int array

  let setup n =
    let numbers = numbers n in
    let f2 = make_fifo () and f3 = make_fifo () and f5 = make_fifo () in
    let m2 = make_mvar () and m3 = make_mvar () and m5 = make_mvar () in
    let m35 = make_mvar () and m235 = make_mvar () in
    spawn (times 2 f2 m2);
    spawn (times 3 f3 m3);
    spawn (times 5 f5 m5);
    spawn (merge m3 m5 m35);
    spawn (merge m2 m35 m235);
    spawn (x m235 f2 f3 f5 numbers 0);
    spawn (fun () -> put_mvar m235 1);
    numbers

  let run numbers =
    start ();
    numbers

  let forget = stop
end

module Trampolined (Lwc : Concord_styles.Trampolined) = struct
  open Lwc

  let rec times a inp out () =
    take_fifo inp >>= fun v -> put_mvar out (a * v) >>= times a inp out

  let merge inp1 inp2 out () =
    let rec loop v1 v2 =
      put_mvar out (Int.min v1 v2) >>= fun () ->
      if v1 < v2 then take_mvar inp1 >>= fun v1 -> loop v1 v2
      else if v1 > v2 then take_mvar inp2 >>= fun v2 -> loop v1 v2
      else both ()
    and both () =
      take_mvar inp1 >>= fun v1 ->
      take_mvar inp2 >>= fun v2 -> loop v1 v2
    in
    both ()

  let rec x inp out2 out3 out5 numbers i () =
    if i < Array.length numbers then begin
      take_mvar inp >>= fun v ->
      numbers.(i) <- v;
      put_fifo out2 v;
      put_fifo out3 v;
      put_fifo out5 v;
      x inp out2 out3 out5 numbers (i + 1) ()
    end
    else stop ()

  type network = int array

  let setup n =
    let numbers = numbers n in
    let f2 = make_fifo () and f3 = make_fifo () and f5 = make_fifo () in
    let m2 = make_mvar () and m3 = make_mvar () and m5 = make_mvar () in
    let m35 = make_mvar () and m235 = make_mvar () in
    spawn (times 2 f2 m2);
    spawn (times 3 f3 m3);
    spawn (times 5 f5 m5);
    spawn (merge m3 m5 m35);
    spawn (merge m2 m35 m235);
    spawn (x m235 f2 f3 f5 numbers 0);
    spawn (close (put_mvar m235 1));
    numbers

  let run numbers =
    start ();
    numbers

  let forget = stop
end

module Monadic (Lwc : Concord_styles.Monadic) = struct
  open Lwc

  let rec times a inp out () =
    let* v = take_fifo inp in
    put_mvar out (a * v) >>= times a inp out

  let merge inp1 inp2 out () =
    let rec loop v1 v2 =
      let* () = put_mvar out (Int.min v1 v2) in
      let* v1' = if v1 <= v2 then take_mvar inp1 else return v1 in
      let* v2' = if v2 <= v1 then take_mvar inp2 else return v2 in
      loop v1' v2'
    in
    let* v1 = take_mvar inp1 in
    let* v2 = take_mvar inp2 in
    loop v1 v2

  let rec x inp out2 out3 out5 numbers i () =
    if i < Array.length numbers then (
      let* v = take_mvar inp in
      numbers.(i) <- v;
      put_fifo out2 v;
      put_fifo out3 v;
      put_fifo out5 v;
      x inp out2 out3 out5 numbers (i + 1) ())
    else stop ()

  type network = int array

  let setup n =
    let numbers = numbers n in
    let f2 = make_fifo () and f3 = make_fifo () and f5 = make_fifo () in
    let m2 = make_mvar () and m3 = make_mvar () and m5 = make_mvar () in
    let m35 = make_mvar () and m235 = make_mvar () in
    spawn (times 2 f2 m2);
    spawn (times 3 f3 m3);
    spawn (times 5 f5 m5);
    spawn (merge m3 m5 m35);
    spawn (merge m2 m35 m235);
    spawn (x m235 f2 f3 f5 numbers 0);
    spawn (fun () -> put_mvar m235 1);
    numbers

  let run numbers =
    start ();
    numbers

  let forget () = ignore (stop () : unit t)
end

let sequential n =
  ignore (numbers n : int array);
  Array.sub sequence 0 n
