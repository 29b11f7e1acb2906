import type { JobFields } from './fields.js';

export type { JobFields };

export interface ClientOptions {
  /** The queue; without it, the first one that the server serves. */
  queue?: string;
  /** The token, where the server wants one. */
  token?: string;
  /** For how many milliseconds a call tries to reach a service that does not respond; 30000 if not given. */
  reconnectTimeout?: number;
}

export interface CallOptions {
  /** Ends the call with the reason of the signal. */
  signal?: AbortSignal;
}

export interface PushOptions extends CallOptions {
  /** For 24 h, the same key with the same jobs gets the first response again. Without it, each call has its own. */
  idempotencyKey?: string;
}

export interface WaitOptions extends CallOptions {
  /** Milliseconds after which `WaitTimeout` is thrown. The jobs go on. */
  timeout?: number;
}

export type State = 'queued' | 'waiting' | 'delayed' | 'running' | 'completed' | 'failed' | 'cancelled';

/** Why the last attempt of a job failed. */
export interface JobError {
  code: string;
  message: string;
  retryable: boolean;
  /** All wrong fields, at most 16, if the job was refused for them; one of several outputs is shown as in `outputs[1].bit_rate`. */
  fields: { field: string; message: string }[] | null;
}

/** A job as it was when it was read; what does not apply to its state is `null`. docs/protocol.md explains the members. */
export interface Job {
  id: string;
  state: State;
  phase: string | null;
  /** The number of the last attempt, 0 before the first, and how many there are at most. */
  attempt: number;
  attempts: number;
  crashes: number;
  priority: string;
  group: string | null;
  source: string | null;
  format: string | null;
  worker: string | null;
  /** The fraction that is done. */
  progress: number | null;
  position: number | null;
  duration: number | null;
  speed: number | null;
  eta: number | null;
  estimated: boolean;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  due_at: string | null;
  error: JobError | null;
  /** A report for each output of a job that has completed, or of which some outputs were made. */
  outputs: Record<string, any>[];
}

/** A change of a job or of the queue; docs/protocol.md lists them. */
export interface Event {
  gap: false;
  /** Where it is in the stream: give it as `after` to continue behind it. */
  id: string;
  /** Counts up by one from event to event of the queue. */
  n: number;
  /** The job, or `null` if the change concerns the queue. */
  job: string | null;
  state: string;
  at: string;
  /** Further fields, such as `phase`, `progress` or `code`. */
  details: Record<string, string>;
}

/** Events before this were not seen: read what you show. It is the first change without `after`, and told when events were lost. */
export interface Gap {
  gap: true;
}

/** Pushes jobs to respool and follows them, over its HTTP API. */
export class Client {
  constructor(url: string | URL, options?: ClientOptions);
  /** Pushes a job and returns its id. A job that is not valid throws `InvalidJob`. */
  push(fields: JobFields, options?: PushOptions): Promise<string>;
  /** Pushes jobs and returns their ids, in the same order. */
  pushMany(jobs: Iterable<JobFields>, options?: PushOptions): Promise<string[]>;
  /** A job as it is now; the id of a duplicate gives the job that it stands for. */
  status(id: string, options?: CallOptions): Promise<Job>;
  /** Waits until a job has completed; throws `JobFailed` or `JobCancelled` if it ends otherwise. */
  wait(id: string, options?: WaitOptions): Promise<Job>;
  /** Yields each job when it has ended, also one that has failed; duplicates of one job give it once. */
  waitMany(ids: Iterable<string>, options?: WaitOptions): AsyncGenerator<Job, void, void>;
  /**
   * Yields each change of a job or of the queue: from now on, or after the event with an id. It does not end by itself.
   * A `Gap` comes first, unless `after` is given: jobs that are read then are at least as new as the changes that follow.
   */
  events(options?: CallOptions & { job?: string; after?: string }): AsyncGenerator<Event | Gap, void, void>;
  /** Cancels a job: `cancelled`, or `requested` if it is running. `TooLate` if it has ended, or is being published. */
  cancel(id: string, options?: CallOptions): Promise<'cancelled' | 'requested'>;
}

/** The base of all errors of this package. */
export class RespoolError extends Error {
  /** The ids of the jobs of `pushMany` that are pushed already. */
  pushed: string[];
}
export class InvalidJob extends RespoolError {
  /** What is wrong, each with a JSON pointer: `/bit_rate`, or `/jobs/2/bit_rate` of a list. */
  errors: { pointer: string; message: string }[];
}
export class Unreachable extends RespoolError {
  /** Whether jobs may have been pushed although their ids are unknown. */
  mayHavePushed: boolean;
}
export class AccessDenied extends RespoolError {
  code: string;
  status: number;
}
export class RequestFailed extends RespoolError {
  /** The code of the problem, such as `key_reused`. */
  code: string;
  status: number;
}
export class NoSuchJob extends RespoolError {
  id: string;
}
export class TooLate extends RespoolError {
  id: string;
}
export class JobFailed extends RespoolError {
  /** A code such as `source_not_found`; docs/errors.md lists them. */
  code: string;
  job: Job;
}
export class JobCancelled extends RespoolError {
  job: Job;
}
export class WaitTimeout extends RespoolError {}
