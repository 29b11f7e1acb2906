// Pushes a job to respool and follows it to its end, with redigo alone.
//
//	go run respool.go push SOURCE FORMAT [FIELD=VALUE…]    prints the job's id
//	go run respool.go watch ID                             ends with 1 if the job does not complete
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
)

var prefix = "respool:{" + setting("RESPOOL_QUEUE", "default") + "}:"

var pool = redis.Pool{MaxIdle: 1, Dial: func() (redis.Conn, error) {
	return redis.DialURL(setting("RESPOOL_REDIS_URL", "redis://127.0.0.1:6379"))
}}

func setting(name, usual string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return usual
}

// Runs a command, over a new connection if the last one broke.
func do(command string, words ...interface{}) (interface{}, error) {
	connection := pool.Get()
	defer connection.Close()
	return connection.Do(command, words...)
}

func push(source, format string, fields ...string) (string, error) {
	words := redis.Args{prefix + "in", "*", "source", source, "format", format}
	for _, field := range fields {
		pair := append(strings.SplitN(field, "=", 2), "")
		words = words.Add(pair[0], pair[1])
	}
	return redis.String(do("XADD", words...))
}

// Reads the job as it is now: its id, which is another one's if it is a duplicate, and its hash.
func read(id string, again bool) (string, map[string]string, error) {
	first, err := redis.String(do("GET", prefix+"alias:"+id))
	if err == nil {
		id = first
	} else if err != redis.ErrNil {
		return id, nil, err
	}
	job, err := redis.StringMap(do("HGETALL", prefix+"job:"+id))
	if err != nil || len(job) > 0 {
		return id, job, err
	}
	// Without a hash it is still in the inbox, or it was admitted just now, or there is none.
	queued, err := redis.Values(do("XRANGE", prefix+"in", id, id))
	if err != nil || len(queued) > 0 {
		return id, job, err
	}
	if again {
		return id, map[string]string{"state": "no such job"}, nil
	}
	return read(id, true)
}

// A place in the stream of events, and the number of the event there.
type place struct {
	id     string
	number int
}

// Calls the body with each of a stream's entries and its place; returns the last place.
func each(entries interface{}, last place, body func(place, map[string]string)) (place, error) {
	list, err := redis.Values(entries, nil)
	for _, entry := range list {
		parts, err := redis.Values(entry, nil)
		if err != nil {
			return last, err
		}
		event, err := redis.StringMap(parts[1], nil)
		if err != nil {
			return last, err
		}
		last.id, _ = redis.String(parts[0], nil)
		last.number, _ = strconv.Atoi(event["n"])
		body(last, event)
	}
	return last, err
}

// Waits for events after a place, unless something has changed already; returns the last place, and whether the job may have changed.
func follow(id string, last place, changed bool) (place, bool, error) {
	words := redis.Args{"COUNT", 100}
	if !changed {
		words = words.Add("BLOCK", 1000)
	}
	streams, err := redis.Values(do("XREAD", words.Add("STREAMS", prefix+"events", last.id)...))
	if err == redis.ErrNil {
		return last, changed, nil // nothing came
	} else if err != nil {
		return last, changed, err
	}
	stream, err := redis.Values(streams[0], nil)
	if err != nil {
		return last, changed, err
	}
	expected := last.number + 1
	last, err = each(stream[1], last, func(at place, event map[string]string) {
		// A gap in the numbers: events are gone from the stream, so the job itself must tell.
		changed = changed || event["id"] == id || at.number != expected
		expected = at.number + 1
		if event["id"] == id {
			fmt.Println(strings.Join(strings.Fields(event["state"]+" "+event["phase"]+" "+event["progress"]), " "))
		}
	})
	return last, changed, err
}

// Prints the outputs of a completed job.
func show(id string) error {
	text, err := redis.Bytes(do("GET", prefix+"result:"+id))
	if err != nil {
		return err
	}
	var outputs []struct {
		URL   string
		Bytes int64
	}
	if err := json.Unmarshal(text, &outputs); err != nil {
		return err
	}
	for _, output := range outputs {
		fmt.Println("completed", output.URL, output.Bytes, "bytes")
	}
	return nil
}

// Follows what happens until the job is over; `end` says how, if it did not complete.
func watch(id string) (end string, err error) {
	// The place in the stream first, then the job: so nothing that happens in between is missed.
	newest, err := do("XREVRANGE", prefix+"events", "+", "-", "COUNT", 1)
	if err != nil {
		return "", err
	}
	last, err := each(newest, place{id: "0-0"}, func(place, map[string]string) {})
	for changed := true; ; {
		var job map[string]string
		if err == nil {
			last, changed, err = follow(id, last, changed)
		}
		if err == nil && changed {
			id, job, err = read(id, false)
		}
		if err == nil && job["state"] == "completed" {
			if err = show(id); err == nil {
				return "", nil
			}
		}
		var refusal redis.Error
		if errors.As(err, &refusal) {
			return "", err
		} else if err != nil {
			err, changed = nil, true
			time.Sleep(time.Second) // `last` says where to go on
			continue
		}
		switch job["state"] {
		case "failed", "cancelled", "no such job":
			return strings.Join(strings.Fields(job["state"]+" "+job["error_code"]+" "+job["error"]), " "), nil
		}
		changed = false // only after a read that succeeded, for `last` has moved on
	}
}

func main() {
	log.SetFlags(0)
	switch words := os.Args[1:]; {
	case len(words) >= 3 && words[0] == "push":
		id, err := push(words[1], words[2], words[3:]...)
		if err != nil {
			log.Fatalln(err)
		}
		fmt.Println(id)
	case len(words) == 2 && words[0] == "watch":
		end, err := watch(words[1])
		if err != nil {
			log.Fatalln(err)
		} else if end != "" {
			log.Fatalln(end)
		}
	default:
		log.Fatalln("respool.go push SOURCE FORMAT [FIELD=VALUE…] | watch ID")
	}
}
