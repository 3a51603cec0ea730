(** Concord's plug-in for Eio. Link it, and nothing else: there is nothing to
    call.

    Without it Concord's operations work in Eio fibers too, through
    [Domain_local_await]. With it they are faster, and
    {!Concord.Suspend.protect} protects a fiber from cancellation. (For the
    linker to keep the library, its dune stanza asks for all of it; no [open] is
    needed.) *)

val name : string
(** ["eio"]: how the plug-in calls itself. *)
