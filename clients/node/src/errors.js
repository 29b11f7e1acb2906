// What calls of the client throw; all of it is a `RespoolError`. index.d.ts says what each has.

export class RespoolError extends Error {
  constructor(message, members = {}) {
    super(message);
    this.name = this.constructor.name;
    // The ids of the jobs of `pushMany` that are pushed already.
    Object.assign(this, { pushed: [] }, members);
  }
}

/** A job was refused before it was pushed. */
export class InvalidJob extends RespoolError {
  /** @param {{pointer: string, message: string}[]} errors @param {string[]} pushed */
  constructor(errors, pushed = []) {
    super(errors.map(({ pointer, message }) => `${pointer}: ${message}`).join('; '), { errors, pushed });
  }
}

/** The service did not respond for as long as `reconnectTimeout` allows. */
export class Unreachable extends RespoolError {
  constructor(message, mayHavePushed = false, pushed = []) {
    super(message, { mayHavePushed, pushed });
  }
}

/** The token does not allow the call. */
export class AccessDenied extends RespoolError {}

/** The service refused a request for another reason. */
export class RequestFailed extends RespoolError {}

/** No job has the id. It may have been deleted. */
export class NoSuchJob extends RespoolError {}

/** A job cannot be cancelled: it has ended, or its result is being published. */
export class TooLate extends RespoolError {}

/** A job that was waited for has failed. */
export class JobFailed extends RespoolError {
  constructor(job) {
    const { code, message } = job.error;
    super(`job ${job.id} failed: ${code}: ${message}`, { job, code });
  }
}

/** A job that was waited for was cancelled. */
export class JobCancelled extends RespoolError {
  constructor(job) {
    super(`job ${job.id} was cancelled`, { job });
  }
}

/** The jobs did not end within the `timeout` of a wait; they go on. */
export class WaitTimeout extends RespoolError {}

/** The error of a response; `id` is the job that the request names. */
export function refusal(status, { code = '', detail = 'not a response of respool', errors }, id) {
  if (status === 401 || status === 403) return new AccessDenied(detail, { code, status });
  if (status === 404 && id && detail.startsWith('there is no job')) return new NoSuchJob(detail, { id });
  if (status === 409 && code === 'too_late') return new TooLate(detail, { id });
  if (status === 422 && code !== 'key_reused') return new InvalidJob(errors ?? [{ pointer: '', message: detail }]);
  return new RequestFailed(`status ${status}: ${detail}`, { code, status });
}
