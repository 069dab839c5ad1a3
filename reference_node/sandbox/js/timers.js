// setTimeout and setInterval. The node asks how long there is nothing to do, waits, and lets what is due run.
(native) => {
  const { now } = Date;
  const timers = new Map();
  const get = timers.get.bind(timers);
  let last = 0;

  const start = (callback, delay, every, values) => {
    if (typeof callback !== "function") throw new TypeError("a timer takes a function");
    const pause = Math.min(Math.max(Number(delay) || 0, every ? 1 : 0), 0x7fffffff);
    timers.set(++last, { callback, values, due: now() + pause, pause: every ? pause : undefined });
    return last;
  };
  const stop = (id) => void timers.delete(id);

  native.define("setTimeout", (callback, delay, ...values) => start(callback, delay, false, values));
  native.define("setInterval", (callback, delay, ...values) => start(callback, delay, true, values));
  native.define("clearTimeout", stop);
  native.define("clearInterval", stop);

  const nextId = () => {
    let id;
    for (const [other, timer] of timers) if (id === undefined || timer.due < get(id).due) id = other;
    return id;
  };

  return {
    // milliseconds until the next timer is due; -1: there is none
    delay() {
      const id = nextId();
      return id === undefined ? -1 : Math.max(0, get(id).due - now());
    },
    // run the timer that has been due the longest
    fire() {
      const id = nextId();
      const timer = get(id);
      if (timer.pause === undefined) timers.delete(id);
      else timer.due = now() + timer.pause;
      try {
        native.callScript(timer.callback, ...timer.values);
      } catch (error) {
        native.fail(error);
      }
    },
  };
}
