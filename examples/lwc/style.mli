(** The seven styles of threads, as values. *)

type t =
  | Direct of (module Concord_styles.Direct)
  | Trampolined of (module Concord_styles.Trampolined)
  | Monadic of (module Concord_styles.Monadic)

val all : (string * t) list
(** All styles with their names: [threads], [callcc], [delimited], [trampoline],
    [continuation], [promise], [events]. *)

val light : (string * t) list
(** All styles except [threads]. *)
