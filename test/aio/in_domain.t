For tasks outside of any loop, the poller is a thread of the main domain:

  $ CONCORD_AIO= ./in_domain.exe
  the main domain: resumed by the domain that waited
  can fork
  another domain: resumed by the main domain

It has its own domain if you ask for that:

  $ CONCORD_AIO=domain ./in_domain.exe
  the main domain: resumed by a domain of its own
  cannot fork
  another domain: resumed by a domain of its own
  $ CONCORD_AIO=poll,domain ./in_domain.exe
  the main domain: resumed by a domain of its own
  cannot fork
  another domain: resumed by a domain of its own

This also works in a child process:

  $ CONCORD_AIO=domain ./in_domain.exe child
  the main domain: resumed by a domain of its own
  cannot fork
  another domain: resumed by a domain of its own

A thread of the main domain is started before there is a second domain, because later it could
not be started. A domain is started by the first wait, and not before:

  $ CONCORD_AIO= ./in_domain.exe unused
  a poller
  $ CONCORD_AIO=domain ./in_domain.exe unused
  no poller
