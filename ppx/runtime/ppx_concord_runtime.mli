(** What the code that [ppx_concord] generates calls. Nobody else should.

    {b Stability}: none, nothing is promised.

    The types are written as [Concord.Lazy.t], so that the compiler's messages
    name them like this. No module of the user's hides this one. *)

val force : 'a Concord.Lazy.t -> 'a
val from_fun : (unit -> 'a) -> 'a Concord.Lazy.t
val from_val : 'a -> 'a Concord.Lazy.t

(** {1 With the expected type}

    The compiler doesn't tell the argument of a call what type is expected of
    the call. So [lazy e] can be

    {[
    match Ppx_concord_runtime.delayed () with
    | result, from_fun -> if false then result () else from_fun (fun () -> e)
    ]}

    The expected type is that of [result ()], therefore the compiler knows the
    type of [e] when it comes to [e]. These are functions because the type of a
    call has no variables of which each use is another instance. *)

val delayed :
  unit -> (unit -> 'a Concord.Lazy.t) * ((unit -> 'a) -> 'a Concord.Lazy.t)
(** A function that is never called, and {!from_fun}. *)

val forced : unit -> (unit -> 'a Concord.Lazy.t) * ('a -> 'a Concord.Lazy.t)
(** A function that is never called, and {!from_val}. *)

(** {1 Recursion} *)

val knot : ('a -> 'a) -> 'a Concord.Lazy.t * ((unit -> 'a) -> unit)
(** A lazy value, and a function that sets how it is computed. That function is
    called before anybody forces the value. The argument is never called: it
    says what the type is. *)
