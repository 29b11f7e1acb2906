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
def read(id, again: false)
  id = QUEUE.get("#{PREFIX}alias:#{id}") || id
  job = QUEUE.hgetall("#{PREFIX}job:#{id}")
  # Without a hash it is still in the inbox, or it was admitted just now, or there is none.
  return [id, job] unless job.empty? && QUEUE.xrange("#{PREFIX}in", id, id).empty?

  again ? [id, { 'state' => 'no such job' }] : read(id, again: true)
end

def watch(id)
  # The place in the stream first, then the job: so nothing that happens in between is missed.
  newest = QUEUE.xrevrange("#{PREFIX}events", '+', '-', count: 1).first
  last, number = newest ? [newest[0], newest[1]['n'].to_i] : ['0-0', 0]
  changed = true
  loop do
    streams = QUEUE.xread("#{PREFIX}events", last, count: 100, block: changed ? nil : 1000)
    streams.fetch("#{PREFIX}events", []).each do |entry, event|
      # A gap in the numbers: events are gone from the stream, so the job itself must tell.
      changed ||= event['id'] == id || event['n'].to_i != number + 1
      last, number = entry, event['n'].to_i
      puts event.values_at('state', 'phase', 'progress').compact.join(' ') if event['id'] == id
    end
    if changed
      id, job = read(id)
      case job['state']
      when 'completed'
        outputs = JSON.parse(QUEUE.get("#{PREFIX}result:#{id}") || '[]')
        return outputs.each { |output| puts "completed #{output['url']} #{output['bytes']} bytes" }
      when 'failed', 'cancelled', 'no such job'
        abort job.values_at('state', 'error_code', 'error').compact.join(' ')
      end
      changed = false # only after a read that succeeded, for `last` has moved on
    end
  rescue Redis::BaseConnectionError
    changed = true
    sleep 1 # `last` says where to go on
  end
end

$stdout.sync = true
verb, *words = ARGV
verb == 'push' ? puts(push(*words)) : watch(words.fetch(0))
