(* Splitmix (Steele, Lea, Flood, OOPSLA 2014) on OCaml's 63 bits. It has its own state, because
   a task's choice must not change the program's [Random]. If threads of a domain draw at the
   same time, they may draw the same number, which does no harm. *)
let golden = 0x1e3779b97f4a7c15 (* Concord needs integers of 63 bits *)

let[@inline] mix z =
  let z = z lxor (z lsr 30) * 0x3f58476d1ce4e5b9 in
  let z = z lxor (z lsr 27) * 0x14d049bb133111eb in
  z lxor (z lsr 31)

(* Each domain of each process starts with a different state. Otherwise a program that is
   started repeatedly, or domains that choose only once, would always make the same choice. *)
let starts =
  let entropy = Random.State.make_self_init () in
  Atomic.make (Int64.to_int (Random.State.bits64 entropy))

let start () = ref (mix (Atomic.fetch_and_add starts golden))
let key = Domain.DLS.new_key start
let bits = 31

let fraction () =
  let state = Domain.DLS.get key in
  let z = !state + golden in
  state := z;
  (mix z lsr 16) land ((1 lsl bits) - 1)

(* These two functions multiply, because a division takes as long as the draw itself. *)
let[@inline] below n fraction = (n * fraction) lsr bits
let[@inline] rest n fraction = n * fraction land ((1 lsl bits) - 1)
