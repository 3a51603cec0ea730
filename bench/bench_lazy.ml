open Case

(* Stdlib's lazy value, protected by a mutex. Programs with several threads do this if they
   don't use Concord. *)
type 'a locked = { mutex : Mutex.t; value : 'a Lazy.t }

let locked f = { mutex = Mutex.create (); value = Lazy.from_fun f }

let force_locked { mutex; value } =
  Mutex.protect mutex (fun () -> Lazy.force value)

let from_fun_eio f = Eio.Lazy.from_fun ~cancel:`Restart f

(* --- Reading what is forced ----------------------------------------------- *)

(* Reads the values field by field, so that the loop contains no bounds checks and little else
   than the reads. *)
type 'l eight = {
  a : 'l;
  b : 'l;
  c : 'l;
  d : 'l;
  e : 'l;
  f : 'l;
  g : 'l;
  h : 'l;
}

let width = 8
let total = width * (width + 1) / 2

let eight from_fun force =
  let forced i =
    let l = from_fun (fun () -> Sys.opaque_identity i) in
    Host.check "value" i (force l);
    l
  in
  {
    a = forced 1;
    b = forced 2;
    c = forced 3;
    d = forced 4;
    e = forced 5;
    f = forced 6;
    g = forced 7;
    h = forced 8;
  }

(* Each implementation has its own copy of the loop, because a call through a closure would
   slow it down. *)

let read_concord lazies rounds =
  let open Concord.Lazy in
  let sum = ref 0 in
  for _ = 1 to rounds do
    let l = Sys.opaque_identity lazies in
    sum := !sum + force l.a + force l.b + force l.c + force l.d;
    sum := !sum + force l.e + force l.f + force l.g + force l.h
  done;
  !sum

let read_stdlib lazies rounds =
  let open Lazy in
  let sum = ref 0 in
  for _ = 1 to rounds do
    let l = Sys.opaque_identity lazies in
    sum := !sum + force l.a + force l.b + force l.c + force l.d;
    sum := !sum + force l.e + force l.f + force l.g + force l.h
  done;
  !sum

let read_locked lazies rounds =
  let sum = ref 0 in
  for _ = 1 to rounds do
    let l = Sys.opaque_identity lazies in
    sum := !sum + force_locked l.a + force_locked l.b;
    sum := !sum + force_locked l.c + force_locked l.d;
    sum := !sum + force_locked l.e + force_locked l.f;
    sum := !sum + force_locked l.g + force_locked l.h
  done;
  !sum

let read_eio lazies rounds =
  let open Eio.Lazy in
  let sum = ref 0 in
  for _ = 1 to rounds do
    let l = Sys.opaque_identity lazies in
    sum := !sum + force l.a + force l.b + force l.c + force l.d;
    sum := !sum + force l.e + force l.f + force l.g + force l.h
  done;
  !sum

let forced_time on read lazies n =
  let rounds = (n + width - 1) / width in
  let work lazies rounds =
    Host.check "sum of the values" (rounds * total) (read lazies rounds)
  in
  Host.alone on (work (lazies ())) rounds

let forced_row ~impl ~host ~on read lazies =
  row ~case:"forced" ~impl ~host (Time (forced_time on read lazies))

let eight_stdlib () = eight Lazy.from_fun Lazy.force

(* If a lazy value was forced while it was young, the collector may replace it by its value. It
   does so for integers. To read any other value, the program calls the runtime for its tag. *)
let eight_collected () =
  let lazies = eight_stdlib () in
  Gc.minor ();
  lazies

let forced =
  let concord () = eight Concord.Lazy.from_fun Concord.Lazy.force in
  {
    title =
      "reading a lazy integer that is forced, 1 domain (stdlib: unprotected, \
       and the collector has put the integer in its place; stdlib-boxed: \
       before it did; stdlib-mutex: each has a mutex)";
    baseline =
      forced_row ~impl:"stdlib" ~host:"domain" ~on:Host.domain read_stdlib
        eight_collected;
    others =
      [
        forced_row ~impl:"stdlib-boxed" ~host:"domain" ~on:Host.domain
          read_stdlib eight_stdlib;
        forced_row ~impl:"concord" ~host:"domain" ~on:Host.domain read_concord
          concord;
        forced_row ~impl:"concord" ~host:"fifo" ~on:Host.fifo read_concord
          concord;
        forced_row ~impl:"concord" ~host:"eio" ~on:Host.eio read_concord concord;
        forced_row ~impl:"stdlib-mutex" ~host:"domain" ~on:Host.domain
          read_locked (fun () -> eight locked force_locked);
        forced_row ~impl:"eio" ~host:"eio" ~on:Host.eio read_eio (fun () ->
            eight from_fun_eio Eio.Lazy.force);
        go "forced";
        picos "forced" elsewhere;
      ];
  }

(* --- Forcing for the first time ------------------------------------------- *)

let first_concord n =
  let sum = ref 0 in
  for i = 1 to n do
    let l = Concord.Lazy.from_fun (fun () -> Sys.opaque_identity i) in
    sum := !sum + Concord.Lazy.force (Sys.opaque_identity l)
  done;
  !sum

let first_stdlib n =
  let sum = ref 0 in
  for i = 1 to n do
    let l = Lazy.from_fun (fun () -> Sys.opaque_identity i) in
    sum := !sum + Lazy.force (Sys.opaque_identity l)
  done;
  !sum

let first_keyword n =
  let sum = ref 0 in
  for i = 1 to n do
    let l = lazy (Sys.opaque_identity i) in
    sum := !sum + Lazy.force (Sys.opaque_identity l)
  done;
  !sum

let first_locked n =
  let sum = ref 0 in
  for i = 1 to n do
    let l = locked (fun () -> Sys.opaque_identity i) in
    sum := !sum + force_locked (Sys.opaque_identity l)
  done;
  !sum

let first_eio n =
  let sum = ref 0 in
  for i = 1 to n do
    let l = from_fun_eio (fun () -> Sys.opaque_identity i) in
    sum := !sum + Eio.Lazy.force (Sys.opaque_identity l)
  done;
  !sum

let first_time on first =
  let work n = Host.check "sum of the values" (n * (n + 1) / 2) (first n) in
  Host.alone on work

let first_row ~impl ~host ~on first =
  row ~case:"first-force" ~impl ~host (Time (first_time on first))

let first_force =
  {
    title =
      "making a lazy integer by from_fun (stdlib-lazy: by the keyword lazy) \
       and forcing it, 1 domain (stdlib-mutex: each has a mutex, which is made \
       too)";
    baseline =
      first_row ~impl:"stdlib" ~host:"domain" ~on:Host.domain first_stdlib;
    others =
      [
        first_row ~impl:"stdlib-lazy" ~host:"domain" ~on:Host.domain
          first_keyword;
        first_row ~impl:"concord" ~host:"domain" ~on:Host.domain first_concord;
        first_row ~impl:"concord" ~host:"fifo" ~on:Host.fifo first_concord;
        first_row ~impl:"concord" ~host:"eio" ~on:Host.eio first_concord;
        first_row ~impl:"stdlib-mutex" ~host:"domain" ~on:Host.domain
          first_locked;
        first_row ~impl:"eio" ~host:"eio" ~on:Host.eio first_eio;
        go "first-force";
        picos "first-force" elsewhere;
      ];
  }

let group =
  {
    name = "lazy";
    doc =
      "lazy values: read, forced, waited for, against Eio, Picos, Stdlib and Go";
    comparisons =
      beside [ forced; first_force ]
      @ Bench_lazy_wait.comparisons @ Bench_lazy_parallel.comparisons;
  }
