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
func read(id string, again bool) (string, map[string]string, error) {
	first, err := queue.Get(ctx, prefix+"alias:"+id).Result()
	if err == nil {
		id = first
	} else if err != redis.Nil {
		return id, nil, err
	}
	job, err := queue.HGetAll(ctx, prefix+"job:"+id).Result()
	if err != nil || len(job) > 0 {
		return id, job, err
	}
	// Without a hash it is still in the inbox, or it was admitted just now, or there is none.
	queued, err := queue.XRange(ctx, prefix+"in", id, id).Result()
	if err != nil || len(queued) > 0 {
		return id, job, err
	}
	if again {
		return id, map[string]string{"state": "no such job"}, nil
	}
	return read(id, true)
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
	for changed := true; ; {
		block := time.Second
		if changed {
			block = -1 // not at all
		}
		streams, err := queue.XRead(ctx, &redis.XReadArgs{Streams: []string{prefix + "events", last}, Block: block}).Result()
		if err != nil && err != redis.Nil {
			changed = true
			time.Sleep(time.Second) // `last` says where to go on
			continue
		}
		for _, event := range append(streams, redis.XStream{})[0].Messages {
			// A gap in the numbers: events are gone from the stream, so the job itself must tell.
			changed = changed || event.Values["id"] == id || event.Values["n"] != fmt.Sprint(next)
			if event.Values["id"] == id {
				fmt.Println(event.Values["state"], event.Values["phase"], event.Values["progress"])
			}
			last = event.ID
			fmt.Sscan(fmt.Sprint(event.Values["n"]), &next)
			next++
		}
		if changed {
			now, job, err := read(id, false)
			var result string
			if err == nil && job["state"] == "completed" {
				result, err = queue.Get(ctx, prefix+"result:"+now).Result()
			}
			if err != nil {
				time.Sleep(time.Second)
				continue
			}
			switch id = now; job["state"] {
			case "completed":
				fmt.Println("completed", result)
				return
			case "failed", "cancelled", "no such job":
				log.Fatalln(job["state"], job["error_code"], job["error"])
			}
			changed = false // only after a read that succeeded, for `last` has moved on
		}
	}
}
