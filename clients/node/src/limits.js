// Milliseconds; tests make them shorter.
export const limits = {
  // Without a response for so long, a connection is lost.
  response: 20_000,
  // The same of an event stream, which has a comment every 15 s.
  silence: 40_000,
  // The longest wait of a timer of Node.js: one for longer would ring at once.
  timer: 2 ** 31 - 1,
};
