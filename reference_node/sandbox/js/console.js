// console, captured; and how values and errors read in logs.
(native) => {
  const { stringify } = JSON;
  const { String: text, Error: AnyError, Map: AnyMap, Set: AnySet } = globalThis;

  // What calls a script's functions. Whatever stands below it in a stack is none of the script's author's business.
  native.callScript = function callScript(callback, ...values) {
    return callback(...values);
  };

  // Lines of a stack are numbered through what stands in js/ and the script; a script never has so many.
  const isOwn = (frame) => (/<input>:(\d+):\d+\)?$/.exec(frame)?.[1] ?? 0) >= native.firstLine;

  native.describe = (error) => ({
    message: error.message === "" ? text(error.name) : `${error.name}: ${error.message}`,
    stack: text(error.stack ?? "")
      .split("\n    at callScript ")[0]
      .split("\n")
      .filter((frame) => !isOwn(frame))
      .join("\n")
      .trimEnd(),
  });

  const showError = (error) => {
    const { message, stack } = native.describe(error);
    return stack === "" ? message : `${message}\n${stack}`;
  };

  const plain = (_, value) => {
    if (typeof value === "bigint") return `${value}n`;
    if (value instanceof AnyError) return native.describe(value).message;
    if (value instanceof AnyMap || value instanceof AnySet) return [...value];
    return value;
  };

  native.show = (value) => {
    if (typeof value === "string") return value;
    if (typeof value === "function") return `[function ${value.name}]`;
    if (typeof value === "bigint") return `${value}n`;
    if (typeof value !== "object" || value === null) return text(value);
    try {
      return value instanceof AnyError ? showError(value) : (stringify(value, plain) ?? text(value));
    } catch {
      return "[a value that can't be shown]";
    }
  };

  // one character more than fits tells the node that something was cut
  let left = native.logLength;
  const log = (...values) => {
    if (left < 0) return;
    let line = "";
    for (let i = 0; i < values.length; i++) line += (i ? " " : "") + native.show(values[i]);
    line = line.slice(0, left + 1).toWellFormed();
    left -= line.length + 1;
    native.emit("LOG", stringify(line));
  };
  native.define("console", { log, info: log, warn: log, error: log, debug: log });
}
