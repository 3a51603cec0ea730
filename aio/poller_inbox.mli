(** What other threads, and tasks of the loop's own, have for the loop that
    polls; and whether it sleeps. *)

type t

val create : unit -> t

(** {2 Messages} *)

type direction = Owner.direction = Read | Write

(** A waiter, and what it is resumed with. *)
type wait =
  | Wait : {
      waiter : ('x, 'a) Concord.Tools.Structure_kit.waiter;
      value : 'a;
      is_closing : unit -> bool;  (** Is it to be resumed anyway? *)
    }
      -> wait

val is_live : wait -> bool

(** See {!Poller}. *)
type message =
  | Add of {
      owner : Owner.t;
      direction : direction;
      wait : wait;
      mutable refers : bool;  (** Has it a reference to the owner? *)
    }
  | Gone of int
  | Forget of Owner.t
  | Rouse of Owner.t * direction
  | Wake

(** {2 For any thread} *)

val post : t -> message -> bool
(** [true] if the loop has announced that it sleeps: the caller wakes it. *)

type rest = Idle | Busy | Waiting  (** {!Poller.rest}. *)

val rest : t -> rest

(** {2 For the loop} *)

val is_quiet : t -> bool
(** The loop is awake, and there is no message. *)

val take : t -> message list
(** The loop is awake, and has these messages; latest first. It takes one step,
    however many other threads post meanwhile, and has no polling point. *)

val announce : t -> waiting:int -> bool
(** The loop is about to sleep, and so many wait for it. [false], and nothing
    has changed, if there is a message. *)
