#!/usr/bin/env ruby
# Pushes a job to respool and follows it to its end, with the gem redis alone.
#
#     respool.rb push SOURCE FORMAT [FIELD=VALUE…]    prints the job's id
#     respool.rb watch ID                             ends with 1 if the job does not complete
require 'json'
require 'redis'

PREFIX = "respool:{#{ENV.fetch('RESPOOL_QUEUE', 'default')}}:"
QUEUE = Redis.new(url: ENV.fetch('RESPOOL_REDIS_URL', 'redis://127.0.0.1:6379'))

def push(source, format, *fields)
  QUEUE.xadd("#{PREFIX}in", { 'source' => source, 'format' => format, **fields.to_h { |field| field.split('=', 2) } })
end

# The job as it is now: its id, which is another one's if it is a duplicate, and its hash.
def read(id)
  id = QUEUE.get("#{PREFIX}alias:#{id}") || id
  [id, QUEUE.hgetall("#{PREFIX}job:#{id}")]
end

def watch(id)
  # The place in the stream first, then the job: so nothing that happens in between is missed.
  newest = QUEUE.xrevrange("#{PREFIX}events", '+', '-', count: 1).first
  last, number = newest ? [newest[0], newest[1]['n'].to_i] : ['0-0', 0]
  id, job = read(id)
  loop do
    case job['state']
    when 'completed'
      outputs = JSON.parse(QUEUE.get("#{PREFIX}result:#{id}"))
      return outputs.each { |output| puts "completed #{output['url']} #{output['bytes']} bytes" }
    when 'failed', 'cancelled', 'purged'
      abort job.values_at('state', 'error_code', 'error').compact.join(' ')
    end
    begin
      streams = QUEUE.xread("#{PREFIX}events", last, count: 100, block: 1000)
      streams.fetch("#{PREFIX}events", []).each do |entry, event|
        is_next = event['n'].to_i == number + 1
        last, number = entry, event['n'].to_i
        puts event.values_at('state', 'phase', 'progress').compact.join(' ') if event['id'] == id
        # A gap in the numbers: events are gone from the stream, so the job itself must tell.
        next if event['id'] != id && is_next
        id, job = read(id)
        job = { 'state' => 'purged' } if job.empty? && event['state'] == 'purged'
      end
    rescue Redis::BaseConnectionError
      sleep 1 # `last` says where to go on
    end
  end
end

$stdout.sync = true
verb, *words = ARGV
verb == 'push' ? puts(push(*words)) : watch(words.fetch(0))
