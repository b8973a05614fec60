package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// heldCalls are as many calls of 1 MB as the service holds at once by default.
const heldCalls = 8

// memoryPerRequest is the most memory that a planner takes beyond what it takes
// at rest while it has whole calls of 1 MB in flight, as a multiple of their
// bodies. The calls end together: each keeps its last byte back until all the
// others have come as far.
func memoryPerRequest() (float64, error) {
	planner, err := startServer("planner", plannerBinary)
	if err != nil {
		return 0, err
	}
	defer planner.stop()
	before, err := planner.peakMemory()
	if err != nil {
		return 0, err
	}
	body := bodyOf(1e6)
	held := make([]net.Conn, heldCalls)
	for i := range held {
		if held[i], err = net.Dial("tcp", strings.TrimPrefix(planner.url, "http://")); err != nil {
			return 0, err
		}
		defer func() { _ = held[i].Close() }()
		_, err := fmt.Fprintf(held[i], "POST /v1/plan HTTP/1.1\r\nHost: planner\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			len(body), body[:len(body)-1])
		if err != nil {
			return 0, err
		}
	}
	time.Sleep(time.Second) // what is in the sockets is read
	for _, c := range held {
		if _, err := c.Write(body[len(body)-1:]); err != nil {
			return 0, err
		}
	}
	for _, c := range held {
		if err := readAnswer(c); err != nil {
			return 0, err
		}
	}
	after, err := planner.peakMemory()
	return float64(after-before) / float64(heldCalls*len(body)), err
}

func readAnswer(c net.Conn) error {
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("a call of 1 MB was answered %s", response.Status)
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err
}
