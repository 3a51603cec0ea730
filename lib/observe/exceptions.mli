(** The printers of the library's exceptions, which name the structure that
    raised them last in the calling thread ({!Labels.explain}). The structure
    has to have a name, or to be created while waits are kept. The printer of
    [Stdlib.Lazy.Undefined] does the same. This module exports nothing. *)
