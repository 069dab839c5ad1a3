// The global that uses wallets. Each call goes to the node, which alone decides and holds the keys.
(native) => {
  const { stringify, parse } = JSON;
  const { Error: HostError, TypeError: WrongArgument } = globalThis;
  const waiting = new Map();
  let last = 0;

  const call = (name) => ({
    async [name](argument) {
      if (typeof argument !== "object" || argument === null) throw new WrongArgument(`${name} takes an object`);
      const text = stringify(argument);
      if (text === undefined || text[0] !== "{") throw new WrongArgument(`${name} takes an object`);
      if (text.length > native.argumentLength) throw new WrongArgument(`the argument of ${name} ${native.tooLong}`);
      const id = ++last;
      const failure = new HostError(""); // made here, so that its stack leads to the script's call
      return await new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject, failure });
        native.emit("CALL", `[${id},"${name}",${text}]`.toWellFormed());
      });
    },
  })[name];

  const actions = {};
  for (const name of ["getPrivateKey", "signMessage", "signDigest"]) actions[name] = call(name);
  native.define(native.title, Object.freeze({ Actions: Object.freeze(actions) }));

  return {
    // how many calls wait for an answer
    waiting: () => waiting.size,
    answer(text) {
      const { id, value, error } = parse(text);
      const { resolve, reject, failure } = waiting.get(id);
      waiting.delete(id);
      if (error === undefined) return resolve(value);
      failure.message = error;
      reject(failure);
    },
  };
}
