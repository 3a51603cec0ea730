(** Tools for debugging, and for writing your own schedulers and structures.

    {b Stability}: {!Suspend} is stable. The others are experimental, and may
    change in any release.

    Most programs don't need these modules every day. They are in a module of
    their own, so that [open Concord] doesn't hide your own [Debug] or [Trace].
    Write [Tools.Debug.report ()], or [open Concord.Tools] where you use them
    often. *)

(** {1 Debugging} *)

module Debug = Debug
(** Reports of the tasks that wait, and of their reasons. *)

module Trace = Trace
(** A trace of the tasks while they run. *)

(** {1 For authors of schedulers and structures} *)

module Suspend = Suspend
(** The effect that lets schedulers work together, and its contract. *)

module Host_kit = Host_kit
(** The parts of a scheduler, and plug-ins. *)

module Structure_kit = Structure_kit
(** The parts of a structure. *)

(** {1 Other styles} *)

module Monadic = Monadic
(** The structures for a library of promises. *)
