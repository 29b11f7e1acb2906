// Pushes a job to respool and follows it to its end, with go-redis alone: go run respool.go SOURCE FORMAT [FIELD VALUE]…
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/redis/go-redis/v9"
)

var ctx, prefix, queue = context.Background(), "respool:{default}:", redis.NewClient(&redis.Options{Addr: "127.0.0.1:6379"})

// The job as it is now: its id, which is another one's if it is a duplicate, and its hash.
func read(id string) (string, map[string]string) {
	if first := queue.Get(ctx, prefix+"alias:"+id).Val(); first != "" {
		id = first
	}
	return id, queue.HGetAll(ctx, prefix+"job:"+id).Val()
}

func main() {
	values := append([]string{"source", os.Args[1], "format", os.Args[2]}, os.Args[3:]...)
	// The place in the stream first, then the job: so nothing that happens in between is missed.
	last, next := "0-0", 1
	for _, newest := range queue.XRevRangeN(ctx, prefix+"events", "+", "-", 1).Val() {
		last = newest.ID
		fmt.Sscan(fmt.Sprint(newest.Values["n"]), &next)
		next++
	}
	id, err := queue.XAdd(ctx, &redis.XAddArgs{Stream: prefix + "in", Values: values}).Result()
	if err != nil {
		log.Fatalln(err)
	}
	var job map[string]string
	for id, job = read(id); job["state"] != "completed"; {
		if job["state"] == "failed" || job["state"] == "cancelled" {
			log.Fatalln(job["state"], job["error_code"], job["error"])
		}
		streams, err := queue.XRead(ctx, &redis.XReadArgs{Streams: []string{prefix + "events", last}, Block: time.Second}).Result()
		if err != nil && err != redis.Nil {
			time.Sleep(time.Second) // `last` says where to go on
		}
		for _, event := range append(streams, redis.XStream{})[0].Messages {
			// A gap in the numbers: events are gone from the stream, so the job itself must tell.
			if event.Values["id"] == id || event.Values["n"] != fmt.Sprint(next) {
				id, job = read(id)
				fmt.Println(event.Values["state"], event.Values["phase"], event.Values["progress"])
			}
			last = event.ID
			fmt.Sscan(fmt.Sprint(event.Values["n"]), &next)
			next++
		}
	}
	fmt.Println("completed", queue.Get(ctx, prefix+"result:"+id).Val())
}
