module Direct (Lwc : Concord_styles.Direct) = struct
  open Lwc

  let rec integers out i () =
    put_mvar out i;
    integers out (i + 1) ()

  let rec output inp primes i () =
    if i < Array.length primes then begin
      primes.(i) <- take_mvar inp;
      output inp primes (i + 1) ()
    end
    else stop ()

  let rec filter n inp out () =
    let v = take_mvar inp in
    if v mod n <> 0 then put_mvar out v;
    filter n inp out ()

  let rec sift inp out () =
    let v = take_mvar inp in
    put_mvar out v;
    let mid = make_mvar () in
    spawn (filter v inp mid);
    sift mid out ()

  type network = int array

  let setup n =
    let primes = Array.make n 0 in
    let mi = make_mvar () in
    let mo = make_mvar () in
    spawn (integers mi 2);
    spawn (sift mi mo);
    spawn (output mo primes 0);
    primes

  let run primes =
    start ();
    primes

  let forget = stop
end

module Trampolined (Lwc : Concord_styles.Trampolined) = struct
  open Lwc

  let rec integers out i () = put_mvar out i >>= integers out (i + 1)

  let rec output inp primes i () =
    if i < Array.length primes then (
      take_mvar inp >>= fun v ->
      primes.(i) <- v;
      output inp primes (i + 1) ())
    else stop ()

  let rec filter n inp out () =
    take_mvar inp >>= fun v ->
    (if v mod n <> 0 then put_mvar out v else skip) >>= filter n inp out

  let rec sift inp out () =
    take_mvar inp >>= fun v ->
    put_mvar out v >>= fun () ->
    let mid = make_mvar () in
    spawn (filter v inp mid);
    sift mid out ()

  type network = int array

  let setup n =
    let primes = Array.make n 0 in
    let mi = make_mvar () in
    let mo = make_mvar () in
    spawn (integers mi 2);
    spawn (sift mi mo);
    spawn (output mo primes 0);
    primes

  let run primes =
    start ();
    primes

  let forget = stop
end

module Monadic (Lwc : Concord_styles.Monadic) = struct
  open Lwc

  let rec integers out i () = put_mvar out i >>= integers out (i + 1)

  let rec output inp primes i () =
    if i < Array.length primes then (
      let* v = take_mvar inp in
      primes.(i) <- v;
      output inp primes (i + 1) ())
    else stop ()

  let rec filter n inp out () =
    let* v = take_mvar inp in
    (if v mod n <> 0 then put_mvar out v else skip) >>= filter n inp out

  let rec sift inp out () =
    let* v = take_mvar inp in
    let* () = put_mvar out v in
    let mid = make_mvar () in
    spawn (filter v inp mid);
    sift mid out ()

  type network = int array

  let setup n =
    let primes = Array.make n 0 in
    let mi = make_mvar () in
    let mo = make_mvar () in
    spawn (integers mi 2);
    spawn (sift mi mo);
    spawn (output mo primes 0);
    primes

  let run primes =
    start ();
    primes

  let forget () = ignore (stop () : unit t)
end

(* Tries to divide by the primes that were found before. *)
let sequential n =
  let primes = Array.make n 0 in
  let rec is_prime v i =
    i = n
    || primes.(i) = 0
    || primes.(i) * primes.(i) > v
    || (v mod primes.(i) <> 0 && is_prime v (i + 1))
  in
  let rec search found v =
    if found < n then
      if is_prime v 0 then begin
        primes.(found) <- v;
        search (found + 1) (v + 1)
      end
      else search found (v + 1)
  in
  search 0 2;
  primes
