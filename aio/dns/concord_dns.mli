(** A DNS resolver in direct style, for tasks of any library.

    {b Stability}: experimental, because few programs have used it.

    [Unix.getaddrinfo] blocks its thread, so a program needs as many threads as
    names it resolves at once. {!resolve} suspends the calling task only,
    whatever its host, and any number of tasks may wait. If the name is an
    address, or [/etc/hosts] has it, no server is asked:

    {[
      # let dns = Concord_dns.create ()
      val dns : Concord_dns.t = <abstr>
      # let addresses name =
          Concord_dns.resolve dns name
          |> Result.map (List.map Unix.string_of_inet_addr)
          |> Result.map_error Concord_dns.error_message
      val addresses : string -> (string list, string) result = <fun>
      # addresses "192.0.2.1"
      - : (string list, string) result = Ok ["192.0.2.1"]
      # addresses "two..dots"
      - : (string list, string) result = Error "not a valid host name"
    ]}

    {2 Cached answers}

    An answer is kept for its time to live, but not longer than a day. The
    answer "no such name or address" is kept too, for the time in its SOA
    record, but not longer than three hours. An error of a server, or a timeout,
    is not kept.

    Each family has its own answer. If there is no such name in one family,
    there is none in the other, because the answer is about the name (RFC 8020).
    Some servers give it wrongly for a name with addresses of the other family.
    If the other family has answered, the name exists.

    If {!resolve} has addresses of one family and couldn't get the other's, it
    doesn't wait for the other again for a second. Afterwards the next
    {!resolve} asks for it again.

    If several tasks ask for one name at the same time, they share one query. It
    runs in the first asking task. If this task is cancelled, the task that
    waited longest asks again. When all have been cancelled, the query is
    cancelled too.

    {2 How servers are asked}

    Servers are asked by UDP, and by TCP if the answer is truncated. If a try
    takes longer than its timeout, or the server gives no usable answer, the
    next server is asked. After the last server the first one is asked again,
    until each had its attempts. With [~race:true] all are asked at once in each
    attempt, and the first usable answer counts. These are not usable: an error,
    an unreadable message, and a referral to other servers.

    An answer must come from the server's address, with the question and the id
    of the query, which is random. Only an error may come without the question,
    because a server doesn't repeat a question it couldn't read. The system
    chooses the source port of each query, at random on Linux.

    If a server breaks a TCP connection, it may cause [SIGPIPE], which ends the
    program. Ignore the signal, as in any program with sockets.

    {2 Names that no server sees}

    - A name must have the characters of a host's name: letters, digits,
      hyphens, underscores, and dots between the labels. Its last label isn't a
      number. All other names are invalid, for example names with blanks, NUL or
      bytes outside ASCII, [[::1]] and [192.0.2.256]. The same holds for the
      target of an alias.
    - An address with a zone ([fe80::1%eth0]) is invalid too, because
      [Unix.sockaddr] has no place for the zone. Without its zone, the address
      means nothing.
    - [localhost], and each name ending with [.localhost], is 127.0.0.1 and ::1,
      unless [/etc/hosts] has other addresses for it (RFC 6761).
    - Names ending with [.invalid] (RFC 6761) or [.onion] (RFC 7686) don't
      exist.

    {2 Supported features}

    - From [/etc/resolv.conf] it uses [nameserver] (three at most), [search],
      [domain], and the options [ndots], [timeout] and [attempts]. It ignores
      [sortlist], the other options ([rotate], [edns0] and so on), an address
      with a zone, and the variables [LOCALDOMAIN] and [RES_OPTIONS].
    - [/etc/hosts] comes before the servers, whatever [/etc/nsswitch.conf] says,
      because the resolver doesn't read that file. Neither case nor a final dot
      matters there.
    - Both files are read once, by {!create}.
    - These are not supported: names outside ASCII (write [xn--...] instead),
      DNSSEC, multicast DNS, queries over TLS, larger datagrams (EDNS), and the
      sorting of addresses by RFC 6724. *)

type t
(** A resolver. Tasks of any hosts and domains may share it. *)

type error =
  | Invalid_name  (** The name can't be a host's name. *)
  | No_such_name
  | No_address  (** The name exists, but has no address of this family. *)
  | Timed_out  (** No server answered in time. *)
  | Failed of string
      (** No server gave a usable answer. The text says what the last one did.
      *)

val error_message : error -> string
(** [error_message e] is the error [e], in words. *)

val create :
  ?resolv_conf:string ->
  ?hosts:string ->
  ?servers:Unix.sockaddr list ->
  ?timeout:float ->
  ?attempts:int ->
  ?limit:float ->
  ?resolution_delay:float ->
  ?race:bool ->
  ?size:int ->
  ?now:(unit -> float) ->
  unit ->
  t
(** [create ()] is an empty resolver.

    - [resolv_conf] and [hosts] are names of files, by default
      [/etc/resolv.conf] and [/etc/hosts]. If a file doesn't exist, it counts as
      empty. If [resolv_conf] has no server, the server is 127.0.0.1.
    - [servers], [timeout] (seconds, for each try) and [attempts] (for each
      server) replace the values of [resolv_conf].
    - [limit] is the number of seconds a {!resolve} may take in all, by default
      30.
    - [resolution_delay] is the number of seconds {!resolve} waits for the
      second family, by default 0.05 (RFC 8305). If your network has only IPv6,
      ask for [`Ipv6], or set a longer delay. With [infinity], {!resolve} waits
      until the second family is found, or its query fails.
    - [race] is [false] by default.
    - [size] is the largest number of answers kept, by default 1000. If there
      are more, the first one to expire is dropped.
    - [now] is the clock by which answers expire, in seconds. It is
      [Unix.gettimeofday] by default. Timeouts are measured by
      {!Concord.Event.timeout}.

    - {b Suspends} while the files are read.
    - {b Cancelled}, it raises the host's exception.
    - {b Raises} [Sys_error] if a file exists but can't be read.
    - {b Raises} [Invalid_argument] if [servers] is empty, [timeout] or [limit]
      is not positive, [resolution_delay] is negative, or [attempts] or [size]
      is less than 1. *)

val resolve :
  ?family:[ `Any | `Ipv4 | `Ipv6 ] ->
  t ->
  string ->
  (Unix.inet_addr list, error) result
(** [resolve t name] returns all addresses of the host [name], at least one.

    {[
      # let connect_to host port =
          match Concord_dns.resolve dns host with
          | Error e -> failwith (host ^ ": " ^ Concord_dns.error_message e)
          | Ok addresses ->
              let address = Unix.ADDR_INET (List.hd addresses, port) in
              let fd = Unix.(socket ~cloexec:true (domain_of_sockaddr address) SOCK_STREAM 0) in
              match Concord_aio.connect fd address with
              | () -> fd
              | exception e -> Concord_aio.close fd; raise e
      val connect_to : string -> int -> Unix.file_descr = <fun>
    ]}

    With [`Any], the default, both families are asked for at once. The IPv4
    addresses come first, each family in the server's order. If only one family
    can be found, its addresses are the result.

    Once one family has addresses, or there is no such name, {!resolve} waits
    for the other family for [resolution_delay] at most. In this case, no other
    server is asked for the other family if its query fails. Some servers never
    answer for one family, or always answer with an error, and this shouldn't
    delay the addresses of the other one.

    A name ending with a dot is absolute. A name with fewer dots than [ndots] is
    first tried in each domain of [search]. A name with as many or more is first
    tried as it is. The search ends with the first name that has an address, or
    with an error of the servers. But if one family has no such name, an error
    for the other family doesn't end it.

    - {b Suspends} while servers are asked. It doesn't if the answer is known.
    - {b Cancelled}, it raises the host's exception. The query continues for
      other tasks, as described above.
    - {b Order}. Tasks waiting for one name are resumed in the order of their
      arrival.
    - {b Cost}: O(log n) for [n] kept answers. A query takes a socket and some
      ten system calls. *)

(**/**)

val in_progress : t -> int
(** The number of queries for which tasks wait. For tests. *)
