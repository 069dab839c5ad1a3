// structuredClone of what the engine has; buffers can't be transferred.
(native) => {
  const ERRORS = new Set(["Error", "EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError"]);
  const BOXES = [Boolean, Number, String, BigInt];
  const OPAQUE = [Promise, WeakMap, WeakSet, WeakRef, Symbol];

  const refuse = (what) => {
    throw new DOMException(`${what} can't be cloned`, "DataCloneError");
  };

  const members = (from, to, copy) => {
    for (const name of Object.keys(from)) {
      Object.defineProperty(to, name, { value: copy(from[name]), writable: true, enumerable: true, configurable: true });
    }
    return to;
  };

  const copyView = (view, copy) => {
    const length = view instanceof DataView ? view.byteLength : view.length;
    return new globalThis[Object.prototype.toString.call(view).slice(8, -1)](copy(view.buffer), view.byteOffset, length);
  };

  const copyError = (error, copy) => {
    const made = new globalThis[ERRORS.has(error.name) ? error.name : "Error"](`${error.message}`);
    const extra = { stack: `${error.stack}` };
    if (Object.hasOwn(error, "cause")) extra.cause = copy(error.cause);
    for (const [name, value] of Object.entries(extra)) {
      Object.defineProperty(made, name, { value, writable: true, configurable: true });
    }
    return made;
  };

  const structuredClone = (value, { transfer = [] } = {}) => {
    if (transfer.length) refuse("a buffer that is to be transferred");
    const seen = new Map();

    const copy = (from) => {
      if (typeof from === "symbol" || typeof from === "function") refuse(native.show(from));
      if (typeof from !== "object" || from === null) return from;
      if (!seen.has(from)) {
        const made = begin(from);
        seen.set(from, made);
        fill(from, made);
      }
      return seen.get(from);
    };

    const begin = (from) => {
      for (const box of BOXES) if (from instanceof box) return Object(box.prototype.valueOf.call(from));
      for (const kind of OPAQUE) if (from instanceof kind) refuse(`a ${kind.name}`);
      if (from instanceof Date) return new Date(from.getTime());
      if (from instanceof RegExp) return new RegExp(from.source, from.flags);
      if (from instanceof ArrayBuffer) return from.slice(0);
      if (from instanceof SharedArrayBuffer) refuse("a SharedArrayBuffer");
      if (ArrayBuffer.isView(from)) return copyView(from, copy);
      if (from instanceof Map) return new Map();
      if (from instanceof Set) return new Set();
      if (from instanceof Error) return copyError(from, copy);
      return Array.isArray(from) ? new Array(from.length) : {};
    };

    const fill = (from, made) => {
      if (made instanceof Map) for (const [name, member] of [...from]) made.set(copy(name), copy(member));
      else if (made instanceof Set) for (const member of [...from]) made.add(copy(member));
      else if (Array.isArray(made) || Object.getPrototypeOf(made) === Object.prototype) members(from, made, copy);
    };

    return copy(value);
  };
  native.define("structuredClone", structuredClone);
}
