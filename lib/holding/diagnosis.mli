(** This module installs the observer, in which the folders [observe] and
    [holding] answer the core ({!Observer.install}). It exports nothing. *)
