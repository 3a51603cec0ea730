(** What the library's exceptions are called when they are printed. The printer
    names the structure that raised the exception most recently in the calling
    thread, if it has a name, or was created while waits were kept. This module
    registers the printers when the program starts. *)
