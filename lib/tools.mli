(** What most programs don't need every day: finding faults, and writing
    schedulers, structures and styles of your own.

    {b Stability}: {!Suspend} is stable. The others are experimental, and may
    change in any release.

    These modules stand under one name, so that [open Concord] doesn't hide a
    program's own [Debug] or [Trace]. Write [Tools.Debug.report ()], or
    [open Concord.Tools] where you use them often. *)

(** {1 Finding faults} *)

module Debug = Debug
(** Who waits for whom. *)

module Trace = Trace
(** What tasks do, told while they do it. *)

(** {1 For authors of schedulers and of structures} *)

module Suspend = Suspend
(** The effect that makes schedulers compose, and its contract. *)

module Host_kit = Host_kit
(** What schedulers are made of; plug-ins. *)

module Structure_kit = Structure_kit
(** What structures are made of. *)

(** {1 Other styles} *)

module Monadic = Monadic
(** The structures for a library of promises. *)
