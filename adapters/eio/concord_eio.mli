(** Concord's plug-in for Eio. It works by being linked: there is nothing to
    call.

    Without it Concord's operations work in Eio fibers too, through
    [Domain_local_await]. With it they are faster, and
    {!Concord.Suspend.protect} protects a fiber from cancellation. (For the
    linker to keep the library, its dune stanza asks for all of it; no [open] is
    needed.) *)

val name : string
(** ["eio"]: the name of the plug-in. *)
