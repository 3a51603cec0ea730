(** Tools for debugging, and for writing your own schedulers and structures.

    {b Stability}: {!Suspend} is stable. The others are experimental, because
    they show how the library works inside.

    Most programs don't need these modules every day. They are in a module of
    their own, so that [open Concord] doesn't hide your own [Debug] or [Trace].
    Write [Tools.Debug.report ()], or [open Concord.Tools] where you use them
    often. For example, this gives a mutex a name for the reports:

    {[
      # open Concord
      # let accounts = Tools.Debug.named "accounts" (Mutex.create ())
      val accounts : Concord.Mutex.t = <abstr>
    ]} *)

(** {1 Debugging} *)

module Debug = Debug
module Trace = Trace
module Metrics = Metrics

(** {1 For authors of schedulers and structures} *)

module Suspend = Concord__core__Suspend
module Host_kit = Concord__core__Host_kit
module Structure_kit = Concord__core__Structure_kit

(** {1 Other styles} *)

module Monadic = Monadic
