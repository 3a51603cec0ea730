(** Synchronisation between tasks of any concurrency library.

    [open Concord] and use the structures; nothing needs to be set up. *)

module Suspend = Suspend
(** The effect that makes schedulers compose, and its contract. *)

module Event = Event
(** Blocking operations as values. *)

module Promise = Promise
(** A value that will be there later: a promise, or IVar. *)

module Mvar = Mvar
(** A box for one value: an MVar. *)
