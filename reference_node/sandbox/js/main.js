// Calling main, and what becomes of its answer.
(native) => {
  const { parse, stringify } = JSON;
  const { eval: evaluate, Error: AnyError, InternalError } = globalThis;
  let settled = false;
  native.define("self", globalThis); // what libraries for browsers look for

  const settle = (kind, text) => {
    if (settled) return;
    settled = true;
    native.emit(kind, text);
  };

  const explain = (error, what) => {
    if (!(error instanceof AnyError)) return what + native.show(error);
    const { message, stack } = native.describe(error);
    return stack === "" ? what + message : `${what}${message}\n${stack}`; // whoever calls it cuts its end
  };

  native.fail = (error, what = "") => {
    const full = native.relieve(error === null); // with no memory left, no message could be made
    let text;
    try {
      const refused = error instanceof InternalError && error.message === "out of memory";
      text = full || refused ? native.outOfMemory : explain(error, what);
    } catch {
      text = "[an error that can't be shown]";
    }
    settle("ERROR", stringify(text.slice(0, native.errorLength).toWellFormed()));
  };

  const succeed = (value) => {
    let text;
    try {
      text = native.callScript(stringify, value) ?? "null";
    } catch (error) {
      return native.fail(error, "the response can't be written as JSON: ");
    }
    if (text.length > native.responseLength) settle("ERROR", stringify(native.responseTooLong));
    else settle("RESPONSE", text);
  };

  const answer = async (main, parameters) => await native.callScript(main, parameters);

  return {
    start(parameters) {
      const main = evaluate('typeof main === "function" ? main : undefined');
      if (main === undefined) settle("ERROR", stringify("the code defines no function main(params)"));
      else answer(main, parse(parameters)).then(succeed, (error) => native.fail(error));
    },
    settled: () => settled,
  };
}
