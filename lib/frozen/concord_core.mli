(** What a library can build on to wait under every scheduler.

    {b Stability}: stable, and frozen. What the documentation of these modules
    shows will not be removed or changed in any version, except for
    {!Event.section-authors}, which is experimental, because it shows how events
    work inside. You don't need an upper bound in your opam file. Functions may
    be added.

    You write a library, for example a client of a database. Its tasks have to
    wait for each other, and you don't want to decide for your users whether a
    task is an Eio fiber, an [Lwt_direct] task or a thread. For example, this
    lookup is computed once, while others wait for it:

    {[
      # open Concord_core
      # let mutex = Mutex.create () and known = Hashtbl.create 10
      val mutex : Concord_core.Mutex.t = <abstr>
      val known : ('_weak1, '_weak2) Hashtbl.t = <abstr>
      # let lookup key compute =
          let find () =
            match Hashtbl.find_opt known key with
            | Some promise -> (promise, false)
            | None ->
                let promise = Promise.create () in
                Hashtbl.add known key promise;
                (promise, true)
          in
          let promise, is_new = Mutex.protect mutex find in
          if is_new then begin
            try Promise.fill promise (compute key)
            with e -> Promise.fail promise e
          end;
          Promise.await promise
      val lookup : '_weak1 -> ('_weak1 -> '_weak3) -> '_weak3 = <fun>
      # lookup 6 (fun n -> 7 * n)
      - : int = 42
    ]}

    These modules are the same as in [Concord], so a program using both can pass
    a [Concord.Mutex.t] to your library. Your library links no adapter. The
    program links one for each library it uses, such as [concord-eio]. In a
    program of threads and domains none is needed.
    {{!/concord-core/index}The package's page} says what it depends on. *)

module Event = Concord__Event
module Promise = Concord__Promise
module Mutex = Concord__Mutex
module Condition = Concord__Condition
module Semaphore = Concord__Semaphore
module Bvar = Concord__Bvar
