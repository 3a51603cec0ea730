// The server of the group web, which is net/http on one processor.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
)

func serveWeb() {
	runtime.GOMAXPROCS(1)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	http.HandleFunc("/hello", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "Hello, world\n")
	})
	fmt.Printf("go_rows: listening on http://%s\n", listener.Addr())
	panic(http.Serve(listener, nil))
}
