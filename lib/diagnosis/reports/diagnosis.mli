(** This module installs the observer, in which the folders [observe] and
    [holding] answer the core ({!Observer.install}), and then does what
    [CONCORD_DEBUG] says.

    No module refers to it. It is part of each program because the library
    [concord.diagnosis] is linked with [-linkall], and [concord] needs this
    library. So a program obeys [CONCORD_DEBUG] even if it names nothing of the
    diagnosis. *)
